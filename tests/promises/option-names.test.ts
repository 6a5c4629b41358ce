import { describe, expect, test } from 'vitest';
import * as agents from '../../src/agents/index.ts';
import * as backends from '../../src/backends/index.ts';
import * as llama from '../../src/backends/llama/index.ts';
import * as tiny from '../../src/backends/tiny/index.ts';
import * as bench from '../../src/bench/index.ts';
import * as calls from '../../src/calls/index.ts';
import * as data from '../../src/data/index.ts';
import * as environments from '../../src/environments/index.ts';
import * as core from '../../src/index.ts';
import * as memories from '../../src/memory/index.ts';
import * as methods from '../../src/methods/index.ts';
import * as policies from '../../src/policies/index.ts';
import * as runs from '../../src/runs/index.ts';
import * as testing from '../../src/testing/index.ts';
import * as values from '../../src/values/index.ts';
import { refusalOf } from '../support/refusal-of.ts';

const model = testing.scriptedModel({ answer: () => 'a' });
const store = memories.inMemoryStore();
const memory = memories.memory({ store });
const policy = policies.fromModel({ model });
const half = values.heuristic(() => 0.5);
const { recipes } = backends;
const { random } = testing.plainContext();
const baseUrl = 'http://localhost:1/v1';
const ofSdk = { specificationVersion: 'v3', provider: 'a', modelId: 'a', doGenerate() {} } as never;
const runner = { describe, test };
const bare: core.Environment<string, string> = {
  name: 'bare',
  reset: () => ({ state: '' }),
  step: (state, action) => ({ state: state + action }),
};
const tree = new core.SearchTree({ state: '' }, { environment: 'bare', seed: 0 });

/** An option that nobody has. Only its name is wrong: what stands beside it is right. */
const slip: object = { mispelt: 1 };

/** Calls a function with one option too many. */
type Call = (slip: object) => unknown;

