import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import {
  auditDataset,
  formats,
  mapRow,
  pairRules,
  preferences,
  readRows,
  rlRules,
  stepLabels,
  uploadDataset,
  writeDataset,
} from '../../src/data/index.ts';
import { treeToJson } from '../../src/tree/serialize.ts';
import { SearchTree } from '../../src/tree/tree.ts';
import { preference } from './formats-rows.ts';

/** For callers without types. */
const any = (value: unknown) => value as never;
const config = { rule: pairRules.agentQ(), format: formats.trl() };
const write = (options: object) =>
  writeDataset({ out: 'unused', problems: [], configs: [config], ...options });
const text = { name: 'own', kind: 'preference', columns: { a: 'string' } } as const;
const form = (map: unknown) => mapRow({ ...text, map: any(map) }).forms.preference;

const tree = new SearchTree('', { environment: 'none', seed: 0 });
const notation = { prompt: () => [], format: String };
const writeOwn = (rows: unknown) =>
  write({
    out: join(mkdtempSync(join(tmpdir(), 'espalier-wrong-')), 'own'),
    problems: [[{ problem: 'p', tree, notation }]],
    configs: [{ ...config, rule: { name: 'own', kind: 'preference', rows: () => any(rows) } }],
  });
const withProvenance = (got: string) =>
  `Expected each row of the rule \`own\` to have the \`kind\` \`preference\`, a \`prompt\` and a \`provenance\`, got ${got}.`;

test.each<readonly [string, () => unknown, string]>([
  ['out', () => write({ out: 5 }), 'Expected `out` to be a text, got `5`.'],
  [
    'problems',
    () => write({ problems: 5 }),
    'Expected `problems` to be the trees, as an iterable of arrays, got `5`.',
  ],
  [
    'a problem',
    () => write({ problems: [5] }),
    'Expected each entry of `problems` to be the list of the trees of one problem, such as `[{ problem, tree, notation }]`, got `5`.',
  ],
  [
    'problems that are trees',
    () => write({ problems: [{ problem: 'p' }] }),
    'Expected each entry of `problems` to be the list of the trees of one problem, such as `[{ problem, tree, notation }]`, got an object.',
  ],
  [
    'splits in a list',
    () => write({ splits: [0.8, 0.2] }),
    'Expected `splits` to be shares by name, such as `{ train: 0.8, test: 0.2 }`, got an array of 2.',
  ],
  ...[
    pairRules.agentQ(),
    ...Object.values(stepLabels).map((make) => make()),
    rlRules.prompts(),
  ].map(
    (rule) =>
      [
        `the trees of ${rule.name}`,
        () => rule.rows(any({ problem: 'p' })),
        'Expected `trees` to be an array, such as `[{ problem, tree, notation }]`, got an object.',
      ] as const,
  ),
  [
    'a result in the place of its tree',
    () => pairRules.agentQ().rows([any({ problem: 'p', tree: { tree } })]),
    'Expected `trees[0].tree` to be a search tree (`tree` of a result, or `treeFromJson` of what was saved), got an object.',
  ],
  [
    'a tree as JSON',
    () => pairRules.agentQ().rows([any({ problem: 'p', tree: treeToJson(tree) })]),
    'Expected `trees[0].tree` to be a search tree (`tree` of a result, or `treeFromJson` of what was saved), got an object.',
  ],
  [
    'a tree without its notation',
    () => stepLabels.pav().rows([any({ problem: 'p', tree })]),
    'Expected `trees[0].notation` to be an object with a method `prompt`, got `undefined`.',
  ],
  [
    'the name of a pair rule',
    () => preferences(any({})),
    'Expected `name` to be a text that is not empty, got `undefined`.',
  ],
  [
    'the score of a pair rule',
    () => preferences(any({ name: 'own', nodes: 'all', siblings: 'best-vs-worst', score: 'q' })),
    'Expected `score` to be a function, got `"q"`.',
  ],
  ['rows that are none', () => writeOwn([{}]), withProvenance('an object')],
  [
    'rows that come from nowhere',
    () => writeOwn([{ kind: 'preference', prompt: [] }]),
    withProvenance('none'),
  ],
  [
    'rows in no list',
    () => writeOwn(Promise.resolve([])),
    'Expected `rows` of the rule `own` to return an iterable of rows, got a promise.',
  ],
  ['configs', () => write({ configs: 5 }), 'Expected `configs` to be an array, got `5`.'],
  [
    'a rule not called',
    () => write({ configs: [{ ...config, rule: pairRules.agentQ }] }),
    'Expected `configs[0].rule` to be an object with a method `rows`, got a function. Call it, as in `rule: pairRules.agentQ()`.',
  ],
  [
    'the name of a rule',
    () => write({ configs: [{ ...config, rule: 'agent-q' }] }),
    'Expected `configs[0].rule` to be an object that a function makes, got `"agent-q"`. Did you mean `pairRules.agentQ()`?',
  ],
  [
    'the name of a format',
    () => write({ configs: [{ ...config, format: 'trl' }] }),
    'Expected `configs[0].format` to be an object that a function makes, got `"trl"`. Did you mean `formats.trl()`?',
  ],
  [
    'a format not called',
    () => write({ configs: [{ ...config, format: formats.trl }] }),
    'Expected `configs[0].format` to be an object, got a function. Call it, as in `format: formats.trl()`.',
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
