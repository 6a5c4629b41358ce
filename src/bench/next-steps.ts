import { budgetText, percent, points } from './figures.ts';
import type { ScoredPoint } from './points.ts';
import type { Verdict } from './report.ts';

/** What to try next, from the plainest reason down: two sentences at most. */
export function nextSteps(
  { points: all, baseline }: { readonly points: readonly ScoredPoint[]; readonly baseline: string },
  answer: Verdict['answer'],
): readonly string[] {
  const searches = all.filter(({ isBaseline }) => !isBaseline);
  const main = all.filter(({ method }) => method === baseline);
  const reach = outOfReach(all);
  const steps = [
    reach,
    unchosen(main),
    misjudged(searches),
    // Out of reach, another size of budgets was named already.
    answer === 'yes' && reach === undefined ? rising(searches) : undefined,
  ].flatMap((step) => step ?? []);
  return steps.length > 0 ? steps.slice(0, 2) : otherwise(answer);
}

/** A share of right answers that leaves nothing to gain. */
const nearlyAll = 0.95;

function outOfReach(points: readonly ScoredPoint[]): string | undefined {
  const accuracies = points.map(({ accuracy }) => accuracy);
  if (Math.max(...accuracies) < 0.05) {
    return 'No method gets 5 % right: try larger budgets, easier problems or a stronger model before anything else.';
  }
  if (Math.min(...accuracies) > nearlyAll) {
    return 'Every method gets more than 95 % right: try harder problems or smaller budgets.';
  }
  return undefined;
}

/** Right answers that are found and not chosen are a matter of values. */
function unchosen(main: readonly ScoredPoint[]): string | undefined {
  const last = main.at(-1);
  if (last === undefined || last.anyEnd === null || last.anyEnd - last.accuracy < 0.1) {
    return undefined;
  }
  return `At ${budgetText(last.budget)} ${last.method} finds a right answer in ${percent(last.anyEnd)} of its searches but chooses it in only ${percent(last.accuracy)}: better values, or a check of answers, may gain more than search.`;
}

function misjudged(searches: readonly ScoredPoint[]): string | undefined {
  const off = searches.filter(({ calibration }) => (calibration?.expectedError ?? 0) > 0.2);
  const [worst] = off.toSorted(
    (a, b) => (b.calibration?.expectedError ?? 0) - (a.calibration?.expectedError ?? 0),
  );
  if (worst === undefined) return undefined;
  return `The values of ${worst.method} at ${budgetText(worst.budget)} are off by ${points(worst.calibration?.expectedError ?? 0)} points on average: calibrate them, or use another judge.`;
}

function rising(searches: readonly ScoredPoint[]): string | undefined {
  const found = searches.find(({ method, budget, accuracy }, place) => {
    const [before, after] = [searches[place - 1], searches[place + 1]];
    const isLast = after?.method !== method || after.budget.unit !== budget.unit;
    const follows = before?.method === method && before.budget.unit === budget.unit;
    return isLast && follows && accuracy - before.accuracy > 0.02 && accuracy <= nearlyAll;
  });
  if (found === undefined) return undefined;
  return `The curve of ${found.method} is still rising at ${budgetText(found.budget)}: try larger budgets.`;
}

function otherwise(answer: Verdict['answer']): readonly string[] {
  switch (answer) {
    case 'yes':
      return ['Confirm it on problems that were not used for tuning.'];
    case 'no':
      return ['Spend on a better model, better values or another method instead.'];
    case 'undecided':
      // How many problems would decide has been said.
      return [];
  }
}
