import { describe, expect, test } from 'vitest';
import {
  aiSdk,
  anthropic,
  decisions,
  decisionsFromModel,
  decisionsFromScores,
  embeddings,
  languageModel,
  logprobReward,
  openai,
  openaiCompatible,
  recipes,
  replay,
  rewardFrom,
  sglangReward,
  systemOne,
  vllmReward,
} from '../../src/backends/index.ts';
import { llama } from '../../src/backends/llama/index.ts';
import { tiny } from '../../src/backends/tiny/index.ts';
import {
  BudgetPool,
  memoryJournal,
  openJournal,
  withCache,
  withLimit,
  withRecording,
  withRetry,
  withTelemetry,
} from '../../src/calls/index.ts';
import {
  auditDataset,
  formats,
  jinjaPrompt,
  mapRow,
  pairRules,
  pairScores,
  preferences,
  readers,
  rlRules,
  sftRules,
  stepLabels,
  unpairedRules,
  uploadDataset,
  verifySplices,
  writeDataset,
} from '../../src/data/index.ts';
import {
  answerOracle,
  blocksworld,
  countdown,
  gameOf24,
  isSameAnswer,
  notationFor,
  reasoning,
  slidingTiles,
} from '../../src/environments/index.ts';
import {
  abMcts,
  adaptiveConsistency,
  astar,
  beam,
  bestFirst,
  bestOfN,
  budgeted,
  byMinMax,
  completedByMixValue,
  depthFirst,
  descend,
  type Environment,
  esc,
  flat,
  gumbel,
  lats,
  mcts,
  progressiveWidening,
  puct,
  renderTree,
  search,
  solved,
  stepwise,
  summarise,
  tdBackup,
  thompson,
  uct,
  valueWidening,
  virtualLoss,
  visitWeighted,
  withReflection,
} from '../../src/index.ts';
import {
  bm25,
  byEmbedding,
  contrastive,
  inMemoryStore,
  jsonLinesStore,
  lessons,
  memory,
  sentenceEmbeddings,
} from '../../src/memory/index.ts';
import { agentQ, methods } from '../../src/methods/index.ts';
import {
  fromModel,
  greedy,
  introspective,
  journaled,
  mostFrequent,
  multiAction,
  multiModel,
  planStep,
  selfRefine,
  sequenceProbability,
  siblings,
  subQuestion,
} from '../../src/policies/index.ts';
import { generate } from '../../src/runs/index.ts';
import {
  banditTree,
  chainTask,
  describeEvaluator,
  emulator,
  manualClock,
  plainContext,
  scriptedModel,
  syntheticTree,
  tableMdp,
} from '../../src/testing/index.ts';
import {
  criticRanking,
  debate,
  ensemble,
  heuristic,
  hybridWeight,
  judge,
  orm,
  prm,
  progress,
  reliability,
  rollout,
  selfConsistency,
  selfEval,
  staged,
  verifier,
  withSimulation,
} from '../../src/values/index.ts';

const model = scriptedModel({ answer: () => 'a' });
const memories = memory({ store: inMemoryStore() });
const policy = fromModel({ model });
const half = heuristic(() => 0.5);
const slip = { notation: {} } as object;
const { random } = plainContext();
const baseUrl = 'http://localhost:1/v1';
const ofSdk = { specificationVersion: 'v3', provider: 'a', modelId: 'a', doGenerate() {} } as never;

