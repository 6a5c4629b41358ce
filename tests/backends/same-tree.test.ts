import { afterAll, beforeAll, expect, test } from 'vitest';
import { anthropic, openai, openaiCompatible, replay } from '../../src/backends/index.ts';
import { memoryJournal } from '../../src/calls/index.ts';
import {
  type Environment,
  type LanguageModel,
  mcts,
  type Notation,
  search,
  treeToJson,
} from '../../src/index.ts';
import { fromModel } from '../../src/policies/index.ts';
import { type Emulator, type EmulatorOptions, emulator } from '../../src/testing/index.ts';
import { heuristic } from '../../src/values/index.ts';

// The wires differ, the search does not.

type Path = readonly number[];

const notation: Notation<Path, number> = {
  prompt: (path) => [
    { role: 'system', content: 'You walk through a maze.' },
    { role: 'user', content: `Your way so far: ${path.join(' ')}. Which door next?` },
  ],
  format: (door) => String(door / 4),
  // The emulator answers with a number in [0, 1); a model without a stop text writes on.
  parse: (text) => {
    const number = Number.parseFloat(text);
    return number >= 0
      ? { action: Math.floor(number * 4) }
      : { failure: { kind: 'parse', message: `Expected a number, got \`${text}\`.` } };
  },
};

const maze: Environment<Path, number> & { readonly notation: typeof notation } = {
  name: 'maze',
  reset: () => ({ state: [] }),
  step: (path, door) => ({ state: [...path, door], terminal: path.length === 4 }),
  key: (path) => path.join(' '),
  notation,
};

/** Known in advance, so that nothing but the wires differs: the fraction whose digits are the doors. */
const evaluator = heuristic((path: Path) =>
  path.reduce((sum, door, depth) => sum + door / 4 ** (depth + 1), 0),
);

async function treeOf(
  model: LanguageModel,
  { concurrency = 1, journal = memoryJournal() } = {},
): Promise<string> {
  const { tree, spend } = await search(maze, {
    policy: fromModel({ model, samples: 3, maxTokens: 16 }),
    evaluator,
    algorithm: mcts(),
    budget: { simulations: 64 },
    concurrency,
    order: 'issued',
    journal,
  });
  expect(spend.simulations).toBe(64);
  expect(tree.size).toBeGreaterThan(30);
  return JSON.stringify(treeToJson(tree), (key, value: unknown) =>
    // How many samples a call brings, and of how many tokens, is a matter of the wire, and so are its names for how
    // they ended.
    ['completion', 'callId', 'calls', 'tokens'].includes(key) ? undefined : value,
  );
}

const dialects: readonly EmulatorOptions['dialect'][] = [
  'openai',
  'vllm',
  'sglang',
  'llama-server',
  'ollama',
  'anthropic',
];
const servers = new Map<EmulatorOptions['dialect'], Emulator>();
beforeAll(async () => {
  for (const dialect of dialects) {
    // Answers come back in another order than they were asked for.
    const latencyMs = (index: number) => (index * 7) % 5;
    servers.set(dialect, await emulator({ dialect, latencyMs, models: ['emulated'] }));
  }
});
afterAll(async () => {
  for (const server of servers.values()) await server.close();
});

const url = (dialect: EmulatorOptions['dialect']) => servers.get(dialect)?.url ?? '';
const server = (preset: 'llama-server' | 'ollama' | 'sglang' | 'vllm') => () =>
  openaiCompatible({ preset, baseUrl: url(preset), model: 'emulated' });
const hosted = { model: 'emulated', apiKey: 'sk-for-nobody' } as const;

const backends: Readonly<Record<string, () => LanguageModel>> = {
  vllm: server('vllm'),
  sglang: server('sglang'),
  'llama-server': server('llama-server'),
  ollama: server('ollama'),
  'openai, Chat Completions': () =>
    openai({ ...hosted, baseUrl: `${url('openai')}/v1`, api: 'chat' }),
  'openai, Responses': () =>
    openai({ ...hosted, baseUrl: `${url('openai')}/v1`, api: 'responses' }),
  anthropic: () => anthropic({ ...hosted, baseUrl: url('anthropic') }),
  'a server that is looked at': () => openaiCompatible({ baseUrl: url('vllm'), model: 'emulated' }),
};

const names = Object.keys(backends);
const modelOf = (name: string) => backends[name]?.() as LanguageModel;

const alone: string[] = [];
test.each(names)('64 simulations through %s grow the same tree', async (name) => {
  alone.push(await treeOf(modelOf(name)));
  // Not a comparison of texts: its difference would fill a screen.
  expect(new Set(alone).size).toBe(1);
});

// A model without `n` is asked for one sample first and then for the others, and so in other rounds than one that
// brings all at once: with several simulations under way the two kinds come to things in another order.
const together = { batches: [] as string[], singles: [] as string[] };
test.each(names)('four at a time through %s as well, as by others of its kind', async (name) => {
  const model = modelOf(name);
  const tree = await treeOf(model, { concurrency: 4 });
  const kind = model.capabilities.n === true ? together.batches : together.singles;
  kind.push(tree);
  expect(new Set(kind).size).toBe(1);
});

test('and so does a replay of the journal', async () => {
  const journal = memoryJournal();
  const live = await treeOf(modelOf('vllm'), { concurrency: 4, journal });
  expect((await treeOf(replay({ journal }), { concurrency: 4 })) === live).toBe(true);
});