/** Every function that takes options, by its entry point; those of a family of rules or formats are called by themselves. */
const calling: Readonly<Record<string, Readonly<Record<string, Call>>>> = {
  agents: {
    aiSdkTools: (wrong) => agents.aiSdkTools({}, { effects: {}, ...wrong }),
    mcpTools: (wrong) =>
      agents.mcpTools(
        { listTools: async () => ({ tools: [] }), callTool: async () => ({}) } as never,
        wrong,
      ),
  },
  backends: {
    aiSdk: (wrong) => backends.aiSdk(ofSdk, wrong),
    anthropic: (wrong) => backends.anthropic({ model: 'a', ...wrong }),
    decisions: (wrong) => backends.decisions({ model: 'a', ...wrong }),
    decisionsFromModel: (wrong) => backends.decisionsFromModel({ model, ...wrong }),
    decisionsFromScores: (wrong) =>
      backends.decisionsFromScores({ model: 'a', server: 'vllm', ...wrong }),
    embeddings: (wrong) => backends.embeddings({ model: 'a', baseUrl, ...wrong }),
    languageModel: (wrong) => backends.languageModel('tiny', wrong),
    logprobReward: (wrong) =>
      backends.logprobReward({ model: 'a', baseUrl, recipe: recipes.mathShepherd, ...wrong }),
    openai: (wrong) => backends.openai({ model: 'a', ...wrong }),
    openaiCompatible: (wrong) => backends.openaiCompatible({ baseUrl, ...wrong }),
    replay: (wrong) => backends.replay({ journal: [], ...wrong }),
    rewardFrom: (wrong) => backends.rewardFrom({ name: 'a', score: () => [1], ...wrong }),
    sglangReward: (wrong) =>
      backends.sglangReward({ model: 'a', recipe: recipes.qwenMathPrm, ...wrong }),
    systemOne: (wrong) => backends.systemOne(wrong),
    vllmReward: (wrong) =>
      backends.vllmReward({ model: 'a', recipe: recipes.qwenMathPrm, ...wrong }),
  },
  'backends/llama': { llama: (wrong) => llama.llama({ model: 'a.gguf', ...wrong }) },
  'backends/tiny': { tiny: (wrong) => tiny.tiny(wrong) },
  bench: {
    compare: (wrong) => bench.compare({ task: {}, methods: [], budgets: [], ...wrong } as never),
    reportMarkdown: (wrong) => bench.reportMarkdown({} as never, wrong),
    reportPage: (wrong) => bench.reportPage({} as never, wrong),
  },
  calls: {
    BudgetPool: (wrong) => new calls.BudgetPool(wrong),
    openJournal: (wrong) => calls.openJournal('unused.jsonl', wrong),
    withCache: (wrong) => calls.withCache(wrong),
    withLimit: (wrong) => calls.withLimit({ concurrency: 1, ...wrong }),
    withRecording: (wrong) => calls.withRecording({ journal: calls.memoryJournal(), ...wrong }),
    withRetry: (wrong) => calls.withRetry(wrong),
    withTelemetry: (wrong) => calls.withTelemetry({ tracer: {} as never, ...wrong }),
  },
  core: {
    abMcts: (wrong) => core.abMcts(wrong),
    adaptiveConsistency: (wrong) => core.adaptiveConsistency(wrong),
    astar: (wrong) => core.astar(wrong),
    beam: (wrong) => core.beam(wrong),
    bestFirst: (wrong) => core.bestFirst(wrong),
    bestOfN: (wrong) => core.bestOfN(wrong),
    betaBelief: (wrong) => core.betaBelief(wrong),
    budgeted: (wrong) => core.budgeted(wrong),
    byMinMax: (wrong) => core.byMinMax({ min: 0, max: 1, ...wrong }),
    completedByMixValue: (wrong) => core.completedByMixValue(wrong),
    depthFirst: (wrong) => core.depthFirst(wrong),
    descend: (wrong) => core.descend(core.uct(), wrong),
    esc: (wrong) => core.esc(wrong),
    flat: (wrong) => core.flat(() => 0, wrong),
    gaussianBelief: (wrong) => core.gaussianBelief(wrong),
    gumbel: (wrong) => core.gumbel(wrong),
    lats: (wrong) => core.lats(wrong),
    mcts: (wrong) => core.mcts(wrong),
    progressiveWidening: (wrong) => core.progressiveWidening(wrong),
    puct: (wrong) => core.puct(wrong),
    renderTree: (wrong) => core.renderTree(tree, wrong),
    search: (wrong) => core.search(bare, { policy, evaluator: half, ...wrong }),
    solved: (wrong) => core.solved(wrong),
    stepwise: (wrong) => core.stepwise(core.mcts(), { simulations: 1, ...wrong }),
    streamSearch: (wrong) => core.streamSearch(bare, { policy, evaluator: half, ...wrong }).next(),
    summarise: (wrong) => core.summarise(tree.root, wrong),
    tdBackup: (wrong) => core.tdBackup(wrong),
    thompson: (wrong) => core.thompson(wrong),
    uct: (wrong) => core.uct(wrong),
    valueWidening: (wrong) => core.valueWidening(wrong),
    virtualLoss: (wrong) => core.virtualLoss(wrong),
    visitWeighted: (wrong) => core.visitWeighted(wrong),
    withReflection: (wrong) =>
      core.withReflection(core.mcts(), { reflect: async () => undefined, ...wrong }),
  },
  data: {
    auditDataset: (wrong) => data.auditDataset('unused', wrong),
    jinjaPrompt: (wrong) => data.jinjaPrompt('', wrong),
    mapRow: (wrong) =>
      data.mapRow({ name: 'a', kind: 'sft', columns: {}, map: () => ({}), ...wrong }),
    preferences: (wrong) =>
      data.preferences({
        ...{ name: 'a', nodes: 'all', siblings: 'best-vs-all', score: data.pairScores.q },
        ...wrong,
      }),
    'readers.readOmegaPrm': (wrong) => data.readers.readOmegaPrm('{}', wrong),
    'readers.readToolBench': (wrong) =>
      data.readers.readToolBench('{}', { problem: 'a', ...wrong }),
    uploadDataset: (wrong) =>
      data.uploadDataset({ folder: 'a', repo: 'a/b', token: 'a', ...wrong }),
    verifySplices: (wrong) => data.verifySplices([], { replay: () => true, ...wrong }),
    writeDataset: (wrong) =>
      data.writeDataset({ out: 'unused', problems: [], configs: [], ...wrong }),
  },
  environments: {
    answerOracle: (wrong) => environments.answerOracle('1', wrong),
    'blocksworld.generate': (wrong) => environments.blocksworld.generate(random, wrong),
    'countdown.environment': (wrong) =>
      environments.countdown.environment({ numbers: [1, 2], target: 3, ...wrong }),
    'countdown.generate': (wrong) => environments.countdown.generate(random, wrong),
    fileSystem: (wrong) => environments.fileSystem({ root: 'unused', ...wrong }),
    fromWorld: (wrong) =>
      environments.fromWorld(() => ({}) as never, { name: 'a', instances: 1, ...wrong }),
    'gameOf24.environment': (wrong) =>
      environments.gameOf24.environment({ numbers: [1, 2], ...wrong }),
    'gameOf24.generate': (wrong) => environments.gameOf24.generate(random, wrong),
    gitWorktree: (wrong) => environments.gitWorktree({ repository: 'unused', ...wrong }),
    isSameAnswer: (wrong) => environments.isSameAnswer('1', '1', wrong),
    notationFor: (wrong) =>
      environments.notationFor(environments.reasoning({ question: 'a' }), wrong),
    reasoning: (wrong) => environments.reasoning({ question: 'a', ...wrong }),
    remoteEnvironment: (wrong) =>
      environments.remoteEnvironment({ name: 'a', url: 'http://localhost:1', ...wrong }),
    'slidingTiles.generate': (wrong) => environments.slidingTiles.generate(random, wrong),
    toolEnvironment: (wrong) =>
      environments.toolEnvironment({}, { name: 'a', task: 'a', tools: () => ({}), ...wrong }),
  },
  memory: {
    bm25: (wrong) => memories.bm25(wrong),
    byEmbedding: (wrong) => memories.byEmbedding({ embed: async () => ({}) } as never, wrong),
    contrastive: (wrong) => memories.contrastive({ model, memory, ...wrong }),
    jsonLinesStore: (wrong) => memories.jsonLinesStore('unused.jsonl', wrong),
    lessons: (wrong) => memories.lessons({ memory, kind: 'policy', ...wrong }),
    memory: (wrong) => memories.memory({ store, ...wrong }),
    sentenceEmbeddings: (wrong) => memories.sentenceEmbeddings(wrong),
  },
  methods: {
    agentQ: (wrong) => methods.agentQ({ model, ...wrong }),
    dfsdt: (wrong) => methods.dfsdt({ model, ...wrong }),
    iMcts: (wrong) => methods.iMcts({ model, ...wrong }),
    mctsDpo: (wrong) => methods.mctsDpo({ model, ...wrong }),
    rMcts: (wrong) => methods.rMcts({ model, ...wrong }),
    restMcts: (wrong) => methods.restMcts({ model, ...wrong }),
    toolChainStar: (wrong) => methods.toolChainStar({ model, ...wrong }),
    treeOfThoughts: (wrong) => methods.treeOfThoughts({ model, ...wrong }),
  },
  policies: {
    callTools: (wrong) => policies.callTools({ model, ...wrong }),
    fromModel: (wrong) => policies.fromModel({ model, ...wrong }),
    greedy: (wrong) => policies.greedy({ actions: () => [], score: () => 0, ...wrong }),
    introspective: (wrong) => policies.introspective({ model, ...wrong }),
    journaled: (wrong) => policies.journaled(policy, { name: 'a', key: () => 1, ...wrong }),
    mostFrequent: (wrong) => policies.mostFrequent(policy, wrong),
    multiAction: (wrong) => policies.multiAction({ model, ...wrong }),
    multiModel: (wrong) => policies.multiModel({ arms: { one: policy }, ...wrong }),
    planStep: (wrong) => policies.planStep({ model, ...wrong }),
    selfRefine: (wrong) => policies.selfRefine({ model, ...wrong }),
    sequenceProbability: (wrong) => policies.sequenceProbability(wrong),
    siblings: (wrong) => policies.siblings(wrong),
    subQuestion: (wrong) => policies.subQuestion({ model, ...wrong }),
  },
  runs: {
    generate: (wrong) =>
      runs.generate({ run: {}, problems: [], plan: () => ({}), ...wrong } as never),
    readRecords: (wrong) =>
      runs.readRecords({ trees: [] }, { describe: () => undefined, ...wrong }).next(),
  },
  testing: {
    banditTree: (wrong) => testing.banditTree(wrong),
    chainTask: (wrong) => testing.chainTask(wrong),
    describeAlgorithm: (wrong) => testing.describeAlgorithm('a', wrong as never, runner),
    describeEnvironment: (wrong) => testing.describeEnvironment('a', wrong as never, runner),
    describeEvaluator: (wrong) => testing.describeEvaluator('a', wrong as never, runner),
    describeLanguageModel: (wrong) => testing.describeLanguageModel('a', wrong as never, runner),
    describePolicy: (wrong) => testing.describePolicy('a', wrong as never, runner),
    emulator: (wrong) => testing.emulator({ dialect: 'vllm', ...wrong }),
    manualClock: (wrong) => testing.manualClock(wrong),
    plainContext: (wrong) => testing.plainContext(wrong),
    scriptedModel: (wrong) => testing.scriptedModel({ answer: () => 'a', ...wrong }),
    syntheticTree: (wrong) => testing.syntheticTree(wrong),
    tableMdp: (wrong) => testing.tableMdp({}, wrong),
  },
  values: {
    criticRanking: (wrong) => values.criticRanking({ model, ...wrong }),
    debate: (wrong) => values.debate({ model, ...wrong }),
    decision: (wrong) => values.decision({ model: { decide() {} } as never, ...wrong }),
    ensemble: (wrong) => values.ensemble({ parts: [], ...wrong }),
    hybridWeight: (wrong) => values.hybridWeight(wrong),
    judge: (wrong) => values.judge({ model, ...wrong }),
    orm: (wrong) => values.orm({ model: {} as never, ...wrong }),
    pairwise: (wrong) => values.pairwise({ model, ...wrong }),
    prm: (wrong) => values.prm({ model: {} as never, ...wrong }),
    progress: (wrong) => values.progress({ value: half, ...wrong }),
    reliability: (wrong) => values.reliability([], wrong),
    rollout: (wrong) => values.rollout({ policy, ...wrong }),
    selfConsistency: (wrong) => values.selfConsistency({ policy, ...wrong }),
    selfEval: (wrong) => values.selfEval({ model, ...wrong }),
    staged: (wrong) => {
      const [fast, accurate] = ['a', 'b'].map((name) => ({ name, evaluator: half }));
      return values.staged({ fast, accurate, ...wrong } as never);
    },
    withSimulation: (wrong) => values.withSimulation(half, half, wrong),
  },
};