/** Each part with an option that it once had, or never. */
const parts: Readonly<Record<string, () => unknown>> = {
  abMcts: () => abMcts(slip),
  astar: () => astar(slip),
  adaptiveConsistency: () => adaptiveConsistency(slip),
  beam: () => beam(slip),
  bestFirst: () => bestFirst(slip),
  bestOfN: () => bestOfN(slip),
  budgeted: () => budgeted(slip),
  depthFirst: () => depthFirst(slip),
  esc: () => esc(slip),
  gumbel: () => gumbel(slip),
  lats: () => lats(slip),
  mcts: () => mcts(slip),
  stepwise: () => stepwise(mcts(), { simulations: 1, ...slip }),
  withReflection: () => withReflection(mcts(), { reflect: async () => {}, ...slip }),
  fromModel: () => fromModel({ model, ...slip }),
  introspective: () => introspective({ model, ...slip }),
  siblings: () => siblings(slip),
  multiAction: () => multiAction({ model, ...slip }),
  multiModel: () => multiModel({ arms: { one: policy }, ...slip }),
  mostFrequent: () => mostFrequent(policy, slip),
  planStep: () => planStep({ model, ...slip }),
  selfRefine: () => selfRefine({ model, ...slip }),
  subQuestion: () => subQuestion({ model, ...slip }),
  greedy: () => greedy({ actions: () => [], score: () => 0, ...slip }),
  judge: () => judge({ model, ...slip }),
  debate: () => debate({ model, ...slip }),
  selfEval: () => selfEval({ model, ...slip }),
  criticRanking: () => criticRanking({ model, ...slip }),
  selfConsistency: () => selfConsistency({ policy, ...slip }),
  prm: () => prm({ model: {} as never, ...slip }),
  orm: () => orm({ model: {} as never, ...slip }),
  progress: () => progress({ value: half, ...slip }),
  rollout: () => rollout({ policy, ...slip }),
  withSimulation: () => withSimulation(half, half, slip),
  ensemble: () => ensemble({ parts: [], ...slip }),
  staged: () =>
    staged({
      fast: { name: 'a', evaluator: half },
      accurate: { name: 'b', evaluator: half },
      ...slip,
    }),
  lessons: () => lessons({ memory: memories, kind: 'policy', ...slip }),
  contrastive: () => contrastive({ model, memory: memories, ...slip }),
  byMinMax: () => byMinMax({ min: 0, max: 1, ...slip }),
  completedByMixValue: () => completedByMixValue(slip),
  descend: () => descend(uct(), slip),
  flat: () => flat(() => 0, slip),
  progressiveWidening: () => progressiveWidening(slip),
  puct: () => puct(slip),
  renderTree: () => renderTree({} as never, slip),
  solved: () => solved(slip),
  summarise: () => summarise({} as never, slip),
  tdBackup: () => tdBackup(slip),
  thompson: () => thompson(slip),
  uct: () => uct(slip),
  valueWidening: () => valueWidening(slip),
  virtualLoss: () => virtualLoss(slip),
  visitWeighted: () => visitWeighted(slip),
  'BudgetPool.charge': () => new BudgetPool({}, slip),
  openJournal: () => openJournal('unused.jsonl', slip),
  withCache: () => withCache(slip),
  withLimit: () => withLimit({ concurrency: 1, ...slip }),
  withRecording: () => withRecording({ journal: memoryJournal(), ...slip }),
  withRetry: () => withRetry(slip),
  withTelemetry: () => withTelemetry({ tracer: {} as never, ...slip }),
  journaled: () => journaled(policy, { name: 'a', ...slip } as never),
  sequenceProbability: () => sequenceProbability(slip),
  reliability: () => reliability([], slip),
  hybridWeight: () => hybridWeight(slip),
  aiSdk: () => aiSdk(ofSdk, slip),
  anthropic: () => anthropic({ model: 'a', ...slip }),
  decisions: () => decisions({ model: 'a', ...slip }),
  decisionsFromModel: () => decisionsFromModel({ model, ...slip }),
  decisionsFromScores: () => decisionsFromScores({ model: 'a', server: 'vllm', ...slip }),
  embeddings: () => embeddings({ model: 'a', baseUrl, ...slip }),
  llama: () => llama({ model: 'a.gguf', ...slip }),
  logprobReward: () =>
    logprobReward({ model: 'a', baseUrl, recipe: recipes.mathShepherd, ...slip }),
  openai: () => openai({ model: 'a', ...slip }),
  openaiCompatible: () => openaiCompatible({ baseUrl, ...slip }),
  replay: () => replay({ journal: [], ...slip }),
  rewardFrom: () => rewardFrom({ name: 'a', score: () => [1], ...slip }),
  sglangReward: () => sglangReward({ model: 'a', recipe: recipes.qwenMathPrm, ...slip }),
  systemOne: () => systemOne(slip),
  tiny: () => tiny(slip),
  vllmReward: () => vllmReward({ model: 'a', recipe: recipes.qwenMathPrm, ...slip }),
  answerOracle: () => answerOracle('1', slip),
  isSameAnswer: () => isSameAnswer('1', '1', slip),
  reasoning: () => reasoning({ question: 'a', ...slip }),
  'blocksworld.generate': () => blocksworld.generate(random, slip),
  'countdown.generate': () => countdown.generate(random, slip),
  'gameOf24.generate': () => gameOf24.generate(random, slip),
  'slidingTiles.generate': () => slidingTiles.generate(random, slip),
  game24: () => gameOf24.environment({ numbers: [1, 2], ...slip }),
  bm25: () => bm25(slip),
  byEmbedding: () => byEmbedding({ embed: async () => ({}) } as never, slip),
  jsonLinesStore: () => jsonLinesStore('unused.jsonl', slip),
  memory: () => memory({ store: inMemoryStore(), ...slip }),
  sentenceEmbeddings: () => sentenceEmbeddings(slip),
  banditTree: () => banditTree(slip),
  chainTask: () => chainTask(slip),
  manualClock: () => manualClock(slip),
  plainContext: () => plainContext(slip),
  scriptedModel: () => scriptedModel({ answer: () => 'a', ...slip }),
  syntheticTree: () => syntheticTree(slip),
  tableMdp: () => tableMdp({}, slip),
  jinjaPrompt: () => jinjaPrompt('', slip),
  mapRow: () => mapRow({ name: 'a', kind: 'sft', columns: {}, map: () => ({}), ...slip }),
  preferences: () =>
    preferences({ name: 'a', nodes: 'all', siblings: 'best-vs-all', score: pairScores.q, ...slip }),
  generate: () => generate({ run: {}, problems: [], plan: () => ({}), ...slip } as never),
  sequenceClassifier: () => recipes.sequenceClassifier(slip),
  notationFor: () => notationFor(reasoning({ question: 'a' }), slip),
  readToolBench: () => readers.readToolBench('{}', { problem: 'a', ...slip }),
  describeEvaluator: () => describeEvaluator('a', slip as never, { describe, test }),
  rewardModel: () => chainTask().rewardModel(slip),
};

