import { failedBy } from '../../base/failure.ts';
import { actingOn, stateAddress } from '../../calls/acting-on.ts';
import type { CallContext } from '../../contracts/context.ts';
import type { Environment } from '../../contracts/environment.ts';
import type { EvaluateRequest, Evaluator } from '../../contracts/evaluator.ts';
import type { Failed } from '../../contracts/failure.ts';
import type { NodeWithState } from '../../contracts/node.ts';
import type { Policy, Proposal, ValidProposal } from '../../contracts/policy.ts';
import { type Waiting, wait } from '../settle.ts';
import { detachedChild } from './detached-node.ts';

/** How a state is played on from. */
export interface Play<State, Action> {
  /** The dynamics. */
  readonly environment: Environment<State, Action>;
  /** Chooses the actions, one at a time. */
  readonly policy: Policy<State, Action>;
  /** Values the state in which a play is broken off. */
  readonly evaluator: Evaluator<State, Action> | undefined;
  /** The longest play, in actions. */
  readonly maxDepth: number;
  /** γ. */
  readonly discount: number;
  /** What a play is worth: its return to the end, or the best that any state on its way was worth. */
  readonly worth: 'best' | 'end';
}

/** One of several plays from the same node. */
export interface PlayRequest extends Omit<EvaluateRequest, 'environment'> {
  /** Which one this is: equal requests to a model with equal offsets would be one call. */
  readonly offset: number;
  /** What the start was valued at before, where it was. */
  readonly value: number | undefined;
}

/** Plays on from a node; what the play is worth, or why it came to nothing. */
export function* playOut<State, Action>(
  play: Play<State, Action>,
  start: NodeWithState<State, Action>,
  request: PlayRequest,
): Waiting<number | Failed> {
  const isForBest = play.worth === 'best';
  const first: Place<State, Action> = { node: start, total: 0, weight: 1 };
  let place = first;
  let best: number | undefined;
  for (let depth = 0; depth < play.maxDepth && !place.node.terminal; depth++) {
    const next = yield* goOn(play, place, request);
    if (next === undefined) break;
    if ('failure' in next) {
      if (isForBest) break;
      return next;
    }
    place = next;
    if (isForBest) best = better(best, yield* worthOf(play, place, request));
  }
  if (!isForBest) return yield* worthOf(play, place, request);
  // A play for the best that met no state is worth what its start is, which nobody is asked twice.
  return best ?? request.value ?? (yield* worthOf(play, first, request));
}

function better(best: number | undefined, value: number | Failed): number | undefined {
  return typeof value === 'number' ? Math.max(best ?? 0, value) : best;
}

/** How far a play has come. */
interface Place<State, Action> {
  readonly node: NodeWithState<State, Action>;
  /** The rewards so far, discounted. */
  readonly total: number;
  /** What a further reward counts. */
  readonly weight: number;
}

/** The next place; `undefined` where the policy has no proposal. */
function* goOn<State, Action>(
  play: Play<State, Action>,
  { node, total, weight }: Place<State, Action>,
  request: PlayRequest,
): Waiting<Place<State, Action> | Failed | undefined> {
  // The tree knows nothing of this state: effects would act on the one where the play began.
  const context = actingOn(request.context, () => stateAddress(node, play.environment));
  const proposal = yield* choose(play, node, { context, request });
  if (proposal === undefined) return undefined;
  if ('failure' in proposal) return proposal;
  const next = yield* take(play, node, { proposal, context });
  if (!('id' in next)) return next;
  return {
    node: next,
    total: total + weight * (next.reward ?? 0),
    weight: weight * play.discount,
  };
}

/** The rewards up to a place and the value of its state; a rewarded end has said all. */
function* worthOf<State, Action>(
  play: Play<State, Action>,
  { node, total, weight }: Place<State, Action>,
  request: PlayRequest,
): Waiting<number | Failed> {
  if (node.terminal && node.reward !== undefined) return total;
  const value = yield* valueOfEnd(play, node, request);
  return typeof value === 'number' ? total + weight * value : value;
}

function* choose<State, Action>(
  { environment, policy }: Play<State, Action>,
  node: NodeWithState<State, Action>,
  { context, request }: { readonly context: CallContext; readonly request: PlayRequest },
): Waiting<Proposal<Action> | undefined> {
  const { offset, remaining } = request;
  try {
    const asked = { environment, context, count: 1, offset, remaining };
    const [first] = yield* wait(policy.propose(node, asked));
    return first;
  } catch (error) {
    return failedBy(error, 'call', context);
  }
}

function* take<State, Action>(
  { environment }: Play<State, Action>,
  node: NodeWithState<State, Action>,
  {
    proposal,
    context,
  }: { readonly proposal: ValidProposal<Action>; readonly context: CallContext },
): Waiting<NodeWithState<State, Action> | Failed> {
  const { action, completion } = proposal;
  try {
    const stepping = { ...context, completion };
    const transition = yield* wait(environment.step(node.state, action, stepping));
    return detachedChild(node, { action, completion, transition });
  } catch (error) {
    return failedBy(error, 'environment', context);
  }
}

function* valueOfEnd<State, Action>(
  { environment, evaluator }: Play<State, Action>,
  node: NodeWithState<State, Action>,
  { context, remaining }: PlayRequest,
): Waiting<number | Failed> {
  if (evaluator === undefined) return 0;
  try {
    const asked = { environment, context, remaining };
    const [evaluation] = yield* wait(evaluator.evaluate([node], asked));
    if (evaluation !== undefined) return 'failure' in evaluation ? evaluation : evaluation.value;
    return {
      failure: {
        kind: 'invalid',
        message: 'Expected `evaluator` to return one evaluation, got none.',
      },
    };
  } catch (error) {
    return failedBy(error, 'call', context);
  }
}
