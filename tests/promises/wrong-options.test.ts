import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { rewardFrom } from '../../src/backends/index.ts';
import { llama } from '../../src/backends/llama/index.ts';
import { compare } from '../../src/bench/index.ts';
import {
  BudgetPool,
  memoryJournal,
  openJournal,
  withCache,
  withRetry,
} from '../../src/calls/index.ts';
import { formats, pairRules, sftRules, stepLabels } from '../../src/data/index.ts';
import { fromWorld } from '../../src/environments/index.ts';
import {
  byMinMax,
  byParentAndSiblings,
  completedByMixValue,
  descend,
  flat,
  gumbel,
  leastTried,
  maxBackup,
  maxChild,
  meanBackup,
  mixedWithEvaluation,
  notesOf,
  puct,
  robustChild,
  SearchTree,
  search,
  treeToJson,
  uct,
  virtualLoss,
} from '../../src/index.ts';
import { jsonLinesStore } from '../../src/memory/index.ts';
import { toolChainStar } from '../../src/methods/index.ts';
import {
  callTools,
  fromModel,
  planStep,
  selfRefine,
  subQuestion,
} from '../../src/policies/index.ts';
import { generate, openRun, readRun } from '../../src/runs/index.ts';
import { scriptedModel } from '../../src/testing/index.ts';
import {
  criticRanking,
  debate,
  decision,
  judge,
  pairwise,
  selfConsistency,
  selfEval,
} from '../../src/values/index.ts';