const part = { name: 'a', evaluator: half, ...slip };
const price = { input: 1, output: 1, ...slip };

/** Options within options. */
const inner: readonly (readonly [name: string, make: () => unknown])[] = [
  ['breaker', () => withRetry({ breaker: slip })],
  ['breaker', () => openai({ model: 'a', apiKey: 'a', retry: { breaker: slip } })],
  ['price', () => openaiCompatible({ baseUrl, price })],
  ['price', () => aiSdk(ofSdk, { price })],
  ['price', () => embeddings({ model: 'a', baseUrl, price })],
  ['capabilities', () => openaiCompatible({ baseUrl, capabilities: slip })],
  ['capabilities', () => aiSdk(ofSdk, { capabilities: slip })],
  ['capabilities', () => replay({ journal: [], capabilities: slip })],
  ['capabilities', () => scriptedModel({ answer: () => 'a', capabilities: slip })],
  ['parts[0]', () => ensemble({ parts: [part] })],
  ['[fast, accurate][1]', () => staged({ fast: { name: 'b', evaluator: half }, accurate: part })],
  ['card', () => writeDataset({ out: 'unused', problems: [], configs: [], card: slip })],
  ['configs[0]', () => writeDataset({ out: 'unused', problems: [], configs: [slip as never] })],
  ["prices['a']", () => search(bare, { policy, evaluator: half, prices: { a: price } })],
  ['method', () => search(bare, { method: { ...agentQ({ model }), ...slip } })],
];

