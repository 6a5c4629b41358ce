import { counted } from '../base/counted.ts';
import type { GenerateReport } from '../runs/index.ts';
import { oneLine } from './output.ts';
import { shownDollars } from './prices.ts';

/**
 * The report as `--json` prints it.
 *
 * @param usd - The dollars, or `null` where the price is unknown: they are then not 0.
 */
export function reportOf({ failed, ...rest }: GenerateReport, usd: number | null): object {
  return {
    ...rest,
    spend: { ...rest.spend, usd },
    failed: failed.map(({ problem, attempt, reason }) => ({ problem, attempt, reason })),
  };
}

/** The same for people. */
export function describeRunEnd(
  report: GenerateReport,
  usd: number | null,
  { path, problems }: { readonly path: string; readonly problems: number },
): string {
  const { stopReason, done, solved, failed, unfinished, spend } = report;
  const ends = {
    budget: '; the budget is spent',
    failing: '; one search after the other failed',
    finished: '',
    stopped: '; ended by Ctrl-C',
  };
  const shown = failed.slice(0, 10);
  return [
    `Searched ${counted(problems, 'problem')}: ${counted(done, 'tree')} grown, ${solved} of them solved${ends[stopReason]}.`,
    [
      counted(spend.simulations, 'simulation'),
      counted(spend.calls, 'call'),
      ...(spend.tokens > 0 ? [counted(spend.tokens, 'token')] : []),
      ...shownDollars(usd),
      `kept in ${path}`,
    ].join(' · '),
    ...(unfinished > 0
      ? [`${counted(unfinished, 'tree')} still to be grown: the same command goes on.`]
      : []),
    ...(failed.length > 0
      ? [
          '',
          `${failed.length} failed; the same command goes on where no model could be reached, and --retry-failed searches all again:`,
        ]
      : []),
    ...shown.map(({ problem, reason }) => `  ${oneLine(problem)}: ${oneLine(reason)}`),
    ...(failed.length > shown.length ? [`  … and ${failed.length - shown.length} more`] : []),
  ].join('\n');
}