const noOptions = 'takes no options';
const aNode = 'takes nodes and plain values';
const isData = 'takes data, such as an instance, a state, a report or another part';
const named = (names: string, reason: string) => names.split(' ').map((name) => [name, reason]);

/** Why a function has no call above. */
const reasons: Readonly<Record<string, string>> = Object.fromEntries([
  ...named('backends.recipes', 'are data, but for `sequenceClassifier`'),
  ...named('bench.recordedTask bench.taskNamed', noOptions),
  ...named('calls.memoryJournal calls.readJournal calls.replayed calls.wrapModel', noOptions),
  ...named('core.EspalierError core.ModelCallError', 'an error must not hide another'),
  ...named('core.actionsTo core.canWiden core.explain core.isClosed core.isGoal', aNode),
  ...named('core.knownValue core.leastTried core.pathTo core.promiseOf core.subtree', aNode),
  ...named('core.maxBackup core.meanBackup core.byParentAndSiblings core.lookBack', aNode),
  ...named('core.maxChild core.robustChild core.robustOrSolvedChild', aNode),
  ...named('core.unobserved.value core.unobserved.visits', aNode),
  ...named('core.mixedWithEvaluation core.notesOf core.seededRandom', noOptions),
  ...named('core.systemClock.now core.systemClock.sleep', noOptions),
  ...named('core.thompsonArms core.widerOrDeeper core.provenanceOf core.provenanceOfModel', isData),
  ...named('core.SearchTree core.treeFromJson core.treeToJson', isData),
  ...named('data.chatmlPrompt data.plainPrompt data.readRows', noOptions),
  ...named('data.pairScores.mixed data.readers.readMathShepherd', noOptions),
  ...named('data.readers.readPrm800k', noOptions),
  ...named('data.pairScores.advantage data.pairScores.hardOutcome data.pairScores.q', aNode),
  ...named('data.pairsOf', 'takes a rule, which `preferences` checks'),
  ...named('environments.extractAnswer environments.solvablePuzzles', noOptions),
  ...named('environments.puzzles', 'are those that are exported by themselves'),
  ...['blocksworld', 'countdown', 'gameOf24', 'slidingTiles'].flatMap((puzzle) =>
    ['check', 'estimate', 'format', 'heuristic', 'parse', 'render'].map((name) => [
      `environments.${puzzle}.${name}`,
      isData,
    ]),
  ),
  ...named('environments.blocksworld.environment environments.slidingTiles.environment', isData),
  ...named('memory.inMemoryStore', noOptions),
  ...named('policies.uniform', noOptions),
  ...named('runs.openRun runs.readRun', noOptions),
  ...named('testing.ticTacToe', noOptions),
  ...named('values.actionShare values.everyNth values.heuristic', noOptions),
  ...named('values.fitIsotonic values.fitPlatt values.labelledFrom', isData),
  ...named('values.goldVerifier values.verifier', isData),
  ...named('values.calibrated values.renderReliability', isData),
]);