/** What callers without types may write. */
type Loose = never;
const benchmark = {
  task: { name: 'a', title: 'A', instances: () => [] },
  methods: [],
  budgets: [{ unit: 'calls', limit: 1 }],
  out: 'unused',
};
const many = {
  run: { saveTree() {}, journalOf() {} },
  problems: [],
  plan: () => ({}),
};
const folder = mkdtempSync(join(tmpdir(), 'espalier-wrong-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

type Refused = readonly (readonly [text: string, call: () => unknown, sentence: string])[];

const loose = (value: unknown) => value as Loose;

const called = (rule: unknown, ...given: readonly unknown[]) =>
  (rule as (...given: readonly unknown[]) => unknown)(...given);

async function expectRefused(call: () => unknown, sentence: string): Promise<void> {
  const refused = expect(async () => await call()).rejects;
  await refused.toThrow(sentence);
  await refused.toMatchObject({ code: 'usage' });
}

describe('a rule of the tree', () => {
  const refused: Refused = [
    ...[puct, uct].flatMap((rule): Refused => {
      const name = rule.name;
      const withOption = (option: object) => () => rule(loose(option));
      return [
        [`${name} qtransform: 'x'`, withOption({ qtransform: 'x' }), '`qtransform` to be a func'],
        [`${name} unvisited: 'x'`, withOption({ unvisited: 'x' }), '`unvisited` to be a function'],
        [
          `${name} inFlight: 'unobserved'`,
          withOption({ inFlight: 'unobserved' }),
          '`inFlight` to be an object with a method `visits`, got `"unobserved"`.',
        ],
        [
          `${name} inFlight: virtualLoss`,
          withOption({ inFlight: virtualLoss }),
          'got a function. Call it, as in `inFlight: virtualLoss()`.',
        ],
      ];
    }),
    ['puct parentVisits: 5', () => puct(loose({ parentVisits: 5 })), '`parentVisits` to be a func'],
    ['byParentAndSiblings()', () => called(byParentAndSiblings), 'not `byParentAndSiblings()`'],
    ['meanBackup()', () => called(meanBackup), 'write `meanBackup`, not `meanBackup()`'],
    ['maxBackup({})', () => called(maxBackup, {}), 'write `maxBackup`, not `maxBackup()`'],
    ['byMinMax min', () => byMinMax(loose({ min: 'a', max: {} })), '`min` to be a finite number'],
    ['byMinMax order', () => byMinMax({ min: 1, max: 0 }), '`max` to be above `min`, which is `1`'],
    [
      "mixedWithEvaluation('0.5')",
      () => mixedWithEvaluation(loose('0.5')),
      '`weight` to be a finite number from 0 to 1, got `"0.5"`',
    ],
    ['scored', () => completedByMixValue(loose({ scored: 'no' })), '`scored` to be true or false'],
    ['rescale', () => completedByMixValue(loose({ rescale: 0 })), '`rescale` to be true or false'],
    ['gumbel scored', () => gumbel(loose({ scored: 'no' })), '`scored` to be true or false'],
    ['revisit', () => descend(uct(), loose({ revisit: 'no' })), '`revisit` to be true or false'],
    ['ties', () => flat(() => 0, loose({ ties: 'rand' })), "`ties` to be 'first' or 'random'"],
    ['widening', () => descend(uct(), loose({ widening: 3 })), '`widening` to be a function'],
  ];
  test.each(refused)('refuses %s', async (_text, call, sentence) => {
    await expectRefused(call, sentence);
  });
});

test('a search refuses `retryFailed` that is neither true nor false', async () => {
  const environment = { name: 'one', reset: () => ({ state: 0 }), step: () => ({ state: 1 }) };
  const options = { policy: () => [{ action: 1 }], evaluator: () => 0.5, retryFailed: 'no' };
  await expectRefused(
    () => search(environment, loose(options)),
    '`retryFailed` to be true or false, got `"no"`',
  );
});

describe('a part that asks a model', () => {
  const model = scriptedModel({ answer: () => 'a' });
  const decider = { ...model, decide: async () => ({ answers: {} }) };
  const of = (make: unknown, option: object) => () => called(make, { model, ...option });
  const policies = { callTools, fromModel, planStep, selfRefine, subQuestion };
  const agreeing = (option: object) =>
    called(selfConsistency, { key: (text: string) => text, ...option });
  const judges = { agreeing, criticRanking, debate, judge, pairwise, selfEval };
  const all = { ...policies, ...judges, decision };
  const refused: Refused = [
    ...Object.entries(policies).flatMap(
      ([name, make]): Refused => [
        [`${name} stop: 5`, of(make, { stop: 5 }), '`stop` to be an array, got `5`'],
        [`${name} stop: {}`, of(make, { stop: {} }), '`stop` to be an array, got an object'],
        [`${name} stop: [null]`, of(make, { stop: [null] }), '`stop[0]` to be a text, got `null`'],
      ],
    ),
    ...Object.entries(all).flatMap(([name, make]): Refused => {
      const option = name === 'decision' ? { model: decider } : {};
      return [null, 5, {}].map((promptParts) => [
        `${name} promptParts: ${JSON.stringify(promptParts)}`,
        of(make, { ...option, promptParts }),
        '`promptParts` to be an array, got ',
      ]);
    }),
    ['promptParts: [null]', of(judge, { promptParts: [null] }), 'a method `text`, got `null`'],
    ['debaterParts: null', of(debate, { debaterParts: null }), '`debaterParts` to be an array'],
    ...Object.entries(all)
      .filter(([name]) => name !== 'callTools')
      .map(([name, make]): Refused[number] => {
        const option = name === 'decision' ? { model: decider } : {};
        return [`${name} prompts: null`, of(make, { ...option, prompts: null }), '`prompts` to be'];
      }),
    ...Object.entries({ criticRanking, judge, pairwise }).flatMap(
      ([name, make]): Refused => [
        [`${name} rubric: {}`, of(make, { rubric: {} }), '`rubric` to be a text, got an object'],
        [`${name} reason: 'no'`, of(make, { reason: 'no' }), '`reason` to be true or false'],
      ],
    ),
    ['scale: null', of(judge, { scale: null }), '`scale` to be two or more words'],
    ['range: null', of(judge, { form: 'number', range: null }), '`range` to be an array'],
    ['codes: null', of(judge, { form: 'codes', codes: null }), '`codes` to be two or more'],
    ['meanings: null', of(judge, { form: 'codes', meanings: null }), '`meanings` to be an object'],
    ['criteria: [null]', of(judge, { form: 'criteria', criteria: [null] }), '`criteria` to be one'],
    ['samples: null', of(planStep, { samples: null }), 'options of `samples` to be an object'],
    ['judgeModel: null', of(toolChainStar, { judgeModel: null }), '`judgeModel` to be an object'],
    ['breaker: null', () => withRetry(loose({ breaker: null })), 'of `breaker` to be an object'],
    ['random: 5', () => withRetry(loose({ random: 5 })), '`random` to be an object with a method'],
    ['maxEntries', () => withCache({ maxEntries: 1e308 }), '`maxEntries` to be an integer from 1'],
    ['llama: null', () => llama(loose({ llama: null })), '`llama` to be an object, got `null`'],
    ...[null, ['a', 'b']].map((range): Refused[number] => [
      `rewardFrom range: ${range}`,
      () => rewardFrom(loose({ name: 'mine', score: () => [1], range })),
      '`range` to be ',
    ]),
  ];
  test.each(refused)('refuses %s', async (_text, call, sentence) => {
    await expectRefused(call, sentence);
  });
});

const own = () => new SearchTree('', { environment: 'none', seed: 0 });

describe('a method', () => {
  test.each([
    [{ type: 'note' }, '`line` to be a line of a journal (field `type`: '],
    [{ type: 'result', call: 0 }, '`line` to be a line of a journal (field `'],
    [undefined, '`line` to be a line of a journal (field ``: '],
  ])('of a journal stores no %j, and the journal stays readable', async (line, sentence) => {
    using journal = openJournal(join(folder, 'journal.jsonl'));
    journal.append({ type: 'journal', version: 5, run: {} });
    await expectRefused(() => journal.append(loose(line)), sentence);
    expect([...journal.lines].map(({ type }) => type)).toContain('journal');
  });

  test.each([null, 'x'])('of a journal in memory stores no %j', async (line) => {
    const journal = memoryJournal();
    await expectRefused(() => journal.append(loose(line)), '`line` to be an object');
    await expectRefused(() => memoryJournal(loose([line])), '`lines[0]` to be an object');
    expect(journal.lines).toEqual([]);
  });

  test.each([null, 5])('of a result resumes with no %j', async (options) => {
    const environment = { name: 'one', reset: () => ({ state: 0 }), step: () => ({ state: 1 }) };
    const plan = { policy: () => [{ action: 1 }], evaluator: () => 0.5 };
    const result = await search(environment, { ...plan, budget: { simulations: 1 } });
    await expectRefused(() => result.resume(loose(options)), '`options` to be an object');
  });

  test.each(['x', undefined])('of a pool prepays no %j', async (journal) => {
    const pool = new BudgetPool({ calls: 1 });
    await expectRefused(() => pool.prepay(loose(journal)), '`journal` to be an object');
  });

  test.each([
    ['saveTree', '`entry` to be an object'],
    ['saveOutcome', '`outcome` to be an object'],
    ['writeProblems', '`problems` to be an array'],
    ['writeRun', '`run` to be an object'],
    ['writeReport', '`report` to be an object'],
    ['journalOf', '`problem` to be a text'],
  ] as const)('of a run folder, %s(), is refused', async (method, sentence) => {
    using run = openRun(join(folder, method));
    await expectRefused(() => called(run[method]), sentence);
  });

  const place = { problem: 'p', attempt: 0 };
  test.each([
    ['saveTree', {}, '`entry` to be one that can be read again (field `problem`: '],
    ['saveTree', { ...place, step: 0 }, '(field `tree`: expected a tree)'],
    ['saveTree', { ...place, step: 0, tree: own() }, '(field `tree`: expected a tree)'],
    ['saveTree', { ...place, tree: treeToJson(own()) }, '(field `step`: '],
    ['saveOutcome', place, '`outcome` to be one that can be read again (field `status`: '],
    ['saveOutcome', { ...place, status: 'failed' }, '(field `reason`: '],
  ] as const)('of a run folder, %s(%j), is refused and writes nothing', async (...wrong) => {
    const [method, entry, sentence] = wrong;
    const path = join(folder, 'incomplete');
    using run = openRun(path);
    run.writeRun({ command: 'search' });
    await expectRefused(() => called(run[method], entry), sentence);
    const { trees, outcomes } = readRun(path);
    expect([trees, outcomes]).toEqual([[], []]);
  });
});

describe("a text in place of true or false, such as 'no',", () => {
  const world = loose(() => ({}));
  const refused: readonly (readonly [option: string, call: (given: object) => unknown])[] = [
    ['fsync', (given) => openJournal(join(folder, 'fsync.jsonl'), given)],
    ['fsync', (given) => jsonLinesStore(join(folder, 'fsync.jsonl'), given)],
    ['charged', withCache],
    ['paced', withCache],
    ['paced', (given) => compare(loose({ ...benchmark, ...given }))],
    ['trees', (given) => generate(loose({ ...many, ...given }))],
    ['rightOnly', pairRules.mctsDpo],
    ['onlyRight', sftRules.traversals],
    ['oracleGuided', sftRules.refiner],
    ['oracleGuided', sftRules.judgements],
    ['untilError', stepLabels.prm800k],
    ['provenance', formats.verl],
    ['incremental', (given) => rewardFrom({ name: 'a', score: () => [1], ...given })],
    ['restores', (given) => fromWorld(world, { name: 'a', instances: 1, ...given })],
  ];

  test.each(refused)('is refused as `%s`', async (option, call) => {
    const sentence = `Expected \`${option}\` to be true or false, got \`"no"\`.`;
    await expectRefused(() => call({ [option]: 'no' }), sentence);
  });
});

describe('a tree', () => {
  const tree = own();
  const other = own().root;

  test.each([
    ['score', [null], '`node` to be a node of a tree'],
    ['score', [other], '`node` to belong to this tree'],
    ['original', [undefined], '`node` to be a node of a tree'],
    ['original', [other], '`node` to belong to this tree'],
    ['add', [tree.root], '`children` to be an array'],
    ['add', [tree.root, [null]], '`children[0]` to be an object'],
    ['realise', [tree.root], '`transition` to be an object'],
    ['annotate', [null, {}], '`node` to be a node of a tree'],
    ['note', [null, 'own', {}], '`node` to be a node of a tree'],
    ['conclude', [null], '`conclusion` to be an object'],
  ] as const)('whose %s() is called wrongly refuses', async (method, given, sentence) => {
    await expectRefused(() => called(tree[method].bind(tree), ...given), sentence);
  });

  test.each([null, {}])('has no notes at %j', async (node) => {
    const notes = notesOf('own');
    await expectRefused(() => notes.at(loose(node)), '`node` to be a node of a tree');
    await expectRefused(() => notes.write(loose(node), tree.root, {}), 'method `note`');
  });

  test.each([maxChild, robustChild, leastTried])('has no child null: %o', async (choose) => {
    await expectRefused(
      () => called(choose, [null]),
      'Expected `nodes` to be nodes of a tree, got `null`.',
    );
  });
});