/** The same of functions that answer with a promise, or with rows as they are asked for. */
const awaited: Readonly<Record<string, () => unknown>> = {
  auditDataset: () => auditDataset('unused', slip),
  emulator: () => emulator({ dialect: 'vllm', ...slip }),
  languageModel: () => languageModel('tiny', slip),
  uploadDataset: () => uploadDataset({ folder: 'a', repo: 'a/b', token: 'a', ...slip }),
  verifySplices: () => verifySplices([], { replay: () => true, ...slip }),
  writeDataset: () => writeDataset({ out: 'unused', problems: [], configs: [], ...slip }),
};

describe('an option that nobody knows', () => {
  test.each(Object.entries(awaited))('is refused by %s too', async (name, make) => {
    await expect((async () => make())()).rejects.toThrow(
      `\`${name}\` has no option \`notation\`. `,
    );
  });

  test.each(inner)('is refused in `%s`', async (name, make) => {
    await expect((async () => make())()).rejects.toThrow(
      `\`${name}\` has no option \`notation\`. `,
    );
  });

  test.each(Object.entries(parts))('is refused by %s', (name, make) => {
    expect(make).toThrow(`\`${name}\` has no option \`notation\`. `);
  });

  test.each(methods.map((entry) => [entry.name, entry] as const))(
    'is refused by the method %s',
    (_name, { create }) => {
      expect(() => create({ model, maxTokns: 3 } as never)).toThrow(
        / has no option `maxTokns`\. Did you mean `maxTokens`\?$/,
      );
    },
  );

  test.each(
    [formats, pairRules, rlRules, sftRules, stepLabels, unpairedRules].flatMap(
      (family) => Object.entries(family) as [string, (options: object) => unknown][],
    ),
  )('is refused by the rule or format %s', (_name, make) => {
    expect(() => make({ notation: {} })).toThrow(/ has no option `notation`\. /);
  });

  test('is refused with the nearest name, or with all where none is near', () => {
    expect(() => mcts({ widht: 3 } as object)).toThrow(
      '`mcts` has no option `widht`. Did you mean `width`?',
    );
    expect(() => stepwise(mcts(), { simulations: 1, γ: 1 } as never)).toThrow(
      '`stepwise` has no option `γ`. It has simulations, choice, maxSteps.',
    );
  });
});

const bare: Environment<string, string> = {
  name: 'bare',
  reset: () => ({ state: '' }),
  step: (state, action) => ({ state: state + action }),
};

describe('a search without a notation', () => {
  const inParts = {
    policy: mostFrequent(multiModel({ arms: { one: planStep({ model }) } })),
    evaluator: withSimulation(half, rollout({ policy, evaluator: judge({ model }) })),
  };

  test('is refused before anything is spent, with the names of the parts that need one', async () => {
    await expect(search(bare, inParts)).rejects.toThrow(
      'Expected the environment bare to have a `notation`: `fromModel` and `judge` cannot show its states to a model without.',
    );
    for (const { create } of methods) {
      await expect(search(bare, { method: create({ model }) })).rejects.toThrow('a `notation`');
    }
    expect(model.requests).toHaveLength(0);
  });

  test('goes on where nobody shows states to a model', async () => {
    const { tree } = await search(bare, {
      policy: () => [{ action: 'a' }],
      evaluator: verifier({ verify: () => ({ correct: false }) }),
      budget: { simulations: 3 },
    });
    expect(tree.size).toBeGreaterThan(1);
  });

  test('that is none is refused too', async () => {
    const environment = { ...bare, notation: { prompt: () => [] } as never };
    await expect(search(environment, { policy, evaluator: half })).rejects.toThrow(
      'Expected `environment.notation` to be an object with a method `format`',
    );
  });
});
