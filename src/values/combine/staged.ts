import { expectInteger, expectNumber, expectOneOf } from '../../base/expect.ts';
import { expectOptions } from '../../base/expect-options.ts';
import type { Evaluation } from '../../contracts/evaluation.ts';
import type { Evaluator } from '../../contracts/evaluator.ts';
import type { Failed } from '../../contracts/failure.ts';
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
} from '../evaluator-parts.ts';
import type { Waiting } from '../settle.ts';

/** Options of {@link staged}. */
export interface StagedOptions<State, Action> {
  /** Evaluates every node. */
  readonly fast: NamedEvaluator<State, Action>;
  /** Evaluates the promising nodes, overriding the fast value. */
  readonly accurate: NamedEvaluator<State, Action>;
  /** The least fast value of a promising node, in [0, 1]. @defaultValue 0.5, or none with `best` */
  readonly threshold?: number;
  /**
   * The maximum number of promising nodes per batch: those with the best fast values, ties going to the earlier. An
   * integer from 1 up. A node evaluated alone is the best of its batch.
   *
   * @defaultValue all that reach the threshold
   */
  readonly best?: number;
  /**
   * What happens to a node if a part fails. With `leave-out`, the accurate value is used without a fast one, and the
   * fast value without an accurate one.
   *
   * @defaultValue `'fail'`
   */
  readonly onFailure?: 'fail' | 'leave-out';
}

/**
 * A fast evaluator for all nodes, and an accurate one only for those that the fast one finds promising. Promising nodes
 * get the accurate value, others the fast one, so both must be on the same scale. Both values stay in `parts`.
 *
 * If a part gives returns of simulations, so does the result: that of the accurate part for promising nodes.
 *
 * @throws EspalierError `usage` for parts that need different kinds of nodes, equal names, an option out of its
 * range, or an oracle.
 */
export function staged<State, Action>(
  options: StagedOptions<State, Action>,
): Evaluator<State, Action> {
  expectOptions('staged', options, 'fast accurate threshold best onFailure');
  const { fast, accurate, best = Number.POSITIVE_INFINITY, onFailure = 'fail' } = options;
  const { threshold = options.best === undefined ? 0.5 : 0 } = options;
  expectParts('[fast, accurate]', [fast, accurate]);
  expectNumber('threshold', threshold, { min: 0, max: 1 });
  expectInteger('best', best, { min: 1, max: Number.POSITIVE_INFINITY });
  expectOneOf('onFailure', onFailure, ['fail', 'leave-out']);

  const stages = { fast, accurate, threshold, best, onFailure };
  return madeOf([fast, accurate], (round) => askInTurn(stages, round));
}

type Stages<State, Action> = Required<StagedOptions<State, Action>>;

type Verdicts = readonly (Evaluation | Failed)[];

/** The fast value decides which nodes are promising, for values and returns alike. */
function* askInTurn<State, Action>(
  stages: Stages<State, Action>,
  { method, nodes, request }: Round<State, Action>,
): Waiting<Verdicts> {
  const { fast, accurate, onFailure } = stages;
  const first = yield* askEvaluator({ ...fast, method: 'evaluate', nodes }, request);
  const promising = promisingAmong(stages, first);
  const chosen = nodes.filter((_, place) => promising.has(place));
  const later = yield* askEvaluator({ ...accurate, method, nodes: chosen }, request);

  const others = nodes.filter((_, place) => !promising.has(place));
  const playsOn = method === 'simulate' && fast.evaluator.simulate !== undefined;
  const rest = playsOn ? yield* askEvaluator({ ...fast, method, nodes: others }, request) : [];
  let second = 0;
  let other = 0;
  return first.map((verdict, place) => {
    const said = { name: fast.name, verdict };
    if (promising.has(place)) {
      const last = { name: accurate.name, verdict: later[second++] ?? nameless };
      return lastWord([said, last], onFailure);
    }
    const alone = playsOn ? { ...said, verdict: rest[other++] ?? nameless } : said;
    return lastWord([alone], onFailure);
  });
}

/** The positions of the promising nodes. */
function promisingAmong<State, Action>(
  { threshold, best, onFailure }: Stages<State, Action>,
  verdicts: Verdicts,
): ReadonlySet<number> {
  const values = verdicts.flatMap((verdict, place) =>
    'failure' in verdict ? [] : [{ place, value: verdict.value }],
  );
  const reached = values
    .filter(({ value }) => value >= threshold)
    .toSorted((one, other) => other.value - one.value)
    .slice(0, best);
  const unknown = verdicts.flatMap((verdict, place) =>
    'failure' in verdict && onFailure === 'leave-out' ? [place] : [],
  );
  return new Set([...reached.map(({ place }) => place), ...unknown]);
}

function lastWord(
  answers: readonly Answer[],
  onFailure: Stages<unknown, unknown>['onFailure'],
): Evaluation | Failed {
  const [failed] = answers.flatMap((answer) => failureOf(answer) ?? []);
  const deciding = answers.findLast(isScored);
  if (failed !== undefined && (deciding === undefined || onFailure === 'fail')) return failed;
  if (deciding === undefined) return nameless;
  const { value, raw, about } = deciding.verdict;
  return {
    value,
    ...(about !== undefined && { about }),
    ...(raw !== undefined && { raw }),
    ...joined(answers),
  };
}
