import { expectation, expectInteger, expectNumber } from '../../base/expect.ts';
import { expectOptions } from '../../base/expect-options.ts';
import { provenanceOf } from '../../base/provenance.ts';
import type { Evaluation } from '../../contracts/evaluation.ts';
import type { EvaluateRequest, Evaluator } from '../../contracts/evaluator.ts';
import type { Failed } from '../../contracts/failure.ts';
import type { SearchNode } from '../../contracts/node.ts';
import { askEvaluator, expectEvaluator } from '../ask-evaluator.ts';
import { joined, nameless } from '../evaluator-parts.ts';
import { settle, settleAll, type Waiting, wait } from '../settle.ts';
import { valueInRange } from '../value-in-range.ts';

/** Options of {@link progress}. */
export interface ProgressOptions<State, Action> {
  /** Q(s, a): the probability of success after a step, such as a process reward model or rollouts. */
  readonly value: Evaluator<State, Action>;
  /**
   * V^μ(s): the success probability of another policy, the prover. @defaultValue the policy itself, at its best of
   * `bestOf`
   */
  readonly prover?: Evaluator<NoInfer<State>, NoInfer<Action>>;
  /**
   * K: the prover tries K times, `V^μ = 1 − (1 − Q)^K`. An integer from 1 up; with 1, progress is the policy's own. Not
   * with a `prover`.
   *
   * @defaultValue 4
   */
  readonly bestOf?: number;
  /**
   * α ≥ 0: the weight of progress relative to the value. The paper takes 0.5 for models of 2 and 9 billion parameters
   * and 0.2 for 27; 0.2 to 0.6 do nearly as well.
   *
   * @defaultValue 0.5
   */
  readonly alpha?: number;
  /**
   * V^μ of the root, in [0, 1], if the evaluator cannot value it: a process reward model has no step to score.
   *
   * @defaultValue the evaluator's value
   */
  readonly start?: number;
}

/**
 * Values steps by where they lead and how much they help: `Q(s, a) + α · (V^μ(s′) − V^μ(s))`, the score of process
 * advantage verifiers, s′ being the state after the step and s the one before. It is in [−α, 1 + α] and is mapped
 * to [0, 1]; `raw` keeps it. The root, before any step, has made no progress.
 *
 * The state before is the parent's: it is valued in the same batch if it was not valued before. The parts are
 * `value`, `before` and `after`. Returns of simulations given by `value` are unchanged.
 *
 * @see Setlur et al., "Rewarding Progress: Scaling Automated Process Verifiers for LLM Reasoning", 2024,
 * on effective rewards and best-of-K provers.
 * @throws EspalierError `usage` if an option is out of range, or `bestOf` is given with a `prover`.
 */
export function progress<State, Action>(
  options: ProgressOptions<State, Action>,
): Evaluator<State, Action> {
  expectOptions('progress', options, 'value prover bestOf alpha start');
  const { value, prover, bestOf = prover === undefined ? 4 : 1, alpha = 0.5, start } = options;
  expectEvaluator('value', value);
  if (prover !== undefined) expectProver(options);
  expectInteger('bestOf', bestOf, { min: 1 });
  expectNumber('alpha', alpha, { min: 0 });
  if (start !== undefined) expectNumber('start', start, { min: 0, max: 1 });

  // Values of nodes, kept because their children will need them.
  const known = new WeakMap<SearchNode<State, Action>, Evaluation>();
  const measure = { value, prover, bestOf, alpha, start, known };
  const { simulate } = value;
  return {
    ...provenanceOf(value, prover),
    needs: value.needs,
    evaluate: (nodes, request) => settle(evaluateAll(measure, nodes, request)),
    ...(simulate !== undefined && {
      simulate: (nodes, request) => simulate.call(value, nodes, request),
    }),
  };
}

