// biome-ignore-all lint/style/noExcessiveLinesPerFile: a list of uses
// biome-ignore-all lint/complexity/noExcessiveLinesPerFunction: a list of uses
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import * as z from 'zod';
import * as agents from '../../src/agents/index.ts';
import * as backends from '../../src/backends/index.ts';
import { tiny } from '../../src/backends/tiny/index.ts';
import * as bench from '../../src/bench/index.ts';
import * as calls from '../../src/calls/index.ts';
import * as data from '../../src/data/index.ts';
import * as environments from '../../src/environments/index.ts';
import * as core from '../../src/index.ts';
import * as memories from '../../src/memory/index.ts';
import * as methods from '../../src/methods/index.ts';
import * as policies from '../../src/policies/index.ts';
import * as runs from '../../src/runs/index.ts';
import {
  describePolicy,
  emulator,
  plainContext,
  type ScriptedModel,
  scriptedModel,
} from '../../src/testing/index.ts';
import * as values from '../../src/values/index.ts';

/** What a user without types wrote, what the error has to name, and its code. */
export type WrongCode = readonly [
  use: string,
  make: () => unknown,
  names: readonly string[],
  code?: string,
];

/** A folder for files, and a server that knows the model `m`. */
export interface Ground {
  readonly folder: string;
  readonly server: string;
}

const game = environments.gameOf24.environment({ numbers: [4, 9, 10, 13] });
const other = environments.gameOf24.environment({ numbers: [1, 2, 3, 4] });
const bare: core.Environment<string, string> = {
  name: 'bare',
  reset: () => ({ state: '' }),
  step: (state, action) => ({ state: state + action }),
};
/** Everything here is called as a program without types might. */
type Loose = never;

export const model: ScriptedModel = scriptedModel({ answer: () => 'a' });
const policy = () => [{ action: 'a' }, { action: 'b' }];
const evaluator = () => 0.5;
const half = values.heuristic(evaluator);

/** A search of `bare` with something wrong. */
const found = (wrong: object) => core.search(bare, { policy, evaluator, ...wrong });

/** What a search says of a plug-in that breaks its contract: the node fails, and not the search. */
async function lost(wrong: object): Promise<never> {
  const { failures } = await found({ budget: { simulations: 3 }, ...wrong });
  throw Object.assign(new Error(failures.first[0]?.message ?? 'Nothing failed.'), { code: 'lost' });
}

/** A search whose algorithm calls something wrongly. */
const running = (run: (tree: Loose, context: Loose) => unknown) =>
  found({ algorithm: { name: 'mine', concurrency: 'any', laws: [], run } });

type Context = core.SearchContext<string, string>;

/** The same within a simulation, after a first expansion. */
const simulating = (run: (simulation: core.Simulation<string, string>) => unknown) =>
  running(async ({ root }: core.SearchTree<string, string>, context: Context) => {
    await context.expand(root);
    await context.simulate(async (simulation) => {
      run(simulation);
      return 'exhausted';
    });
  });

/** A benchmark of one instance with something wrong. */
const compared = (wrong: object, instance: object = {}) =>
  bench.compare({
    task: { name: 'a', title: 'A', instances: () => [{ id: 'a', environment: bare, ...instance }] },
    ...{ model, methods: [], budgets: [{ unit: 'calls', limit: 1 }], out: 'unused', ...wrong },
  } as Loose);

/** A search of an environment with one tool. */
async function toolsWith(wrong: object, action: unknown = { tool: 'add', input: {} }) {
  const environment = environments.toolEnvironment(
    { n: 0 },
    {
      ...{ name: 'counter', task: 'Count.', ...wrong },
      tools: (tool) => ({
        add: tool({
          input: z.object({}),
          effect: 'pure',
          run: ({ n }) => ({ state: { n: n + 1 } }),
        }),
      }),
    },
  );
  const { failures } = await core.search(environment, {
    ...{ policy: () => [{ action: action as Loose }], evaluator, budget: { simulations: 2 } },
  });
  throw Object.assign(new Error(failures.first[0]?.message), { code: 'lost' });
}

