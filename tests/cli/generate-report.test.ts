import { afterEach, expect, test } from 'vitest';
import { describeRunEnd } from '../../src/cli/generate-report.ts';
import type { GenerateReport } from '../../src/runs/index.ts';

const { isTTY } = process.stdout;
afterEach(() => {
  process.stdout.isTTY = isTTY;
});

test.each([true, false])('why a search failed is cut only on a terminal: %s', (isTerminal) => {
  process.stdout.isTTY = isTerminal;
  const reason = `The server refused the request: ${'too long '.repeat(20)}.`;
  const counts = { total: 1, done: 0, solved: 0, unfinished: 0, stopReason: 'finished' };
  const spend = { simulations: 1, calls: 1, tokens: 0 };
  const failed = [{ problem: 'one', reason }];
  const report = { ...counts, spend, failed } as unknown as GenerateReport;

  const shown = isTerminal ? `${reason.slice(0, 99)}…` : reason;
  expect(describeRunEnd(report, 0, { path: 'run', problems: 1 }).split('\n')).toContain(
    `  one: ${shown}`,
  );
});

test('problems are told apart from the trees of several attempts', () => {
  const counts = { total: 4, done: 4, solved: 1, unfinished: 0, stopReason: 'finished' };
  const spend = { simulations: 1, calls: 1, tokens: 0 };
  const report = { ...counts, spend, failed: [] } as unknown as GenerateReport;
  expect(describeRunEnd(report, 0, { path: 'run', problems: 2 })).toMatch(
    /^Searched 2 problems: 4 trees grown, 1 of them solved\.\n/,
  );
});