function expectProver<State, Action>({
  value,
  prover,
  bestOf,
}: ProgressOptions<State, Action>): void {
  expectEvaluator('prover', prover);
  if (prover !== undefined && prover.needs !== value.needs) {
    throw expectation('prover.needs', `'${value.needs}' as that of \`value\``, prover.needs);
  }
  if (bestOf !== undefined) throw expectation('bestOf', 'left out beside a prover', bestOf);
}

interface Measure<State, Action> {
  readonly value: Evaluator<State, Action>;
  readonly prover: Evaluator<State, Action> | undefined;
  readonly bestOf: number;
  readonly alpha: number;
  readonly start: number | undefined;
  /** The success probabilities of the prover, or the values that they are computed from. */
  readonly known: WeakMap<SearchNode<State, Action>, Evaluation>;
}

type Verdict = Evaluation | Failed;

function* evaluateAll<State, Action>(
  measure: Measure<State, Action>,
  nodes: readonly SearchNode<State, Action>[],
  request: EvaluateRequest,
): Waiting<readonly Verdict[]> {
  const { value, prover, known } = measure;
  const parents = missingParents(measure, nodes);
  const asked = [...nodes, ...parents];
  const ask = (name: string, evaluator: Evaluator<State, Action>, about: typeof asked) =>
    askEvaluator({ name, evaluator, method: 'evaluate', nodes: about }, request);
  const [values = [], proven = values] = yield* wait(
    settleAll(
      prover === undefined
        ? [ask('value', value, asked)]
        : [ask('value', value, [...nodes]), ask('prover', prover, asked)],
    ),
  );
  const verdicts = new Map(asked.map((node, place) => [node, proven[place] ?? nameless]));
  for (const [node, verdict] of verdicts) if (!('failure' in verdict)) known.set(node, verdict);
  return nodes.map((node, place) => {
    const { parent } = node;
    const after = verdicts.get(node) ?? nameless;
    const before =
      parent === undefined ? after : (verdicts.get(parent) ?? valueBefore(measure, parent));
    return scored(measure, { value: values[place] ?? nameless, before, after });
  });
}

/** The parents whose values are neither known nor requested already, each once. */
function missingParents<State, Action>(
  measure: Measure<State, Action>,
  nodes: readonly SearchNode<State, Action>[],
): readonly SearchNode<State, Action>[] {
  const parents = new Set(nodes.flatMap(({ parent }) => (parent === undefined ? [] : [parent])));
  for (const node of nodes) parents.delete(node);
  return [...parents].filter((parent) => 'failure' in valueBefore(measure, parent));
}

function valueBefore<State, Action>(
  { known, start }: Measure<State, Action>,
  parent: SearchNode<State, Action>,
): Verdict {
  if (parent.kind === 'root' && start !== undefined) return { value: start };
  return known.get(parent) ?? nameless;
}

function scored<State, Action>(
  { alpha, bestOf }: Measure<State, Action>,
  { value, before, after }: Readonly<Record<'after' | 'before' | 'value', Verdict>>,
): Verdict {
  if ('failure' in value) return value;
  if ('failure' in after) return named('prover', after);
  if ('failure' in before) return named('before the step', before);
  // With one try the value is used unchanged: the formula would round it.
  const proves = (chance: number) => (bestOf === 1 ? chance : 1 - (1 - chance) ** bestOf);
  const [then, now] = [proves(before.value), proves(after.value)];
  const [least, greatest] = [-alpha, 1 + alpha];
  const score = Math.min(greatest, Math.max(least, value.value + alpha * (now - then)));
  const mapped = valueInRange('progress', (score + alpha) / (1 + 2 * alpha));
  if ('failure' in mapped) return mapped;
  const { parts, ...told } = joined([{ name: 'value', verdict: value }]);
  return {
    ...mapped,
    ...(value.about !== undefined && { about: value.about }),
    raw: { score, range: [least, greatest] },
    ...told,
    parts: { ...parts, before: then, after: now },
  };
}

function named(name: string, { failure }: Failed): Failed {
  return { failure: { ...failure, message: `${name}: ${failure.message}` } };
}
