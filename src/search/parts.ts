import { EspalierError } from '../base/errors.ts';
import {
  callHint,
  expectArray,
  expectation,
  expectMethods,
  expectOneOf,
  expectText,
  isRefusalOf,
} from '../base/expect.ts';
import { expectNoOracle } from '../base/expect-no-oracle.ts';
import { failedBy } from '../base/failure.ts';
import { asNative } from '../base/is-thenable.ts';
import type { Evaluation } from '../contracts/evaluation.ts';
import type { Evaluator, EvaluatorLike } from '../contracts/evaluator.ts';
import type { Failed } from '../contracts/failure.ts';
import type { MaybePromise } from '../contracts/json.ts';
import type { NodeWithState } from '../contracts/node.ts';
import type { Policy, PolicyLike } from '../contracts/policy.ts';
import type { ConservationLaw, SearchAlgorithm } from './contracts.ts';

const laws: readonly ConservationLaw[] = ['visits', 'values', 'simulations'];

/** Throws unless `value` is an algorithm. For callers without types. */
export function expectAlgorithm(name: string, value: SearchAlgorithm<never, never>): void {
  expectMethods(name, value, ['run']);
  expectText(`${name}.name`, value.name);
  expectArray(`${name}.laws`, value.laws);
  for (const [place, law] of value.laws.entries()) expectOneOf(`${name}.laws[${place}]`, law, laws);
  const { concurrency } = value;
  if (concurrency === 'any' || typeof Object(concurrency).serial === 'string') return;
  throw expectation(`${name}.concurrency`, "'any' or { serial: 'the reason' }", concurrency);
}

/** A policy as an object. */
export function policyOf<State, Action>(
  policy: PolicyLike<State, Action> | undefined,
): Policy<State, Action> {
  if (typeof policy === 'function') {
    // A node that is expanded always has a state.
    const ask: Policy<State, Action>['propose'] = (node, request) =>
      called('policy', node, () => policy(node as NodeWithState<State, Action>, request));
    return { propose: ask };
  }
  expectMethods('policy', policy, ['propose']);
  return policy as Policy<State, Action>;
}

/** An evaluator as an object. */
export function evaluatorOf<State, Action>(
  evaluator: EvaluatorLike<State, Action> | undefined,
): Evaluator<State, Action> | undefined {
  if (evaluator === undefined) return undefined;
  if (typeof evaluator === 'function') return fromFunction(evaluator);
  expectNoOracle('evaluator', 'evaluate', evaluator);
  expectMethods('evaluator', evaluator, ['evaluate']);
  expectOneOf('evaluator.needs', evaluator.needs, ['proposed', 'realised']);
  return evaluator;
}

/**
 * Calls a function given as a part. For callers without types: a function that creates a part is not itself a part.
 *
 * @throws EspalierError `usage` if it returns a part, or rejects the node as its argument.
 */
function called<Result>(option: 'evaluator' | 'policy', node: unknown, ask: () => Result): Result {
  let result: Result;
  try {
    result = ask();
  } catch (error) {
    throw isRefusalOf(node, error) ? notCalled(option) : error;
  }
  const method = option === 'policy' ? 'propose' : 'evaluate';
  if (typeof result === 'object' && result !== null && method in result) throw notCalled(option);
  return result;
}

function notCalled(option: 'evaluator' | 'policy'): EspalierError {
  const part = option === 'policy' ? 'a policy' : 'an evaluator';
  const message = `Expected \`${option}\` to be ${part}, got a function that makes one. ${callHint(option)}`;
  return new EspalierError('usage', message);
}

type Estimate<State, Action> = Extract<
  EvaluatorLike<State, Action>,
  (...given: never) => MaybePromise<number>
>;

/** An evaluator from a function. A node for which the function throws fails alone. */
function fromFunction<State, Action>(estimate: Estimate<State, Action>): Evaluator<State, Action> {
  return {
    needs: 'realised',
    evaluate(nodes, request) {
      const failed = (error: unknown): Failed => failedBy(error, 'call', request.context);
      const answers = nodes.map((node): MaybePromise<Evaluation | Failed> => {
        try {
          const ask = () => estimate(node as NodeWithState<State, Action>, request);
          const value = asNative(called('evaluator', node, ask));
          if (!(value instanceof Promise)) return { value };
          return value.then((settled) => ({ value: settled }), failed);
        } catch (error) {
          return failed(error);
        }
      });
      return answers.some((answer) => answer instanceof Promise)
        ? Promise.all(answers.map(async (answer) => answer))
        : (answers as (Evaluation | Failed)[]);
    },
  };
}