const { formats, pairRules, rlRules, sftRules, stepLabels, unpairedRules } = data;
const families = { formats, pairRules, rlRules, sftRules, stepLabels, unpairedRules };

const exported = {
  ...{ agents, backends, 'backends/llama': llama, 'backends/tiny': tiny, bench, calls, core, data },
  ...{ environments, memory: memories, methods, policies, runs, testing, values },
};

/** Of these the parts are data, or stand elsewhere. */
const whole = ['backends.recipes', 'environments.puzzles'];

/** A function, and what is in an object of functions, by path. */
function functionsIn(path: string, value: unknown): readonly string[] {
  if (typeof value === 'function') return [path];
  if (whole.includes(path)) return [path];
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return [];
  return Object.entries(value).flatMap(([name, part]) => functionsIn(`${path}.${name}`, part));
}

const called = Object.entries(calling).flatMap(([entry, parts]) =>
  Object.entries(parts).map(([name, call]) => [`${entry}.${name}`, call] as const),
);
const ofFamilies = Object.entries(families).flatMap(([family, members]) =>
  Object.entries(members as Readonly<Record<string, Call>>).map(
    ([name, make]) => [`data.${family}.${name}`, make] as const,
  ),
);

const price = { input: 1, output: 1, ...slip };
const part = { name: 'a', evaluator: half, ...slip };

