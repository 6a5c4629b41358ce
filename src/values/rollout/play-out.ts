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

/** The settings of a rollout. */
export interface Play<State, Action> {
  /** The dynamics. */
  readonly environment: Environment<State, Action>;
  /** Proposes the actions, one at a time. */
  readonly policy: Policy<State, Action>;
  /** Values the state at which a rollout is cut off. */
  readonly evaluator: Evaluator<State, Action> | undefined;
  /** The longest rollout, in actions. */
  readonly maxDepth: number;
  /** γ. */
  readonly discount: number;
  /** The return of a rollout: the return at its end, or the best over its states. */
  readonly worth: 'best' | 'end';
}

/** One of several rollouts from the same node. */
export interface PlayRequest extends Omit<EvaluateRequest, 'environment'> {
  /** Its index: equal requests to a model with equal offsets would be made once. */
  readonly offset: number;
  /** The earlier value of the start, if there is one. */
  readonly value: number | undefined;
}

/** Plays from a node. Returns the return of the rollout, or why it failed. */
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
  // With `best`, a rollout without states is worth the value of its start, which is not requested twice.
  return best ?? request.value ?? (yield* worthOf(play, first, request));
}

function better(best: number | undefined, value: number | Failed): number | undefined {
  return typeof value === 'number' ? Math.max(best ?? 0, value) : best;
}

/** The progress of a rollout. */
interface Place<State, Action> {
  readonly node: NodeWithState<State, Action>;
  /** The rewards so far, discounted. */
  readonly total: number;
  /** The discount of the next reward. */
  readonly weight: number;
}

/** The next place; `undefined` if the policy proposes nothing. */
function* goOn<State, Action>(
  play: Play<State, Action>,
  { node, total, weight }: Place<State, Action>,
  request: PlayRequest,
): Waiting<Place<State, Action> | Failed | undefined> {
  // The state is not in the tree: without this, effects would act on the state where the rollout began.
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

/** The rewards up to a place plus the value of its state; a rewarded end needs no value. */
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
