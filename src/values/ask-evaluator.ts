import { describeValue, expectMethods, expectOneOf } from '../base/expect.ts';
import { expectNoOracle } from '../base/expect-no-oracle.ts';
import { failedBy } from '../base/failure.ts';
import { contextWith } from '../calls/door.ts';
import type { Evaluation } from '../contracts/evaluation.ts';
import type { EvaluateRequest, Evaluator } from '../contracts/evaluator.ts';
import type { Failed } from '../contracts/failure.ts';
import type { SearchNode } from '../contracts/node.ts';
import { type Waiting, wait } from './settle.ts';
import { valueInRange } from './value-in-range.ts';

/** Throws unless this is an evaluator, with a separate message for an oracle. */
export function expectEvaluator(name: string, value: unknown): void {
  expectNoOracle(name, 'evaluate', value);
  expectMethods(name, value, ['evaluate']);
  const { needs } = value as Evaluator<unknown, unknown>;
  expectOneOf(`${name}.needs`, needs, ['proposed', 'realised']);
}

/** A request to an evaluator. */
export interface Asking<State, Action> {
  /** The name of the part, from which its random numbers are derived. */
  readonly name: string;
  /** The evaluator to ask. */
  readonly evaluator: Evaluator<State, Action>;
  /**
   * `evaluate` for the value, `simulate` for the return of a simulation. Without a `simulate` method, the return is the
   * value.
   */
  readonly method: 'evaluate' | 'simulate';
  /** The nodes to ask about. */
  readonly nodes: readonly SearchNode<State, Action>[];
}

/**
 * The answers of an evaluator that is part of another one, one per node. If it breaks its contract or throws an error
 * that does not end the search, its nodes fail.
 */
export function* askEvaluator<State, Action>(
  { name, evaluator, method, nodes }: Asking<State, Action>,
  whole: EvaluateRequest<State, Action>,
): Waiting<readonly (Evaluation | Failed)[]> {
  if (nodes.length === 0) return [];
  const request = requestOf(name, whole);
  try {
    const simulates = method === 'simulate' && evaluator.simulate !== undefined;
    const answers = simulates
      ? evaluator.simulate?.(nodes, request)
      : evaluator.evaluate(nodes, request);
    const verdicts: unknown = yield* wait(answers);
    if (Array.isArray(verdicts) && verdicts.length === nodes.length) return verdicts.map(checked);
    const got = Array.isArray(verdicts) ? `${verdicts.length}` : describeValue(verdicts);
    const message = `Expected ${nodes.length} evaluations, got ${got}.`;
    return nodes.map((): Failed => ({ failure: { kind: 'invalid', message } }));
  } catch (error) {
    const failed = failedBy(error, 'call', whole.context);
    return nodes.map(() => failed);
  }
}

/** If concurrent parts drew from one source, their numbers would depend on which draws first. */
function requestOf<State, Action>(
  name: string,
  whole: EvaluateRequest<State, Action>,
): EvaluateRequest<State, Action> {
  const { context, environment } = whole;
  return {
    environment,
    context: contextWith(context, { random: context.random.split('part', name) }),
    get remaining() {
      return whole.remaining;
    },
  };
}

function checked(verdict: unknown): Evaluation | Failed {
  if (isFailed(verdict)) return verdict;
  const evaluation = (
    typeof verdict === 'object' && verdict !== null ? verdict : { value: verdict }
  ) as Evaluation;
  const sound = valueInRange('`value`', evaluation.value);
  return 'failure' in sound ? sound : { ...evaluation, ...sound };
}

function isFailed(verdict: unknown): verdict is Failed {
  return typeof verdict === 'object' && verdict !== null && 'failure' in verdict;
}