/** Options within options. */
const inner: readonly (readonly [name: string, make: () => unknown])[] = [
  ['breaker', () => calls.withRetry({ breaker: slip })],
  ['breaker', () => backends.openai({ model: 'a', apiKey: 'a', retry: { breaker: slip } })],
  ['price', () => backends.openaiCompatible({ baseUrl, price })],
  ['price', () => backends.aiSdk(ofSdk, { price })],
  ['price', () => backends.embeddings({ model: 'a', baseUrl, price })],
  ['capabilities', () => backends.openaiCompatible({ baseUrl, capabilities: slip })],
  ['capabilities', () => backends.aiSdk(ofSdk, { capabilities: slip })],
  ['capabilities', () => backends.replay({ journal: [], capabilities: slip })],
  ['capabilities', () => testing.scriptedModel({ answer: () => 'a', capabilities: slip })],
  ['parts[0]', () => values.ensemble({ parts: [part] })],
  [
    '[fast, accurate][1]',
    () => values.staged({ fast: { name: 'b', evaluator: half }, accurate: part }),
  ],
  ['card', () => data.writeDataset({ out: 'unused', problems: [], configs: [], card: slip })],
  [
    'configs[0]',
    () => data.writeDataset({ out: 'unused', problems: [], configs: [slip as never] }),
  ],
  ["prices['a']", () => core.search(bare, { policy, evaluator: half, prices: { a: price } })],
  ['budget', () => core.search(bare, { policy: () => [], evaluator: half, budget: slip })],
  ['concurrency', () => core.search(bare, { policy, evaluator: half, concurrency: slip as never })],
  ['method', () => core.search(bare, { method: { ...methods.agentQ({ model }), ...slip } })],
  ['BudgetPool.charge', () => new calls.BudgetPool({}).charge(slip)],
  ['tree.backup', () => tree.backup(tree.root, slip)],
  ['sequenceClassifier', () => recipes.sequenceClassifier(slip)],
  ['rewardModel', () => testing.chainTask().rewardModel(slip)],
];

