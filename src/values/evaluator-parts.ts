import { expectation } from '../base/expect.ts';
import { expectOptions } from '../base/expect-options.ts';
import { provenanceOf } from '../base/provenance.ts';
import type { Evaluation } from '../contracts/evaluation.ts';
import type { EvaluateRequest, Evaluator } from '../contracts/evaluator.ts';
import type { Failed } from '../contracts/failure.ts';
import type { SearchNode } from '../contracts/node.ts';
import { type Asking, expectEvaluator } from './ask-evaluator.ts';
import { settle, type Waiting } from './settle.ts';

/** A named part of a composite evaluator. */
export interface NamedEvaluator<State, Action> {
  /** The name of its value in `parts`. */
  readonly name: string;
  /** The evaluator. */
  readonly evaluator: Evaluator<State, Action>;
}

/** The result of a part for a node. */
export interface Answer {
  /** The name of the part. */
  readonly name: string;
  /** The result. */
  readonly verdict: Evaluation | Failed;
}

/** The result of a part that did not fail. */
export interface Scored extends Answer {
  /** The result. */
  readonly verdict: Evaluation;
}

/** Whether a part could value a node. */
export function isScored(answer: Answer): answer is Scored {
  return !('failure' in answer.verdict);
}

/** The failure of a part that returned nothing for a node. */
export const nameless: Failed = {
  failure: { kind: 'invalid', message: 'Expected an evaluation, got none.' },
};

/** The failure of a node for which a part failed. */
export function failureOf({ name, verdict }: Answer): Failed | undefined {
  if (!('failure' in verdict)) return undefined;
  const { kind, message } = verdict.failure;
  return { failure: { kind, message: `${name}: ${message}` } };
}

/** A request to all parts: for values, or for the returns of simulations. */
export interface Round<State, Action> {
  /** Which of the two. */
  readonly method: Asking<State, Action>['method'];
  /** The nodes to ask about. */
  readonly nodes: readonly SearchNode<State, Action>[];
  /** The request that the composite evaluator received. */
  readonly request: EvaluateRequest<State, Action>;
}

/** An evaluator composed of parts. If a part has `simulate`, so does the composite. */
export function madeOf<State, Action>(
  parts: readonly NamedEvaluator<State, Action>[],
  answer: (round: Round<State, Action>) => Waiting<readonly (Evaluation | Failed)[]>,
): Evaluator<State, Action> {
  const ask =
    (method: 'evaluate' | 'simulate'): Evaluator<State, Action>['evaluate'] =>
    (nodes, request) =>
      settle(answer({ method, nodes, request }));
  const simulates = parts.some(({ evaluator }) => evaluator.simulate !== undefined);
  return {
    ...provenanceOf(...parts.map(({ evaluator }) => evaluator)),
    needs: needsOf(parts),
    evaluate: ask('evaluate'),
    ...(simulates && { simulate: ask('simulate') }),
  };
}

/** Throws unless the parts are evaluators with different names that need the same kind of nodes. */
export function expectParts<State, Action>(
  name: string,
  parts: readonly NamedEvaluator<State, Action>[],
  known = 'name evaluator',
): void {
  if (!Array.isArray(parts) || parts.length === 0) {
    throw expectation(name, 'one part or more', parts);
  }
  const names = new Set<unknown>();
  for (const [place, part] of parts.entries()) {
    if (typeof part !== 'object' || (part as unknown) === null) {
      throw expectation(`${name}[${place}]`, 'a name and an evaluator', part);
    }
    expectOptions(`${name}[${place}]`, part, known);
    expectEvaluator(`${name}[${place}].evaluator`, part.evaluator);
    if (typeof part.name !== 'string' || part.name === '' || names.has(part.name)) {
      throw expectation(`${name}[${place}].name`, 'a text that no other part has', part.name);
    }
    names.add(part.name);
  }
  needsOf(parts);
}

/** The kind of nodes that all parts need. */
function needsOf<State, Action>(
  parts: readonly NamedEvaluator<State, Action>[],
): Evaluator<State, Action>['needs'] {
  const [first] = parts;
  const needs = first?.evaluator.needs ?? 'realised';
  const other = parts.find(({ evaluator }) => evaluator.needs !== needs);
  if (other === undefined) return needs;
  throw expectation(
    `needs of ${other.name}`,
    `'${needs}' as that of ${first?.name ?? ''}`,
    other.evaluator.needs,
  );
}

/** The details that an evaluation keeps of its parts: values, reasons, and the numbers of unreadable answers. */
export function joined(answers: readonly Answer[]): Omit<Evaluation, 'value'> {
  const scored = answers.filter(isScored);
  const reasons = answers.flatMap(({ name, verdict }) => {
    if ('failure' in verdict) return [`${name} failed: ${verdict.failure.message}`];
    return verdict.rationale === undefined ? [] : [`${name}: ${verdict.rationale}`];
  });
  const unscored = scored.reduce((sum, { verdict }) => sum + (verdict.unscored ?? 0), 0);
  return {
    parts: Object.fromEntries(scored.flatMap(valuesOf)),
    ...(reasons.length > 0 && { rationale: reasons.join('\n') }),
    ...(unscored > 0 && { unscored }),
  };
}

/** The value of a part and those of its own parts, by name. */
function valuesOf({ name, verdict: { value, parts = {} } }: Scored): readonly [string, number][] {
  const inner = Object.entries(parts).map(([part, worth]): [string, number] => [
    `${name}/${part}`,
    worth,
  ]);
  return [[name, value], ...inner];
}
