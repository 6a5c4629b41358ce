import { expectNumber, expectOneOf } from '../../base/expect.ts';
import { expectOptions } from '../../base/expect-options.ts';
import { provenanceOf, provenanceOfModel } from '../../base/provenance.ts';
import { mean } from '../../base/stats/mean.ts';
import type { Evaluation } from '../../contracts/evaluation.ts';
import type { Evaluator } from '../../contracts/evaluator.ts';
import type { Failed } from '../../contracts/failure.ts';
import type { SearchNode } from '../../contracts/node.ts';
import type { RewardModel, Solution } from '../../contracts/reward-model.ts';
import { saying } from '../evaluate-each.ts';
import { noState } from '../no-state.ts';
import { type SolutionOf, solutionNeeds, usualSolutions } from './solution-of.ts';
import {
  expectRewardModel,
  type Prepared,
  type ScoreMap,
  scoreMapOf,
  scoreNodes,
} from './step-scores.ts';

/** Options of {@link prm}. */
export interface PrmOptions<State = any, Action = any> {
  /** The reward model; it scores steps. */
  readonly model: RewardModel;
  /** How step scores are aggregated: the last, the mean, the minimum or the product. @defaultValue `'last'` */
  readonly aggregate?: 'last' | 'mean' | 'min' | 'product';
  /**
   * How scores become values: by their range, `(score − least) / (greatest − least)`, or by
   * `1 / (1 + e^−score)`.
   *
   * @defaultValue `'affine'`; `'sigmoid'` for a model whose scores have no bounds, such as logits
   */
  readonly squash?: 'affine' | 'sigmoid';
  /** What is judged: states, or actions before they are taken. @defaultValue `'state'` */
  readonly about?: 'action' | 'state';
  /** The value of a node without steps, which needs no call: a number in [0, 1]. @defaultValue 0, as in ReST-MCTS* */
  readonly start?: number;
  /**
   * The question and the steps to a node. An error fails this node alone.
   *
   * @defaultValue the system message and the last user message of the root's prompt, and the actions on the path in the
   * environment's notation, each with the world's response if prompts grow as a conversation: the same text that the
   * step-label rules write
   */
  readonly solutionOf?: (node: SearchNode<State, Action>) => Omit<Solution, 'from'>;
}

type Aggregate = NonNullable<PrmOptions['aggregate']>;

interface Settings<State, Action> {
  readonly model: RewardModel;
  readonly solutionOf: SolutionOf<State, Action>;
  readonly map: ScoreMap;
  readonly aggregate: Aggregate;
  readonly about: 'action' | 'state';
  readonly start: number;
}

/**
 * Values nodes by a process reward model (PRM), which scores each step of a solution: with scores `s₁ … sₙ` in
 * [0, 1], `v = sₙ` (last), `min sᵢ`, `∏ sᵢ` or `Σ sᵢ / n`.
 *
 * - All nodes of a batch are sent in one request; one solution is one call in the ledger.
 * - The values of the steps are kept in `parts` as `step 1`, `step 2`, …. If the model is `incremental` and the parent
 *   was evaluated this way, only the new steps are scored.
 * - A mapped score is kept in `raw` if the value is the score of one step (`last` and `min`) scored with this node.
 * - A solution without scores, with too few or too many, or with one out of range fails alone.
 *
 * @throws EspalierError `usage` if an option is out of range.
 * @see Lightman et al., "Let's Verify Step by Step", 2023 (product); Snell et al., "Scaling LLM
 * Test-Time Compute Optimally can be More Effective than Scaling Model Parameters", 2024 (last);
 * Wang et al., "Math-Shepherd", 2023 (min).
 */
