import { contextWith } from '../../calls/door.ts';
import type { Spend } from '../../contracts/spend.ts';
import type { SearchContext, SimulateOptions } from '../contracts.ts';
import { runRound } from '../round.ts';

/** Bounds for an algorithm inside another one. */
export interface Bounds extends Omit<SimulateOptions, 'limit'> {
  /** The number of simulations left. @defaultValue no further bound */
  readonly limit?: () => number;
  /** Asked before each simulation: the unit of which too little is left for it. @defaultValue none */
  readonly lacks?: () => keyof Spend | undefined;
  /** Asked before each simulation: whether its round is over. @defaultValue never */
  readonly isOver?: () => boolean;
}

/**
 * The context of an algorithm inside another one: its rounds of simulations are bounded; everything else passes
 * through.
 */
export function within<State, Action>(
  context: SearchContext<State, Action>,
  {
    limit = () => Number.POSITIVE_INFINITY,
    exhausts,
    stragglers,
    lacks = () => undefined,
    isOver = () => false,
  }: Bounds,
): SearchContext<State, Action> {
  const bounded: SearchContext<State, Action> = {
    ...contextWith(context, {}),
    environment: context.environment,
    get signal() {
      return context.signal;
    },
    get stopped() {
      return context.stopped;
    },
    get remaining() {
      const { remaining } = context;
      return { ...remaining, simulations: Math.min(limit(), remaining.simulations) };
    },
    simulate: (run, options = {}) =>
      context.simulate(
        (simulation) => {
          if (isOver()) return Promise.resolve('exhausted');
          const reserved = lacks();
          return reserved === undefined ? run(simulation) : Promise.resolve({ reserved });
        },
        {
          ...options,
          limit: Math.max(0, Math.min(limit(), options.limit ?? Number.POSITIVE_INFINITY)),
          exhausts: exhausts ?? options.exhausts ?? 'search',
          stragglers: stragglers ?? options.stragglers ?? 'wait',
        },
      ),
    round: (name, nodes, run) => runRound(bounded, { name, nodes, run }),
    expand: (node, options) => context.expand(node, options),
    isExpanding: (node) => context.isExpanding(node),
    graft: (node, proposals) => context.graft(node, proposals),
    realise: (nodes) => context.realise(nodes),
    evaluate: (nodes, options) => context.evaluate(nodes, options),
    outcome: (node) => context.outcome(node),
    key: (node) => context.key(node),
    conclude: (conclusion) => context.conclude(conclusion),
    advance: (node) => context.advance(node),
    search: (environment, options) => context.search(environment, options),
  };
  return bounded;
}
