import { budgetKey } from './arms.ts';
import { leastGain } from './bounds.ts';
import { budgetText, percent, points } from './figures.ts';
import type { ScoredPoint } from './points.ts';
import type { BenchDifference } from './report.ts';

/**
 * The baseline to beat, where it is not that of the comparisons: at the budget of the search that pays it gets at least as
 * much, or where none pays, it leads by what would be a gain.
 */
export function unsearched(
  { points: all, baseline }: { readonly points: readonly ScoredPoint[]; readonly baseline: string },
  best?: BenchDifference,
): readonly string[] {
  const leads = all.flatMap((rival) => {
    const beside = all.filter(({ budget }) => budgetKey(budget) === budgetKey(rival.budget));
    const other = beside.find(({ method }) => method === baseline);
    if (!rival.isBaseline || other === undefined || rival === other) return [];
    if (best !== undefined && budgetKey(best.budget) !== budgetKey(rival.budget)) return [];
    const compared = beside.filter(({ method, isBaseline }) =>
      best === undefined ? !isBaseline || method === baseline : method === best.method,
    );
    const lead = rival.accuracy - Math.max(...compared.map(({ accuracy }) => accuracy));
    return lead >= (best === undefined ? leastGain : 0) ? [{ rival, other, lead }] : [];
  });
  const [first] = leads.toSorted((a, b) => b.lead - a.lead);
  if (first === undefined) return weakBaseline(all, baseline);
  const { rival, other } = first;
  return [
    `But ${rival.method}, which does not search, gets ${percent(rival.accuracy)} at ${budgetText(rival.budget)}, against ${percent(other.accuracy)} for ${baseline}: that is what to beat.`,
  ];
}

/** Where another way without search gets 3 points more than the baseline, a gain over that one says little. */
function weakBaseline(all: readonly ScoredPoint[], baseline: string): readonly string[] {
  const leads = all
    .filter(({ isBaseline, method }) => isBaseline && method !== baseline)
    .flatMap((rival) => {
      const other = all.find(
        ({ method, budget }) =>
          method === baseline && budgetKey(budget) === budgetKey(rival.budget),
      );
      return other === undefined ? [] : [{ rival, other, lead: rival.accuracy - other.accuracy }];
    });
  const [first] = leads.toSorted((a, b) => b.lead - a.lead);
  if (first === undefined || first.lead < leastGain) return [];
  const { rival, other, lead } = first;
  return [
    `But ${baseline} is a weak baseline here: ${rival.method} gets ${points(lead)} points more at ${budgetText(rival.budget)} (${percent(rival.accuracy)} against ${percent(other.accuracy)}). Try another \`--temperature\`, or compare with \`--baseline ${rival.method}\`.`,
  ];
}
