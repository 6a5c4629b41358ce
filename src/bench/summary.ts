import { defined } from '../backends/transport/json.ts';
import { mean } from '../base/stats/mean.ts';
import { signFlipP } from '../base/stats/sign-flips.ts';
import {
  type Arm,
  areTooMany,
  armsOf,
  budgetKey,
  compareTexts,
  isHurt,
  isRight,
  isScored,
  searchKey,
} from './arms.ts';
import type { BenchCell } from './cell.ts';
import { pairedDifference } from './metrics.ts';
import { pointOf, scored } from './points.ts';
import type { BenchDifference, BenchPoint, BenchReport } from './report.ts';
import { areaOverLogBudget, groupsOf, holm } from './statistics.ts';
import { recordedName } from './tasks/recorded.ts';
import { verdictOf } from './verdict.ts';
import { warningsOf } from './warnings.ts';

/** What a report says beside what its cells tell. */
export interface BenchHeader
  extends Pick<
    BenchReport,
    | 'baseline'
    | 'judgeModel'
    | 'maxTokens'
    | 'model'
    | 'price'
    | 'seed'
    | 'temperature'
    | 'versions'
  > {
  readonly task: Omit<BenchReport['task'], 'clusters' | 'instances'>;
  /** Searches of each instance by each method at each budget. */
  readonly seeds: number;
  /** The methods that are baselines, {@link BenchHeader.baseline} among them, in the order in which they are shown. */
  readonly baselines: readonly string[];
  /** What was bought by the whole benchmark. */
  readonly bought: BenchReport['spend']['bought'];
}

/**
 * What the searches of a benchmark come to. Pure: the same report byte for byte, whatever the order of the cells.
 *
 * A search that failed counts as wrong; one whose answer could not be scored, or that was lost to an outage or to broken code,
 * is left out. Methods that an oracle has guided
 * stand apart, and no comparison holds them. All others are compared with the baseline over the searches of equal instance and
 * attempt, at equal budgets; the comparisons of searches are corrected for each other, and so are those of further baselines.
 *
 * @throws EspalierError `usage` where two cells are the same search.
 */
export function reportOf(cells: readonly BenchCell[], header: BenchHeader): BenchReport {
  const {
    baseline,
    baselines,
    bought,
    model,
    judgeModel,
    temperature,
    maxTokens,
    price,
    seed,
    seeds,
    task,
    versions,
  } = header;
  const all = armsOf(cells, baselines);
  const arms = all.filter(({ isGuided }) => !isGuided);
  const points = arms.map(pointOf);
  const clustersIn = (some: readonly BenchCell[]) =>
    new Set(some.map(({ cluster }) => cluster)).size;
  const clusters = clustersIn(cells);
  const found = {
    baseline,
    points,
    differences: differencesOf(arms, baseline),
    clusters: clustersIn(cells.filter(isScored)),
    isReplay: task.name === recordedName,
    ...(bought.usd > 0 && { usd: bought.usd / clusters }),
  };
  const instances = [...new Set(cells.map(({ instance }) => instance))].sort(compareTexts);
  return {
    version: 1,
    task: { ...task, instances: instances.length, clusters },
    ...{ model, judgeModel, temperature },
    ...defined({ maxTokens, price }),
    seeds,
    seed,
    baseline,
    points,
    guided: all.filter(({ isGuided }) => isGuided).map(pointOf),
    differences: found.differences,
    areas: areasOf(points),
    warnings: warningsOf(all, {
      task: task.name,
      models: [model, judgeModel],
      isReplay: found.isReplay,
    }),
    verdict: verdictOf(found),
    problems: problemsOf(arms, instances),
    spend: { bought, charged: chargedFor(all) },
    versions,
  };
}

/** How every other method fares against one, at equal budgets. Guided ones are not compared. */
export function differencesFrom(
  cells: readonly BenchCell[],
  baseline: string,
): readonly BenchDifference[] {
  const arms = armsOf(cells, []).filter(({ isGuided }) => !isGuided);
  return differencesOf(arms, baseline);
}