/** A call of a model outside of a search. */
function asked(model: core.LanguageModel): Promise<unknown> {
  const request = { messages: [{ role: 'user' as const, content: 'Hello.' }], maxTokens: 5 };
  const policy = async (_node: unknown, { context }: { context: core.CallContext }) => {
    await context.generate(model, request);
    return [{ action: 'a' }];
  };
  return lost({ policy });
}

export function wrongCode({ folder, server }: Ground): readonly WrongCode[] {
  const notes = join(folder, 'notes.txt');
  writeFileSync(notes, 'Buy milk.\n');
  const nothing = join(folder, 'nothing');
  mkdirSync(nothing, { recursive: true });
  const out = join(folder, 'out');
  const baseUrl = `${server}/v1`;
  const retry = { attempts: 1 };

  return [
    // Options.
    [
      'an option that is misspelt',
      () => core.mcts({ widht: 3 } as Loose),
      ['mcts', 'widht', 'width'],
    ],
    [
      'an option of another algorithm',
      () => core.beam({ selection: core.uct() } as Loose),
      ['beam', '`selection`', '`select`'],
    ],
    [
      'a unit that is misspelt',
      () => found({ budget: { simulation: 5 } }),
      ['budget', 'simulation`', 'simulations`'],
    ],
    [
      'options as a text',
      () => environments.reasoning('What is 1 + 1?' as Loose),
      ['reasoning', 'object', 'What is'],
    ],
    ['NaN for a constant', () => core.uct({ c: Number.NaN }), ['`c`', 'number', 'NaN']],
    ['NaN for a prior', () => core.puct({ cInit: Number.NaN }), ['cInit', 'NaN']],
    ['NaN for a width', () => core.progressiveWidening({ k: Number.NaN }), ['`k`', 'NaN']],
    ['NaN for a loss', () => core.virtualLoss({ loss: Number.NaN }), ['loss', 'NaN']],
    ['a step size above 1', () => core.tdBackup({ stepSize: 2 }), ['stepSize', 'from 0 to 1', '2']],
    [
      'a negative budget',
      () => found({ budget: { calls: -1 } }),
      ['budget\\.calls', 'from 0 up', '-1'],
    ],
    [
      'half a simulation',
      () => found({ budget: { simulations: 2.5 } }),
      ['budget\\.simulations', 'integer', '2\\.5'],
    ],
    ['a budget in words', () => found({ budget: { tokens: '2k' } }), ['budget\\.tokens', '2k']],
    ['a width of 0', () => core.beam({ width: 0 }), ['width', 'from 1 up', '`0`']],
    ['a discount above 1', () => found({ discount: 1.1 }), ['discount', 'from 0 to 1', '1\\.1']],
    ['a concurrency of 0', () => found({ concurrency: 0 }), ['concurrency', 'from 1 up', '`0`']],
    ['an order that is none', () => found({ order: 'fifo' }), ['order', 'arrival', 'fifo']],
    [
      'a controller for its signal',
      () => found({ signal: new AbortController() }),
      ['signal', 'controller\\.signal', 'object'],
    ],
    [
      'a temperature in words',
      () => policies.fromModel({ model, temperature: 'hot' as Loose }),
      ['temperature', 'hot'],
    ],
    ['no samples', () => policies.fromModel({ model, samples: 0 } as Loose), ['samples', '`0`']],
    [
      'a threshold out of range',
      () =>
        values.staged({
          fast: { name: 'fast', evaluator: half },
          accurate: { name: 'accurate', evaluator: half },
          threshold: 3,
        }),
      ['threshold', 'from 0 to 1', '`3`'],
    ],
    [
      'a model that gives no scores',
      () => values.orm({ model, at: 'all' } as Loose),
      ['model', 'score', 'object'],
    ],
    [
      'dollars and no price',
      () =>
        lost({
          budget: { usd: 1 },
          policy: async (_node: unknown, { context }: { context: core.CallContext }) => {
            await context.generate(model, { messages: [] });
            return [];
          },
        }),
      ['prices', 'script', 'dollars'],
    ],
    [
      'a word that is misspelt',
      () => found({ order: 'arival' }),
      ['order', '"arival"', "Did you mean 'arrival'"],
    ],
    // Parts.
    ['no policy', () => core.search(bare, {}), ['policy', 'propose', 'undefined']],
    ['no evaluator', () => core.search(bare, { policy }), ['evaluator', 'judge\\(']],
    [
      'no environment',
      () => core.search(undefined as Loose, { policy }),
      ['environment', 'undefined'],
    ],
    [
      'an environment without a name',
      () => core.search({ ...bare, name: undefined } as Loose, { policy }),
      ['environment\\.name', 'undefined'],
    ],
    [
      'an algorithm that was not called',
      () => found({ algorithm: core.mcts }),
      ['algorithm', 'run', 'Call it, as in `algorithm: mcts\\(\\)`'],
    ],
    [
      'a method that was not called',
      () => found({ method: methods.agentQ }),
      ['method', 'function', 'Call it'],
    ],
    [
      'a policy that was not called',
      () => found({ policy: policies.fromModel }),
      ['policy', 'Call it, as in `policy: fromModel'],
    ],
    [
      'an evaluator that was not called',
      () => found({ evaluator: values.judge }),
      ['evaluator', 'Call it, as in `evaluator: judge'],
    ],
    [
      'a policy of your own that was not called',
      () => found({ policy: () => ({ propose: policy }) }),
      ['policy', 'Call it'],
    ],
    [
      'a condition that was not called',
      () => found({ stopWhen: core.solved }),
      ['stopWhen', 'solved', 'function'],
    ],
    [
      'the name of a model',
      () => policies.fromModel({ model: 'openai:gpt-5' } as Loose),
      ['model', 'generate', 'openai:gpt-5', 'await languageModel'],
    ],
    [
      'a model that was not awaited',
      () => policies.fromModel({ model: backends.languageModel('tiny') } as Loose),
      ['model', 'promise', 'await'],
    ],
    [
      'a tree that was not awaited',
      () =>
        core.renderTree(
          core.search(game, { policy: policies.uniform(() => []), evaluator }) as Loose,
        ),
      ['tree', 'promise', 'await'],
    ],
    [
      'a result for its tree',
      async () => core.treeToJson((await found({ budget: { simulations: 1 } })) as Loose),
      ['tree', 'object'],
    ],
    [
      'a tree for its node',
      async () => core.summarise((await found({ budget: { simulations: 1 } })).tree as Loose),
      ['node', 'tree\\.root'],
    ],
    [
      'a model that scores no steps',
      () => values.prm({ model } as Loose),
      ['model', 'score', 'object'],
    ],
    [
      'a judge without a notation',
      () => found({ evaluator: values.judge({ model }) }),
      ['bare', 'notation', 'judge'],
    ],
    [
      'an oracle as a verifier',
      () => found({ outcome: environments.answerOracle('24') }),
      ['outcome', 'oracle'],
    ],
    [
      'an oracle as an evaluator',
      () => found({ evaluator: environments.answerOracle('24') }),
      ['evaluator', 'oracle'],
    ],
    [
      'an outcome that is the method of a verifier',
      () => found({ outcome: () => ({ correct: true }) }),
      ['outcome', 'method `verify`', 'Write `{ verify: … }` with it, or call it'],
    ],
    [
      'a verifier that is its method',
      () => values.verifier((() => ({ correct: true })) as Loose),
      ['verifier', 'Write `{ verify: … }`'],
    ],
    [
      'votes without answers',
      () => found({ algorithm: core.bestOfN({ choose: 'majority' }), budget: { simulations: 4 } }),
      ['bare', 'answer'],
    ],
    [
      'the tree of another environment',
      async () => {
        const budget = { simulations: 1 };
        const { tree } = await core.search(other, {
          policy: policies.uniform(() => []),
          evaluator,
          budget,
        });
        await found({ tree });
      },
      ['tree', 'game24', 'bare'],
    ],
    ['the name of an algorithm', () => found({ algorithm: 'mcts' }), ['`algorithm: mcts\\(\\)`']],
    [
      'a journal by its path',
      () => found({ journal: 'x.jsonl' }),
      ['`openJournal\\("x\\.jsonl"\\)`'],
    ],
    [
      'a result to draw',
      async () => core.renderTree((await found({ budget: { simulations: 1 } })) as Loose),
      ['tree', '`result\\.tree`'],
    ],
    [
      'a contract of a policy without an environment',
      () => describePolicy('mine', { create: () => ({ propose: policy }) } as Loose, {} as Loose),
      ['environment', 'reset', 'undefined'],
    ],
    [
      'a recovery without a journal',
      () => environments.toolEnvironment({}, { name: 'a', task: 'b', tools: () => ({}) }).recover(),
      ['journal', 'recover', 'undefined'],
    ],
    [
      'tools that are permitted later',
      () => toolsWith({ permit: async () => true }),
      ['`permit`', 'true, false or a text', 'a promise', 'Make it synchronous'],
      'lost',
    ],
    [
      'an action of nothing for tools',
      () => toolsWith({}, null),
      ['action', '`\\{ tool, input \\}`', '`null`'],
      'lost',
    ],
    // Plug-ins.
    [
      'a policy that lists texts',
      () => lost({ policy: () => ['a', 'b'] }),
      ['proposal', 'action', '"a"'],
      'lost',
    ],
    [
      'a policy that lists nothing',
      () => lost({ policy: () => undefined }),
      ['propose', 'array', 'undefined'],
      'lost',
    ],
    ['a value above 1', () => lost({ evaluator: () => 7 }), ['value', 'from 0 to 1', '7'], 'lost'],
    ['a value that is NaN', () => lost({ evaluator: () => Number.NaN }), ['value', 'NaN'], 'lost'],
    [
      'an action that was not awaited',
      () => lost({ policy: () => [{ action: Promise.resolve('a') }] }),
      ['action', 'promise', 'await'],
      'lost',
    ],
    [
      'a state that was not awaited',
      () =>
        core.search(
          { ...bare, reset: () => ({ state: Promise.resolve('') as never }) },
          {
            policy,
            evaluator,
          },
        ),
      ['bare', 'reset', 'state', 'promise'],
    ],
    [
      'a simulation that says nothing',
      () =>
        found({
          algorithm: {
            name: 'mine',
            concurrency: 'any',
            laws: [],
            run: (_tree: unknown, context: core.SearchContext<string, string>) =>
              context.simulate((async () => undefined) as Loose),
          },
        }),
      ['simulation', 'continue', 'undefined'],
    ],
    // Algorithms.
    [
      'a rule of a backup that is none',
      () =>
        running(async (tree: core.SearchTree, { evaluate }: Context) => {
          await evaluate([tree.root as Loose]);
          tree.backup(tree.root, { rule: 'mean' as Loose });
        }),
      ['`rule`', 'function', '"mean"'],
    ],
    [
      'a discount of a backup that is none',
      () =>
        running(async (tree: core.SearchTree, { evaluate }: Context) => {
          await evaluate([tree.root as Loose]);
          tree.backup(tree.root, { discount: 2 });
        }),
      ['`discount`', 'from 0 to 1', '`2`'],
    ],
    [
      'a nested search without options',
      () => running((_tree, { search }: Context) => search(bare, undefined as Loose)),
      ['`options`', 'object', 'undefined'],
    ],
    [
      'a nested search of nothing',
      () =>
        running((_tree, { search }: Context) =>
          search(undefined as Loose, { policy, evaluator, share: 0.5 }),
        ),
      ['environment', 'reset', 'undefined'],
    ],
    ['no options', () => core.search(bare, undefined as Loose), ['options', 'object', 'undefined']],
    [
      'a start of a selection that is no node',
      () => simulating(({ select }) => select(core.descend(core.uct()), { from: {} as Loose })),
      ['`node`', 'tree\\.root', 'object'],
    ],
    [
      'a widening of a selection that is none',
      () => simulating(({ select }) => select(core.descend(core.uct()), { widening: 2 as Loose })),
      ['`widening`', 'function', '`2`'],
    ],
    [
      'a rule of a selection that scores nothing',
      () => simulating(({ select }) => select(core.descend((() => 1) as Loose))),
      ['`rule`', 'scores a child', '`1`'],
    ],
    [
      'a widening of an expansion that is none',
      () =>
        running(({ root }: core.SearchTree, { expand }: Context) =>
          expand(root as Loose, { widening: 2 as Loose }),
        ),
      ['`widening`', 'function', '`2`'],
    ],
    [
      'an effect of nothing',
      () => running((_tree, { effect }: Context) => effect('look', 1, undefined as Loose)),
      ['`run`', 'function', 'undefined'],
    ],
    [
      'a failure in words',
      () => running(async (tree: core.SearchTree) => tree.fail(tree.root, 'It is over.' as Loose)),
      ['`failure`', '`kind`', 'It is over'],
    ],
    [
      'an evaluation without its value',
      () => running(async (tree: core.SearchTree) => tree.addEvaluation(tree.root, {} as Loose)),
      ['evaluation\\.value', 'finite', 'undefined'],
    ],
    [
      'a stream with a controller for its signal',
      () =>
        core
          .streamSearch(bare, { policy, evaluator, signal: new AbortController() as Loose })
          .next(),
      ['signal', 'controller\\.signal', 'object'],
    ],
    [
      'a key of states that is no function',
      () => core.search({ ...bare, key: 'state' } as Loose, { policy, evaluator }),
      ['environment\\.key', 'function', '"state"'],
    ],
    [
      'a journal without lines',
      () => found({ journal: { mode: 'record', append: () => {} } }),
      ['journal\\.lines', 'undefined'],
    ],
    // Parts of options that are nothing.
    [
      'no headers',
      () => backends.openai({ model: 'm', headers: null as Loose }),
      ['`headers`', 'null'],
    ],
    [
      'no client',
      () => backends.openai({ model: 'm', client: null as Loose }),
      ['`client`', 'null'],
    ],
    [
      'a client that is none',
      () => backends.openai({ model: 'm', client: {} as Loose }),
      ['client\\.chat', 'undefined'],
    ],
    [
      'no client of Anthropic',
      () => backends.anthropic({ model: 'm', client: null as Loose }),
      ['`client`', 'null'],
    ],
    [
      'no thinking',
      () => backends.anthropic({ model: 'm', thinking: null as Loose }),
      ['`thinking`', 'null'],
    ],
    [
      'no ids of labels',
      () => backends.decisionsFromScores({ model: 'm', server: 'vllm', labelIds: null as Loose }),
      ['labelIds', 'null'],
    ],
    [
      'a recording of nothing',
      () => backends.replay({ journal: [null as Loose] }),
      ['journal\\[0\\]', 'null'],
    ],
    [
      'no stamps',
      () =>
        memories.lessons({
          memory: memories.memory({ store: memories.inMemoryStore() }),
          ...{ kind: 'policy', stamps: null as Loose },
        }),
      ['stamps', 'array', 'null'],
    ],
    ['no thoughts', () => data.sftRules.agentR({ thoughts: null as Loose }), ['thoughts', 'null']],
    [
      'no weights',
      () =>
        policies.multiModel({
          arms: { one: { propose: policy } },
          weights: null as Loose,
        }),
      ['weights', 'object', 'null'],
    ],
    [
      'no question',
      () => values.decision({ model: { decide: () => 1 } as Loose, question: null as Loose }),
      ['question', 'object', 'null'],
    ],
    [
      'faults in words',
      () => emulator({ dialect: 'vllm', faults: 'auth' as Loose }),
      ['faults', 'array', 'auth'],
    ],
    [
      'a context without a signal',
      () => plainContext({ signal: null as Loose }),
      ['signal', 'null'],
    ],
    [
      'a word without a prototype',
      () => found({ order: Object.create(null) }),
      ['order', 'arrival', 'object'],
    ],
    [
      'a run without trees',
      () => runs.readRecords({} as Loose, { describe: () => undefined }).next(),
      ['trees', 'array', 'undefined'],
    ],
    [
      'a benchmark of the name of a model',
      () => compared({ judgeModel: 'openai:gpt-5' }),
      ['judgeModel', 'generate', 'openai:gpt-5'],
    ],
    [
      'an instance with the name of a model',
      () => compared({}, { model: 'openai:gpt-5' }),
      ['instances\\(\\)\\[0\\]\\.model', 'openai:gpt-5'],
    ],
    // Models and servers.
    [
      'a provider that is misspelt',
      () => backends.languageModel('opnai:gpt-5'),
      ['opnai', 'openai:gpt-5'],
    ],
    [
      'a provider without a model',
      () => backends.languageModel('openai'),
      ['openai', 'names a model'],
    ],
    [
      'a missing key',
      () => asked(backends.anthropic({ model: 'claude-sonnet-5-5' })),
      ['ANTHROPIC_API_KEY', 'claude-sonnet-5-5'],
    ],
    [
      'a base URL that is none',
      () => backends.openaiCompatible({ baseUrl: 'localhost:8000' }),
      ['baseUrl', 'localhost:8000', 'http'],
    ],
    [
      'a server that is not there',
      () =>
        asked(backends.openaiCompatible({ baseUrl: 'http://127.0.0.1:9/v1', model: 'm', retry })),
      ['127\\.0\\.0\\.1:9', 'reached'],
      'lost',
    ],
    [
      'a model that is not served',
      () => asked(backends.openaiCompatible({ baseUrl, model: 'n', retry })),
      ['n', 'serves m'],
      'lost',
    ],
    [
      'a base URL without /v1',
      () => asked(backends.openaiCompatible({ baseUrl: `${server}/v7`, model: 'm', retry })),
      ['v7', '404', '/v1'],
      'lost',
    ],
    [
      'a GGUF file that is not there',
      () => asked(tiny({ model: join(folder, 'no.gguf') })),
      ['no\\.gguf'],
      'lost',
    ],
    [
      'a file that is no GGUF',
      async () => asked(await backends.languageModel(`tiny:${notes}`)),
      ['notes\\.txt', 'GGUF'],
      'lost',
    ],
    [
      'a name in place of a model of the AI SDK',
      () => backends.aiSdk('gpt-5' as Loose),
      ['model', 'AI SDK', 'gpt-5'],
    ],
    [
      'a recording that is not there',
      () => backends.replay({ journal: join(folder, 'no.jsonl') }),
      ['no\\.jsonl'],
      'storage',
    ],
    // Files and runs.
    ['no path of a run', () => runs.openRun(undefined as Loose), ['path', 'undefined']],
    ['a run that is a file', () => runs.openRun(notes), ['notes\\.txt'], 'storage'],
    ['a run that is not there', () => runs.readRun(nothing), ['nothing', 'run\\.json'], 'storage'],
    [
      'a run that is open already',
      () => {
        using _run = runs.openRun(join(folder, 'twice'));
        runs.openRun(join(folder, 'twice'));
      },
      ['twice', '\\d+'],
      'locked',
    ],
    [
      'a run that is closed',
      async () => {
        const run = runs.openRun(join(folder, 'closed'));
        run[Symbol.dispose]();
        await found({ journal: run.journal });
      },
      ['closed'],
      'storage',
    ],
    [
      'problems as texts',
      () => {
        using run = runs.openRun(join(folder, 'texts'));
        return runs.generate({ run, problems: ['a'], plan: () => ({}) } as Loose);
      },
      ['problems\\[0\\]', 'id', 'undefined'],
    ],
    [
      'two problems of one name',
      () => {
        using run = runs.openRun(join(folder, 'texts'));
        return runs.generate({
          run,
          problems: [{ id: 'a' }, { id: 'a' }],
          plan: () => ({}),
        } as Loose);
      },
      ['problems', 'unique ids', '"a"'],
    ],
    [
      'a file that is no tree',
      () => core.treeFromJson('Buy milk.'),
      ['tree', 'JSON'],
      'invalid-tree',
    ],
    [
      'JSON that is no tree',
      () => core.treeFromJson({ nodes: [] }),
      ['tree', 'format'],
      'invalid-tree',
    ],
    // Data, tools, benchmarks.
    [
      'a rule that was not called',
      () =>
        data.writeDataset({
          out,
          problems: [],
          configs: [
            { name: 'a', rule: data.pairRules.stepDpo, format: data.formats.trl() } as Loose,
          ],
        }),
      ['configs\\[0\\]\\.rule', 'Call it', 'agentQ\\(\\)'],
    ],
    ['a dataset that is not there', () => data.auditDataset(join(folder, 'no-data')), ['no-data']],
    [
      'an upload without a token',
      () => data.uploadDataset({ folder: nothing, repo: 'me/data' } as Loose),
      ['token', 'undefined'],
    ],
    [
      'a tool without its effect',
      () =>
        environments.toolEnvironment(
          {},
          {
            name: 'a',
            task: 'b',
            tools: ((tool: (spec: object) => object) => ({
              look: tool({ run: () => 1 }),
            })) as Loose,
          },
        ),
      ['tools\\.look\\.effect', 'pure', 'undefined'],
    ],
    [
      'tools without a task',
      () => environments.toolEnvironment({}, { name: 'a', tools: () => ({}) } as Loose),
      ['`task`', 'a text', 'undefined'],
    ],
    [
      'a task of messages without a role',
      () =>
        environments.toolEnvironment(
          {},
          { name: 'a', task: [{ content: 'b' }] as Loose, tools: () => ({}) },
        ),
      ['task\\[0\\]\\.role', "'user'", 'undefined'],
    ],
    [
      'tools as an object',
      () => environments.toolEnvironment({}, { name: 'a', task: 'b', tools: {} as Loose }),
      ['tools', 'function', 'object'],
    ],
    [
      'tools that were not awaited',
      () =>
        environments.toolEnvironment(
          {},
          {
            name: 'a',
            task: 'b',
            tools: (() =>
              agents.mcpTools({
                listTools: async () => ({ tools: [] }),
                callTool: async () => ({}),
              } as Loose)) as Loose,
          },
        ),
      ['tools', 'promise', 'await'],
    ],
    [
      'a puzzle as a text',
      () => environments.gameOf24.environment('4 9 10 13' as Loose),
      ['game24', 'object', '4 9 10 13'],
    ],
    [
      'a repository that is none',
      () => environments.gitWorktree({ repository: nothing })(),
      ['nothing', 'git'],
    ],
    [
      'a store that is no memory',
      () => memories.lessons({ memory: memories.inMemoryStore(), kind: 'policy' } as Loose),
      ['memory', 'recall', 'object'],
    ],
    [
      'a task of benchmarks by its name',
      () =>
        bench.compare({
          task: 'game24',
          model,
          methods: ['mcts'],
          budgets: [{ unit: 'calls', limit: 1 }],
          out,
        } as Loose),
      ['task', 'instances', 'game24'],
    ],
    ['a benchmark that is misspelt', () => bench.taskNamed('gsm9k'), ['gsm9k', 'gsm8k']],
    [
      'a price below 0',
      () => found({ prices: { m: { input: -1, output: 1 } } }),
      ["prices\\['m'\\]\\.input", '-1'],
    ],
    ['a pool of time', () => new calls.BudgetPool({ ms: 5 } as Loose), ['budget', 'ms']],
  ];
}
