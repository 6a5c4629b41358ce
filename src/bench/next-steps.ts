import { mostUnused } from './bounds.ts';
import { budgetText, listed, percent } from './figures.ts';
import type { BenchPoint, Verdict } from './report.ts';

/** What left budget unused, and the first two things to try next, from the plainest reason down. */
export function nextSteps(
  { points, baseline }: { readonly points: readonly BenchPoint[]; readonly baseline: string },
  answer: Verdict['answer'],
): readonly string[] {
  const searches = points.filter(({ isBaseline }) => !isBaseline);
  const main = points.filter(({ method }) => method === baseline);
  const steps = [
    outOfReach(points),
    ...idle([...main, ...searches]),
    unchosen(main),
    misjudged(searches),
    answer === 'yes' ? rising(searches) : undefined,
  ].flatMap((step) => step ?? []);
  return steps.length > 0 ? steps.slice(0, 2) : [otherwise(answer, baseline)];
}

function outOfReach(points: readonly BenchPoint[]): string | undefined {
  const accuracies = points.map(({ accuracy }) => accuracy);
  if (Math.max(...accuracies) < 0.05) {
    return 'Nothing gets 5 % right: try larger budgets, easier problems or a stronger model before anything else.';
  }
  if (Math.min(...accuracies) > 0.95) {
    return 'Everything gets more than 95 % right: try harder problems or smaller budgets.';
  }
  return undefined;
}

function idle(points: readonly BenchPoint[]): readonly string[] {
  const found = points.filter(({ unused }) => unused > mostUnused);
  if (found.length === 0) return [];
  const places = found.map(
    ({ method, budget, unused }) => `${method} ${percent(unused)} of ${budgetText(budget)}`,
  );
  return [
    `Unused were, where no answer had ended the search: ${listed(places)}; wider or deeper settings, or \`fill\`, would use it.`,
  ];
}

/** Right answers that are found and not chosen are a matter of values. */
function unchosen(main: readonly BenchPoint[]): string | undefined {
  const last = main.at(-1);
  if (last === undefined || last.anyEnd === null || last.anyEnd - last.accuracy < 0.1) {
    return undefined;
  }
  return `At ${budgetText(last.budget)} ${last.method} finds a right end in ${percent(last.anyEnd)} of its searches and chooses it in ${percent(last.accuracy)}: a better value, or a check of answers, may gain more than search.`;
}

function misjudged(searches: readonly BenchPoint[]): string | undefined {
  const off = searches.filter(({ calibration }) => (calibration?.expectedError ?? 0) > 0.2);
  const [worst] = off.toSorted(
    (a, b) => (b.calibration?.expectedError ?? 0) - (a.calibration?.expectedError ?? 0),
  );
  if (worst === undefined) return undefined;
  return `The values of ${worst.method} are off by ${percent(worst.calibration?.expectedError ?? 0)}: calibrate them, or judge in another way.`;
}

function rising(searches: readonly BenchPoint[]): string | undefined {
  const found = searches.find(({ method, budget, accuracy }, place) => {
    const [before, after] = [searches[place - 1], searches[place + 1]];
    const isLast = after?.method !== method || after.budget.unit !== budget.unit;
    const follows = before?.method === method && before.budget.unit === budget.unit;
    return isLast && follows && accuracy - before.accuracy > 0.02;
  });
  if (found === undefined) return undefined;
  return `The curve of ${found.method} still rises at ${budgetText(found.budget)}: try larger budgets.`;
}

function otherwise(answer: Verdict['answer'], baseline: string): string {
  switch (answer) {
    case 'yes':
      return 'Try it on problems that nothing was tuned on.';
    case 'no':
      return `Stay with ${baseline}, and spend on a better model, better values or another method.`;
    case 'undecided':
      return 'Try more problems before more methods.';
  }
}