describe('an unknown option', () => {
  test('is tried of every function that is exported, or there is a reason', () => {
    const all = Object.entries(exported).flatMap(([entry, part]) => functionsIn(entry, part));
    const known = [...called, ...ofFamilies].map(([path]) => path);
    expect([...new Set([...known, ...Object.keys(reasons)])].toSorted()).toEqual(all.toSorted());
  });

  test.each([...called, ...ofFamilies])('is refused by %s', async (_path, call) => {
    const refusal = await refusalOf(() => call(slip));
    expect(refusal).toMatchObject({
      code: 'usage',
      message: expect.stringMatching(/^`[\w .-]+` has no option `mispelt`\. It has /),
    });
  });

  test.each(inner)('is refused in `%s`', async (name, make) => {
    expect(await refusalOf(make)).toMatchObject({
      code: 'usage',
      message: expect.stringContaining(`\`${name}\` has no option \`mispelt\`. `),
    });
  });

  test('is refused with the nearest name, or with all where none is near', () => {
    expect(() => core.mcts({ widht: 3 } as object)).toThrow(
      '`mcts` has no option `widht`. Did you mean `width`?',
    );
    expect(() => core.stepwise(core.mcts(), { simulations: 1, γ: 1 } as never)).toThrow(
      '`stepwise` has no option `γ`. It has simulations, choice, maxSteps.',
    );
  });
});

describe('a search without a notation', () => {
  const inParts = {
    policy: policies.mostFrequent(
      policies.multiModel({ arms: { one: policies.planStep({ model }) } }),
    ),
    evaluator: values.withSimulation(
      half,
      values.rollout({ policy, evaluator: values.judge({ model }) }),
    ),
  };

  test('is refused before anything is spent, with the names of the parts that need one', async () => {
    await expect(core.search(bare, inParts)).rejects.toThrow(
      'Expected the environment bare to have a `notation`: `fromModel` and `judge` cannot show its states to a model without one.',
    );
    for (const { create } of methods.methods) {
      await expect(core.search(bare, { method: create({ model }) })).rejects.toThrow(
        'a `notation`',
      );
    }
    expect(model.requests).toHaveLength(0);
  });

  test('goes on if no states are shown to a model', async () => {
    const { tree } = await core.search(bare, {
      policy: () => [{ action: 'a' }],
      evaluator: values.verifier({ verify: () => ({ correct: false }) }),
      budget: { simulations: 3 },
    });
    expect(tree.size).toBeGreaterThan(1);
  });

  test('that is none is refused too', async () => {
    const environment = { ...bare, notation: { prompt: () => [] } as never };
    await expect(core.search(environment, { policy, evaluator: half })).rejects.toThrow(
      'Expected `environment.notation` to be an object with a method `format`',
    );
  });
});
