import { describeValue, expectation, expectNumber, expectOneOf } from '../../base/expect.ts';
import { expectOptions } from '../../base/expect-options.ts';
import { failedBy } from '../../base/failure.ts';
import type { Evaluation } from '../../contracts/evaluation.ts';
import type { Evaluator } from '../../contracts/evaluator.ts';
import type { Failed } from '../../contracts/failure.ts';
import type { SearchNode } from '../../contracts/node.ts';
import { askEvaluator } from '../ask-evaluator.ts';
import {
  type Answer,
  expectParts,
  failureOf,
  isScored,
  joined,
  madeOf,
  type NamedEvaluator,
  nameless,
  type Round,
  type Scored,
} from '../evaluator-parts.ts';
import { settleAll, type Waiting, wait } from '../settle.ts';
import { valueInRange } from '../value-in-range.ts';

/**
 * Blends evaluators. All are asked concurrently, each about all nodes in one batch. The value of each part, and
 * those of its own parts as `name/part`, stay in `parts`; rationales are joined, unscored answers added up.
 *
 * If a part gives returns of simulations, so does the ensemble, as the same blend. LATS values a state by
 * `λ · LM(s) + (1 − λ) · SC(s)`:
 *
 * @example The mix of LATS.
 * ```ts
 * ensemble({
 *   parts: [
 *     { name: 'judge', evaluator: judged, weight: 0.5 },
 *     { name: 'consistency', evaluator: consistency, weight: 0.5 },
 *   ],
 * });
 * ```
 * @see Zhou et al., "Language Agent Tree Search Unifies Reasoning, Acting, and Planning in Language Models", 2024,
 * the value function; Putta et al., "Agent Q: Advanced Reasoning and Learning for Autonomous AI Agents", 2024, the
 * α-mix of two values.
 * @throws EspalierError `usage` for parts that need different kinds of nodes, equal names, a weight that is not a
 * number from 0 up, a weight without a mean, or an oracle.
 */
export function ensemble<State, Action>(options: {
  /** One or more, with different names. */
  readonly parts: readonly (NamedEvaluator<State, Action> & {
    /**
     * w ≥ 0: its relative weight. A function sets it per node: a schedule by depth or visits. Only for a mean.
     *
     * @defaultValue 1
     */
    readonly weight?: number | ((node: SearchNode<State, Action>) => number);
  })[];
  /**
   * How values are combined: the weighted mean `Σ wᵢ vᵢ / Σ wᵢ`, the least, the greatest, or the product.
   *
   * @defaultValue `'mean'`
   */
  readonly combine?: 'max' | 'mean' | 'min' | 'product';
  /**
   * What happens to a node if a part fails: it fails too, or uses the other parts. If all parts fail, the node fails.
   *
   * @defaultValue `'fail'`
   */
  readonly onFailure?: 'fail' | 'leave-out';
}): Evaluator<State, Action> {
  expectOptions('ensemble', options, 'parts combine onFailure');
  const { parts, combine = 'mean', onFailure = 'fail' } = options;
  expectParts('parts', parts, 'name evaluator weight');
  expectOneOf('combine', combine, ['mean', 'min', 'max', 'product']);
  expectOneOf('onFailure', onFailure, ['fail', 'leave-out']);
  for (const [place, { weight }] of parts.entries()) expectWeight(place, { weight, combine });

  const blend = { parts, combine, onFailure };
  return madeOf(parts, (round) => askAll(blend, round));
}

function expectWeight(
  place: number,
  { weight, combine }: { readonly weight: unknown; readonly combine: string },
): void {
  const name = `parts[${place}].weight`;
  if (weight === undefined) return;
  if (combine !== 'mean') {
    throw expectation(name, `left out if values are combined by '${combine}'`, weight);
  }
  if (typeof weight !== 'function') expectNumber(name, weight, { min: 0 });
}

type Blend<State, Action> = Required<Parameters<typeof ensemble<State, Action>>[0]>;

function* askAll<State, Action>(
  blend: Blend<State, Action>,
  { method, nodes, request }: Round<State, Action>,
): Waiting<readonly (Evaluation | Failed)[]> {
  const { context } = request;
  const columns = yield* wait(
    settleAll(
      blend.parts.map(({ name, evaluator }) =>
        askEvaluator({ name, evaluator, method, nodes }, request),
      ),
    ),
  );
  return nodes.map((node, place) => {
    const answers = blend.parts.map(({ name }, part) => ({
      name,
      verdict: columns[part]?.[place] ?? nameless,
    }));
    try {
      return blended(blend, node, answers);
    } catch (error) {
      return failedBy(error, 'invalid', context);
    }
  });
}

function blended<State, Action>(
  { parts, combine, onFailure }: Blend<State, Action>,
  node: SearchNode<State, Action>,
  answers: readonly Answer[],
): Evaluation | Failed {
  const scored = answers.filter(isScored);
  const [failed] = answers.flatMap((answer) => failureOf(answer) ?? []);
  const mayGoOn = onFailure === 'leave-out' && scored.length > 0;
  if (failed !== undefined && !mayGoOn) return failed;
  const value =
    combine === 'mean'
      ? mean(parts, node, scored)
      : combined[combine](scored.map(({ verdict }) => verdict.value));
  const checked = typeof value === 'number' ? valueInRange('the blended value', value) : value;
  if ('failure' in checked) return checked;
  const isOfAction = scored.some(({ verdict }) => verdict.about === 'action');
  return { ...checked, ...(isOfAction && { about: 'action' }), ...joined(answers) };
}

const combined = {
  min: (values: readonly number[]): number => Math.min(...values),
  max: (values: readonly number[]): number => Math.max(...values),
  product: (values: readonly number[]): number => values.reduce((one, other) => one * other, 1),
};

function mean<State, Action>(
  parts: Blend<State, Action>['parts'],
  node: SearchNode<State, Action>,
  scored: readonly Scored[],
): number | Failed {
  let sum = 0;
  let total = 0;
  for (const { name, verdict } of scored) {
    const { weight: given = 1 } = parts.find((part) => part.name === name) ?? {};
    const weight = typeof given === 'function' ? given(node) : given;
    if (!(Number.isFinite(weight) && weight >= 0)) {
      return invalid(
        `Expected the weight of ${name} to be a number from 0 up, got ${describeValue(weight)}.`,
      );
    }
    sum += weight * verdict.value;
    total += weight;
  }
  return total > 0 ? sum / total : invalid('Expected weights with a sum above 0, got `0`.');
}

function invalid(message: string): Failed {
  return { failure: { kind: 'invalid', message } };
}
