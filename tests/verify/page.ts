/**
 * Pages of example reports in a real browser, from files: no message on the console, no request to any host, all that the
 * report has is drawn, no labels on top of each other, nothing serious by axe. The browser is Debian's `chromium`; what drives
 * it comes from the registry into a folder of its own. Where either cannot be had, this is skipped. Screenshots: `.tmp/page/shots`.
 */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { reportPage } from '../../src/bench/page/page.ts';
import type { BenchPoint, BenchReport } from '../../src/bench/report.ts';
import { exampleReports } from '../support/bench-reports.ts';
import { type Browser, startedBrowser } from '../support/browser.ts';
import { type Found, look } from './page-in-browser.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const folder = join(root, '.tmp/page');
const shots = join(folder, 'shots');
mkdirSync(shots, { recursive: true });

const ways = [
  { width: 1_280, colorScheme: 'light', media: 'screen' },
  { width: 1_280, colorScheme: 'dark', media: 'screen' },
  { width: 1_100, colorScheme: 'light', media: 'screen' },
  { width: 390, colorScheme: 'light', media: 'screen' },
  { width: 390, colorScheme: 'dark', media: 'screen' },
  { width: 794, colorScheme: 'dark', media: 'print' },
] as const;

/** How many marks a page has to show, from the report alone. */
function marksOf({ points, guided, baseline }: BenchReport): number {
  const isScored = ({ n }: BenchPoint) => n > 0;
  const curves = (all: readonly BenchPoint[], hasPanels: boolean) =>
    ['calls', 'ms', 'tokens', 'usd'].reduce((sum, unit) => {
      const own = all.filter((point) => isScored(point) && point.budget.unit === unit);
      const isCurve = new Set(own.map(({ budget }) => budget.limit)).size > 1;
      if (!hasPanels || !isCurve) return sum + own.length;
      // Everything once; in panels each other method with the baseline beside it.
      const base = own.filter(({ method }) => method === baseline).length;
      const others = new Set(own.map(({ method }) => method)).size - (base > 0 ? 1 : 0);
      return sum + own.length + (own.length - base) + others * base;
    }, 0);
  const costs = points.filter(isScored).flatMap(({ usd, ms }) => [usd === 0 ? null : usd, ms]);
  return (
    curves(points, true) + curves(guided, false) + costs.filter((cost) => cost !== null).length
  );
}

/** What is wrong with what was found in a page. */
function faultsOf(report: BenchReport, found: Found, width: number): readonly string[] {
  const bins = [...new Set(report.points.map(({ method }) => method))].map((method) =>
    Math.max(
      0,
      ...report.points
        .filter((point) => point.method === method)
        .map(({ calibration }) => calibration?.bins.filter(({ n }) => n > 0).length ?? 0),
    ),
  );
  const hasMatrix = report.points.length > 0;
  const expected = {
    points: marksOf(report),
    bins: bins.reduce((sum, count) => sum + count, 0),
    problems: hasMatrix ? report.problems.length : 0,
    cells: hasMatrix ? report.problems.length * report.points.length : 0,
    foreign: 0,
    answer: { yes: 'Yes', no: 'No', undecided: 'Undecided.' }[report.verdict.answer],
  };
  return [
    ...Object.entries(expected).flatMap(([name, value]) => {
      const actual = found[name as keyof typeof expected];
      return actual === value ? [] : [`${name}: ${actual} instead of ${value}`];
    }),
    ...found.overlaps.map((pair) => `labels on top of each other: ${pair}`),
    ...found.outside.map((label) => `outside of the page: ${label}`),
    ...(width >= 1_100 && found.hidden > 0
      ? [`the table of results scrolls sideways: ${found.hidden} px are hidden`]
      : []),
    ...found.serious.map((finding) => `axe: ${finding}`),
  ];
}

async function verify(browser: Browser, axe: string): Promise<number> {
  let wrong = 0;
  for (const [name, report] of Object.entries(exampleReports)) {
    const path = join(folder, `${name}.html`);
    const html = await reportPage(report);
    writeFileSync(path, html);
    const url = pathToFileURL(path).href;
    const said: string[] = [];
    let svgs = 0;
    for (const { width, colorScheme, media } of ways) {
      const page = await browser.newPage({ viewport: { width, height: 900 } });
      const faults: string[] = [];
      page.on('console', (message) => faults.push(`console: ${message.text()}`));
      page.on('pageerror', (error) => faults.push(`error: ${error.message}`));
      page.on('request', (request) => {
        if (request.url() !== url) faults.push(`request: ${request.url()}`);
      });
      await page.emulateMedia({ colorScheme, media });
      await page.goto(url);
      const way = `${width}-${media === 'print' ? 'print' : colorScheme}`;
      await page.screenshot({ path: join(shots, `${name}-${way}.png`), fullPage: true });
      if (media === 'print') await page.pdf({ path: join(shots, `${name}.pdf`), format: 'A4' });
      await page.evaluate(axe);
      const found = await page.evaluate<Found>(`(${look})()`);
      svgs = found.svgs;
      faults.push(...faultsOf(report, found, width));
      said.push(...faults.map((fault) => `  ${way}: ${fault}`));
      await page.close();
    }
    wrong += said.length;
    const size = `${Math.round(html.length / 1_000)} kB, ${svgs} drawings, ${marksOf(report)} marks`;
    process.stdout.write(`${said.length === 0 ? 'ok ' : 'NOT'} ${name}: ${size}\n`);
    for (const line of said.slice(0, 20)) process.stdout.write(`${line}\n`);
  }
  return wrong;
}

const started = await startedBrowser();
if (started === undefined) {
  process.stdout.write('Skipped: there is no chromium, or the registry cannot be reached.\n');
} else {
  const { browser, axe } = started;
  process.stdout.write(`Chromium ${browser.version()}, ${ways.length} ways to look at each page\n`);
  const wrong = await verify(browser, axe);
  await browser.close();
  process.stdout.write(`${wrong} faults; screenshots in ${shots}\n`);
  if (wrong > 0) process.exitCode = 1;
}
