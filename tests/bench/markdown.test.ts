import { describe, expect, test } from 'vitest';
import { reportMarkdown } from '../../src/bench/markdown.ts';
import type { BenchReport } from '../../src/bench/report.ts';
import { reportTable } from '../../src/bench/report-table.ts';
import { repeatCommand } from '../../src/bench/sections.ts';
import { exampleReport, exampleReports } from '../support/bench-reports.ts';

const usual = exampleReport();
const text = reportMarkdown(usual);
const at = (part: string) => {
  expect(text).toContain(part);
  return text.indexOf(part);
};

test('says the verdict first, then what to know, then the figures', () => {
  const places = [
    at('# Does search pay on Game of 24?'),
    at('**Yes, search pays here.** From 2,000 tokens on mcts gets'),
    at('- greedy leaves 86 % of 32,000 tokens unused'),
    at('| method | budget |'),
    at('pass@5'),
    at('## Guided by an oracle: pass@k, not accuracy'),
    at('which saved 64.0 % of the tokens'),
    at('espalier bench --task game24 --split unseen --limit 40 --model ollama:qwen3'),
  ];
  expect(places).toEqual(places.toSorted((a, b) => a - b));
});

test('has a row of each point, with the figures of the report', () => {
  const [point] = usual.points.filter(
    ({ method, budget }) => method === 'mcts' && budget.limit === 2_000,
  );
  expect(point).toMatchObject({ accuracy: 0.75, tokens: 1_280, calls: 32, ms: 160 });
  // usd = 1,280 · 2e-7 = 0.000256 a search; best-of-n has 0.6 there, p = 0.2 / (1 + 400 · 0.15²) = 0.02, tripled.
  expect(text).toContain(
    '| mcts | 2,000 tokens | 200 | 75.0 % \\[59.8, 85.8\\] | +15.0 \\[10.0, 20.0\\] | 0.060 | 1,280 | 1,024 | 384 | 256 | $0.26 | 32 | 160 | 36.0 % † |',
  );
  expect(text).toContain(
    '| best-of-n | 2,000 tokens | 200 | 60.0 % \\[44.6, 73.7\\] | – | – | 1,120 | 896 | 336 | 224 | $0.22 | 28 | unknown | 44.0 % † |',
  );
});

test('keeps guided methods out of the results', () => {
  const [results = '', guided = ''] = text.split('## Guided');
  expect(results).not.toContain('gold-mcts');
  expect(guided.match(/^\| gold-mcts \|/gm)).toHaveLength(4);
});

test('leaves out the sections that it has nothing for', () => {
  const small = reportMarkdown(exampleReports['small'] ?? usual);
  expect(small.match(/^#+ .*/gm)).toEqual([
    '# Does search pay on Game of 24?',
    '## Read this first',
    '## Results',
    '## How searches went',
    '## What it cost',
    '## How to repeat it',
  ]);
});

test('shows nothing as a figure that nobody measured', () => {
  const unscored = reportMarkdown(exampleReports['unscored'] ?? usual);
  expect(unscored).toMatch(/\| mcts \| 1,000 tokens \| 0 of 200 \| – \|/);
  const unpriced = reportMarkdown(exampleReports['unpriced'] ?? usual);
  expect(unpriced).toMatch(/\| mcts \| 1,000 tokens .* \| unknown \| 16 \| 80 \|/);
  expect(`${unscored}${unpriced}`).not.toMatch(/NaN|undefined|null|Infinity/);
});

test.each(Object.entries(exampleReports))('is whole for the report %s', (_, report) => {
  const lines = reportMarkdown(report).split('\n');
  for (const [place, line] of lines.entries()) {
    if (!line.startsWith('|') || !(lines[place - 1] ?? '').startsWith('|')) continue;
    expect(bars(line), line.slice(0, 200)).toBe(bars(lines[place - 1] ?? ''));
  }
});

