import { expect, test } from 'vitest';
import { inspectLogs } from '../../src/bench/inspect-log.ts';
import { exampleCells, exampleReport, exampleReports } from '../support/bench-reports.ts';

const created = new Date('2026-11-20T10:00:00Z');
const report = exampleReport({ problems: 8, seeds: 2 });
const cells = exampleCells(report);
const logs = inspectLogs(report, cells, created);

test('there is a log for each method at each budget, with a name of its own', () => {
  expect(logs).toHaveLength(28 + 4);
  expect(new Set(logs.map(({ file }) => file)).size).toBe(32);
  expect(logs[13]?.file).toMatch(
    /^2026-11-20T10-00-00_game24-mcts-2000-tokens_[A-Za-z0-9]{22}\.json$/,
  );
  expect(logs[13]?.log).toMatchObject({
    version: 2,
    status: 'success',
    eval: {
      created: '2026-11-20T10:00:00.000Z',
      task: 'game24',
      solver: 'mcts',
      model: 'ollama/qwen3',
      config: { epochs: 2, token_limit: 2_000 },
      dataset: { name: 'Game of 24', samples: 8, sample_ids: report.problems.map(({ id }) => id) },
    },
  });
});

test('an instance is a sample and a search of it an epoch, with its score and what models read and wrote', () => {
  const samples = logs[13]?.log.samples ?? [];
  expect(samples).toHaveLength(16);
  // The fourth of every seven problems fails in the example, whose searches read 403 tokens, 100 of them from a cache.
  expect(samples[6]).toEqual({
    id: 'game-3',
    epoch: 1,
    input: 'game-3',
    target: '',
    scores: { espalier: { value: 'I', explanation: 'It was failed.' } },
    metadata: {
      cluster: 'game-3',
      status: 'failed',
      reason: 'It was failed.',
      stopReason: 'failed',
      isGuided: false,
      calls: 12,
      tokens: 483,
      tree: { nodes: 20, depth: 3, width: 2 },
    },
    model_usage: {
      'ollama/qwen3': {
        input_tokens: 303,
        output_tokens: 80,
        total_tokens: 483,
        input_tokens_cache_read: 100,
        total_cost: 0.004,
      },
    },
    total_time: 0.253,
  });
  expect(samples[7]).toMatchObject({ id: 'game-3', epoch: 2 });
  expect(samples[6]).not.toHaveProperty('output');
  expect(samples[0]).toMatchObject({
    scores: { espalier: { value: 'C' } },
    output: { completion: '24', choices: [{ message: { role: 'assistant', content: '24' } }] },
  });
});

test('the sums are those of all its searches', () => {
  // 2 · Σ (400 + place) over 8 places = 6,456, of which 1,600 are from a cache; 2 · 0.001 · (1 + … + 8) = 0.072 dollars.
  expect(logs[13]?.log.stats).toEqual({
    model_usage: {
      'ollama/qwen3': {
        input_tokens: 4_856,
        output_tokens: 1_280,
        total_tokens: 7_736,
        input_tokens_cache_read: 1_600,
        total_cost: expect.closeTo(0.072, 10),
      },
    },
  });
});

test('what was guided is no accuracy, and what nobody scored has no score', () => {
  expect(logs[28]?.log.results).toMatchObject({
    scores: [{ metrics: { pass_at_k: { value: report.guided[0]?.accuracy } } }],
  });
  const unscored = exampleReport({ isScored: false, problems: 3 });
  const [log] = inspectLogs(unscored, exampleCells(unscored), created);
  expect(log?.log.results).toMatchObject({ total_samples: 15, scores: [] });
  expect(log?.log.samples[0]).toMatchObject({ scores: {} });
});

test('a name of others is no path', () => {
  const hostile = exampleReports['hostile'] ?? report;
  const files = inspectLogs(hostile, [], created).map(({ file }) => file);
  expect(files[12]).toMatch(
    /^2026-11-20T10-00-00_touch-tmp-x-quoted-script-alert-1-script-1000-tokens_/,
  );
  expect(files.filter((file) => !/^[\w-]{1,130}\.json$/.test(file))).toEqual([]);
});
