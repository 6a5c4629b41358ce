import { expect, test } from 'vitest';
import {
  auditDataset,
  formats,
  mapRow,
  pairRules,
  readRows,
  rlRules,
  uploadDataset,
  writeDataset,
} from '../../src/data/index.ts';
import { preference } from './formats-rows.ts';

/** For callers without types. */
const any = (value: unknown) => value as never;
const config = { rule: pairRules.agentQ(), format: formats.trl() };
const write = (options: object) =>
  writeDataset({ out: 'unused', problems: [], configs: [config], ...options });
const text = { name: 'own', kind: 'preference', columns: { a: 'string' } } as const;
const form = (map: unknown) => mapRow({ ...text, map: any(map) }).forms.preference;

test.each<readonly [string, () => unknown, string]>([
  ['out', () => write({ out: 5 }), 'Expected `out` to be a text, got `5`.'],
  [
    'problems',
    () => write({ problems: 5 }),
    'Expected `problems` to be the trees, as an iterable of arrays, got `5`.',
  ],
  ['a problem', () => write({ problems: [5] }), 'Expected `problems` to be an array, got `5`.'],
  ['configs', () => write({ configs: 5 }), 'Expected `configs` to be an array, got `5`.'],
  [
    'a rule not called',
    () => write({ configs: [{ ...config, rule: pairRules.agentQ }] }),
    'Expected `configs[0].rule` to be a rule: call the function that makes it, got a function.',
  ],
  [
    'the name of a rule',
    () => write({ configs: [{ ...config, rule: 'agent-q' }] }),
    'Expected `configs[0].rule` to be an object with a method `rows`, got `"agent-q"`.',
  ],
  [
    'a format not called',
    () => write({ configs: [{ ...config, format: formats.trl }] }),
    'Expected `configs[0].format` to be a format: call the function that makes it, got a function.',
  ],
  [
    'allProblems',
    () => write({ allProblems: ['a', 5] }),
    'Expected `allProblems` to be the ids of all problems, got `5`.',
  ],
  ['auditDataset', () => auditDataset(any(5)), 'Expected `path` to be a text, got `5`.'],
  ['readRows', () => readRows(any(5)).next(), 'Expected `path` to be a text, got `5`.'],
  [
    'a token',
    () => uploadDataset({ folder: '.', repo: 'a/b', token: any(undefined) }),
    'Expected `token` to be an access token, got undefined: is HF_TOKEN set?',
  ],
  ['render', () => formats.trl({ render: any(5) }), 'Expected `render` to be a function, got `5`.'],
  [
    'endToken',
    () => formats.trl({ endToken: any(5) }),
    'Expected `endToken` to be a text, got `5`.',
  ],
  [
    'a name of a path',
    () => mapRow({ ...text, name: '../x', map: () => undefined }),
    'Expected `name` to be letters, digits, `-` and `_`, got `"../x"`.',
  ],
  [
    'a type',
    () => mapRow({ ...text, columns: { a: any({ list: 'text' }) }, map: any(() => undefined) }),
    'Expected `columns.a` to be boolean, float, int, json, string, or { list }, { optional } or { struct }, got `"text"`.',
  ],
  [
    'a map that throws',
    () => form(() => (undefined as unknown as { x: number }).x).write(preference()),
    "`map` of the form `own` failed on the row of p1, nodes 0 1 2: Cannot read properties of undefined (reading 'x')",
  ],
  [
    'a map that makes no object',
    () => form(() => 5).write(preference()),
    'Expected `map(the row of p1, nodes 0 1 2)` to be an object or undefined, got `5`.',
  ],
  [
    'estimators',
    () => rlRules.treeAdvantages({ estimators: any('grpo') }),
    'Expected `estimators` to be an array, got `"grpo"`.',
  ],
  [
    'epsilon',
    () => rlRules.groups({ epsilon: 0 }),
    'Expected `epsilon` to be a finite number above 0, got `0`.',
  ],
])('%s of the wrong type is a usage error in one sentence', async (_, act, message) => {
  const run = async () => await act();
  await expect(run()).rejects.toThrow(expect.objectContaining({ code: 'usage', message }));
});