test('writes what others named so that it is shown, and no more', () => {
  const [prose = ''] = reportMarkdown(exampleReports['hostile'] ?? usual).split('```');
  const bare = prose.replaceAll(/\\[!-/:-@[-`{-~]/g, '');
  expect(prose).toContain('\\<script\\>alert(1)\\</script\\>');
  expect(bare).not.toMatch(/[<>`[\]]/);
  expect(bare).not.toMatch(/:\/\/|(?!\n)[\p{Cc}\p{Cf}]/u);
  expect(prose).toContain('- 1\\. \\| a cell');
});

test('quotes what others named for a shell, in a fence that holds it', () => {
  const hostile = reportMarkdown(exampleReports['hostile'] ?? usual);
  const [, fence = '', code = ''] = /^(`{3,})sh\n(.*?)\n\1$/ms.exec(hostile) ?? [];
  expect(fence).toBe('````');
  expect(code).toContain(String.raw`--task '$(touch /tmp/x) '\''quoted'\''`);
  expect(code).toContain("'<script>alert(1)</script>,");
});

describe('reportTable', () => {
  const table = reportTable(usual).split('\n');

  test('has a line for each point, those of equal budget together, with the figures of the document', () => {
    expect(table).toHaveLength(1 + 28);
    expect(table[0]?.split(/ {2,}/)).toEqual([
      ...['method', 'budget', 'searches', 'right', 'vs best-of-n', 'adjusted p', 'tokens'],
      ...['$ per 1,000', 'calls', 'ms', 'unused'],
    ]);
    expect(table[11]?.split(/ {2,}/)).toEqual([
      ...['mcts', '2,000 tokens', '200', '75.0 % [59.8, 85.8]', '+15.0 [10.0, 20.0]', '0.060'],
      ...['1,280', '$0.26', '32', '160', '36.0 % †'],
    ]);
  });

  test('is no wider for a name of 300 characters', () => {
    const widest = Math.max(
      ...reportTable(exampleReports['hostile'] ?? usual)
        .split('\n')
        .map((line) => line.length),
    );
    expect(widest).toBeLessThan(180);
  });
});

/** How many bars of a line divide cells. */
function bars(line: string): number {
  return line.replaceAll(/\\./g, '').split('|').length - 1;
}

test('the command repeats all that was asked for, and says what was replayed', () => {
  const command = (more: Partial<BenchReport>) => repeatCommand({ ...usual, ...more });
  const task = { ...usual.task, split: null };
  expect(command({ temperature: 0.7, baseline: 'greedy' })).toMatch(
    / --budgets tokens=1000,2000,8000,32000 --temperature 0.7 --baseline greedy --seeds 5 --seed 0$/,
  );
  const price = { input: 0.1, output: 1.25, tiers: { batch: 0.5 } };
  expect(command({ maxTokens: 256, price })).toMatch(
    / --max-tokens 256 --price-in 0\.1 --price-out 1\.25 --seeds 5 --seed 0$/,
  );
  // It takes no such price, and this one may be known.
  expect(command({ price: { ...price, cachedInput: 0.01 } })).not.toContain('--price');
  const untimed = usual.points.map((point) => ({ ...point, ms: null, cold: null }));
  expect(command({ points: untimed })).toMatch(/ --seed 0 --no-times$/);
  expect(command({ task: { ...task, spec: 'gsm8k:my tests.jsonl' } })).toMatch(
    /^espalier bench --task 'gsm8k:my tests.jsonl' --limit/,
  );
  expect(command({ task: { ...task, name: 'recorded', spec: null, source: 'runs/one' } })).toMatch(
    /^espalier bench --replay runs\/one --limit/,
  );
});

describe('what a document says beside its report', () => {
  test('is the command that was typed, which names prices and addresses too', () => {
    const command = "espalier bench --task mine.jsonl --model 'https://host/v1#m' --price-in 0.1";
    const whole = reportMarkdown(usual, { command });
    expect(whole).toContain(`The command was:\n\n\`\`\`sh\n${command}\n`);
    expect(whole).not.toContain(repeatCommand(usual));
    expect(text).toContain('given in code are not in it:');
    expect(() => reportMarkdown(usual, { comand: command } as object)).toThrow('`command`');
  });

  test('is why it was stopped, before the verdict', () => {
    const whole = reportMarkdown(usual, { stopped: 'Stopped: 3 searches are left.' });
    expect(whole.indexOf('**Stopped: 3 searches are left.**')).toBeLessThan(whole.indexOf('**Yes'));
  });
});

test('options in sentences are code, and nothing else is', () => {
  const warnings = ['Set `--price-in` for `a<b>`, and `fill`.'];
  expect(reportMarkdown({ ...usual, warnings })).toContain(
    '- Set `--price-in` for \\`a\\<b\\>\\`, and `fill`.',
  );
});

test('the legend says that the share left unused is also that of right answers which only an oracle knows', () => {
  expect(reportMarkdown(usual)).toContain(
    '- **unused**: the share of the budget that was left by searches that were not solved, among them those with a right answer where only an oracle knows it;',
  );
});

test('the share left unused is no figure where all searches were solved', () => {
  const solved = usual.points.map((point) => ({ ...point, unused: 0, ends: { solved: 3 } }));
  const row = reportTable({ ...usual, points: solved }).split('\n')[1];
  expect(row).toMatch(/ –$/);
});