export function prm<State = any, Action = any>(
  options: PrmOptions<State, Action>,
): Evaluator<State, Action> {
  expectOptions('prm', options, 'model aggregate squash about start solutionOf');
  const { model, aggregate = 'last', squash, about = 'state', start = 0, solutionOf } = options;
  expectRewardModel(model, 'steps');
  expectOneOf('aggregate', aggregate, ['last', 'min', 'product', 'mean']);
  expectOneOf('about', about, ['state', 'action']);
  expectNumber('start', start, { min: 0, max: 1 });
  const map = scoreMapOf(model, squash);
  const settings = { model, map, aggregate, about, start };
  return {
    needs: about === 'action' ? 'proposed' : 'realised',
    ...provenanceOf(solutionNeeds('prm', solutionOf), provenanceOfModel(model)),
    evaluate(nodes, request) {
      const { context } = request;
      const asked = { ...settings, solutionOf: solutionOf ?? usualSolutions(request) };
      return scoreNodes(nodes, { model, context, prepare: (node) => prepare(asked, node) });
    },
  };
}

function prepare<State, Action>(
  settings: Settings<State, Action>,
  node: SearchNode<State, Action>,
): Prepared {
  const { about, start } = settings;
  if (about === 'state' && node.kind === 'proposed') return noState;
  const solution = settings.solutionOf(node);
  if (solution.steps.length === 0) return saying(about, node, { value: start });
  const known = knownValues(settings, node, solution);
  const { prompt, steps } = solution;
  return {
    solution: { prompt, steps, ...(known.length > 0 && { from: known.length }) },
    read: (scores) =>
      saying(about, node, evaluationOf(settings, { known, scores, count: steps.length })),
  };
}

/** The values of the steps up to the parent, if the model can skip them. */
function knownValues<State, Action>(
  { model, solutionOf }: Settings<State, Action>,
  { parent }: SearchNode<State, Action>,
  { prompt, steps }: Solution,
): readonly number[] {
  const parts = parent?.evaluations.at(-1)?.parts;
  if (model.incremental !== true || parent === undefined || parts === undefined) return [];
  const before = solutionOf(parent);
  const known = before.steps.map((_, place) => parts[partName(place)]);
  const isPrefix =
    before.prompt === prompt &&
    before.steps.length < steps.length &&
    before.steps.every((step, place) => step === steps[place]);
  return isPrefix && known.every((value) => value !== undefined) ? known : [];
}

function evaluationOf<State, Action>(
  { map, aggregate }: Settings<State, Action>,
  {
    known,
    scores,
    count,
  }: Readonly<Record<'known' | 'scores', readonly number[]>> & { readonly count: number },
): Evaluation | Failed {
  if (known.length + scores.length !== count) {
    const wanted = count - known.length;
    const message = `Expected one score per step, ${wanted} in all, got ${scores.length}.`;
    return { failure: { kind: 'invalid', message } };
  }
  const mapped = scores.map((score) => map('the score of a step', score));
  const failure = mapped.find((one) => 'failure' in one);
  if (failure !== undefined) return failure;
  const steps: Evaluation[] = [
    ...known.map((value) => ({ value })),
    ...mapped.filter((one) => 'value' in one),
  ];
  const values = steps.map(({ value }) => value);
  const { raw } = steps[placeOf(values, aggregate)] ?? {};
  return {
    value: Math.min(1, aggregated(values, aggregate)),
    parts: Object.fromEntries(values.map((part, index) => [partName(index), part])),
    ...(raw !== undefined && { raw }),
  };
}

function aggregated(values: readonly number[], aggregate: Aggregate): number {
  switch (aggregate) {
    case 'last':
      return values.at(-1) ?? 0;
    case 'min':
      return Math.min(...values);
    case 'product':
      return values.reduce((product, value) => product * value, 1);
    case 'mean':
      return mean(values);
  }
}

/** The step whose score is the value; −1 if it combines several. */
function placeOf(values: readonly number[], aggregate: Aggregate): number {
  if (aggregate === 'last') return values.length - 1;
  return aggregate === 'min' ? values.lastIndexOf(Math.min(...values)) : -1;
}

function partName(place: number): string {
  return `step ${place + 1}`;
}