function differencesOf(arms: readonly Arm[], baseline: string): readonly BenchDifference[] {
  const found = arms.flatMap((arm) => {
    const other = arms.find(
      ({ method, budget }) => method === baseline && budgetKey(budget) === budgetKey(arm.budget),
    );
    if (arm.method === baseline || other === undefined) return [];
    const saysNothing = [arm, other].some(({ cells }) =>
      areTooMany(cells.filter(isHurt).length, cells.length),
    );
    return [{ ...compared(arm, other), isBaseline: arm.isBaseline, saysNothing }];
  });
  // A comparison that the verdict leaves out is no further chance of a false alarm.
  const adjusted = new Map(
    [true, false].flatMap((kind) => {
      const family = found.filter((each) => each.isBaseline === kind && !each.saysNothing);
      const values = holm(family.map(({ p }) => p));
      return family.map((difference, place) => [difference, values[place] ?? 1] as const);
    }),
  );
  return found.map((difference) => {
    const { isBaseline: _, saysNothing: __, ...rest } = difference;
    return { ...rest, adjustedP: adjusted.get(difference) ?? 1 };
  });
}

/** Two arms over the searches that both have and that were scored. */
function compared(arm: Arm, other: Arm): Omit<BenchDifference, 'adjustedP'> {
  const others = new Map(other.cells.filter(isScored).map((cell) => [searchKey(cell), cell]));
  const pairs = arm.cells.filter(isScored).flatMap((cell) => {
    const match = others.get(searchKey(cell));
    return match === undefined ? [] : [{ cell, match }];
  });
  const a = pairs.map(({ cell }) => isRight(cell));
  const b = pairs.map(({ match }) => isRight(match));
  const clusters = pairs.map(({ cell }) => cell.cluster);
  const groups = groupsOf(
    a.map((right, place) => Number(right) - Number(b[place])),
    clusters,
  );
  return {
    method: arm.method,
    than: other.method,
    budget: arm.budget,
    ...pairedDifference(a, b, clusters),
    clusters: groups.length,
    p: signFlipP(groups),
  };
}

/** The areas under the curves of methods that have two budgets of a unit or more; points come from the least budget up. */
function areasOf(points: readonly BenchPoint[]): BenchReport['areas'] {
  const known = scored(points);
  const curves = groupsOf(
    known,
    known.map(({ method, budget }) => JSON.stringify([method, budget.unit])),
  );
  return curves.flatMap((curve) => {
    const [first] = curve;
    if (first === undefined || curve.length < 2) return [];
    const steps = curve.map(({ budget, accuracy }) => ({ limit: budget.limit, accuracy }));
    const { method, budget } = first;
    return [{ method, unit: budget.unit, area: areaOverLogBudget(steps) }];
  });
}

function problemsOf(arms: readonly Arm[], instances: readonly string[]): BenchReport['problems'] {
  const columns = arms.map(({ cells }) => {
    const counted = cells.filter(isScored);
    const names = counted.map(({ instance }) => instance);
    return new Map(
      groupsOf(counted, names).map((group) => [
        group[0]?.instance,
        mean(group.map((cell) => Number(isRight(cell)))),
      ]),
    );
  });
  return instances.map((id) => ({ id, shares: columns.map((column) => column.get(id) ?? null) }));
}

/** What nobody knows the price of is not in the dollars; a warning says so. */
function chargedFor(arms: readonly Arm[]): BenchReport['spend']['charged'] {
  const cells = arms.flatMap((arm) => arm.cells);
  const sum = (of: (cell: BenchCell) => number) =>
    cells.reduce((total, cell) => total + of(cell), 0);
  return {
    calls: sum(({ calls }) => calls),
    tokens: sum(({ tokens }) => tokens),
    // Dollars are binary fractions.
    usd: Number(sum(({ usd }) => usd ?? 0).toPrecision(12)),
  };
}
