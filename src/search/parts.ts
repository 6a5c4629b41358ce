import { expectMethods, expectOneOf } from '../base/expect.ts';
import { expectNoOracle } from '../base/expect-no-oracle.ts';
import { failedBy } from '../base/failure.ts';
import type { Evaluation } from '../contracts/evaluation.ts';
import type { Evaluator, EvaluatorLike } from '../contracts/evaluator.ts';
import type { Failed } from '../contracts/failure.ts';
import type { MaybePromise } from '../contracts/json.ts';
import type { NodeWithState } from '../contracts/node.ts';
import type { Policy, PolicyLike } from '../contracts/policy.ts';

/** A policy as an object. */
export function policyOf<State, Action>(
  policy: PolicyLike<State, Action> | undefined,
): Policy<State, Action> {
  // A node that is expanded has a state.
  if (typeof policy === 'function') return { propose: policy };
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

type Estimate<State, Action> = Extract<
  EvaluatorLike<State, Action>,
  (...given: never) => MaybePromise<number>
>;

/** A node for which the function throws fails alone. */
function fromFunction<State, Action>(estimate: Estimate<State, Action>): Evaluator<State, Action> {
  return {
    needs: 'realised',
    evaluate(nodes, request) {
      const failed = (error: unknown): Failed => failedBy(error, 'call', request.context);
      const answers = nodes.map((node): MaybePromise<Evaluation | Failed> => {
        try {
          const value = estimate(node as NodeWithState<State, Action>, request);
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
