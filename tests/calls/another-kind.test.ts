import { describe, expect, test } from 'vitest';
import type { DecisionModel } from '../../src/backends/index.ts';
import {
  type JournalLine,
  memoryJournal,
  replayed,
  withCache,
  withLimit,
  withRecording,
  withRetry,
  wrapModel,
} from '../../src/calls/index.ts';
import {
  type Codec,
  type EmbeddingModel,
  type Environment,
  type Evaluator,
  ModelCallError,
  type Operation,
  type Payee,
  type Policy,
  type RewardModel,
  type SearchOptions,
  search,
  systemClock,
  treeToJson,
  type Usage,
} from '../../src/index.ts';

/** A kind of call that the package does not know: it turns one text into several. */
interface Translator extends Payee {
  readonly made: string[];
}

const price = { input: 2, output: 4 };
const translator = (): Translator => ({ provider: 'mine', modelId: 'babel', price, made: [] });

interface Translation {
  readonly texts: readonly string[];
  readonly usage: { readonly inputTokens: number; readonly outputTokens: number };
}

function translate(model: Translator): Operation<string, Translation> {
  return {
    kind: 'translate',
    name: `${model.provider}:${model.modelId}`,
    payee: model,
    repeatable: true,
    address: (text) => ({ text }),
    worstCase: (text) => ({ inputTokens: text.length + 4, outputTokens: 8 }),
    usage: (_, { usage }) => usage,
    async run(text) {
      model.made.push(text);
      const usage = { inputTokens: text.length + 1, outputTokens: 2 };
      return { texts: [`${text}a`, `${text}b`], usage };
    },
  };
}

const environment: Environment<string, string> = {
  name: 'words',
  reset: () => ({ state: '' }),
  step: (_, action) => ({ state: action }),
};
const evaluator: Evaluator<string, string> = {
  needs: 'realised',
  evaluate: (nodes) => nodes.map(({ id }) => ({ value: (id % 4) / 4 })),
};

function translating(model: Translator): Policy<string, string> {
  const operation = translate(model);
  return {
    async propose(node, { context }) {
      const text = node.kind === 'proposed' ? '' : node.state;
      const { texts } = await context.call(operation, text);
      return texts.map((action) => ({ action }));
    },
  };
}

const grow = (model: Translator, options: Partial<SearchOptions<string, string>> = {}) =>
  search(environment, {
    evaluator,
    policy: translating(model),
    budget: { simulations: 6 },
    ...options,
  });

const linesOf = (lines: readonly JournalLine[], type: JournalLine['type']) =>
  lines.filter((line) => line.type === type);

describe('a kind of call that is defined outside', () => {
  test('is reserved at its worst case, written down, and settled by what it used', async () => {
    const model = translator();
    const journal = memoryJournal();
    const { spend } = await grow(model, { journal, budget: { simulations: 1, usd: 1 } });

    // In: 0 + 4, out: 8; (4 · 2 + 8 · 4) / 1 000 000 dollars. Used: 1 in and 2 out.
    expect(linesOf(journal.lines, 'intent')).toMatchObject([
      {
        kind: 'translate',
        name: 'mine:babel',
        request: { text: '' },
        reserved: { calls: 1, tokens: 12, usd: 0.00004 },
      },
    ]);
    expect(linesOf(journal.lines, 'result')).toMatchObject([
      { output: { texts: ['a', 'b'] }, spend: { calls: 1, tokens: 3, usd: 0.00001 } },
    ]);
    expect(spend).toMatchObject({ calls: 1, tokens: 3, usd: 0.00001 });
  });

  test('is refused where the budget cannot hold it, which ends the search and says of which unit', async () => {
    const model = translator();
    const { stopReason, exceeded } = await grow(model, { budget: { simulations: 6, tokens: 11 } });

    expect([stopReason, exceeded]).toEqual(['budget', 'tokens']);
    expect(model.made).toEqual([]);
  });

  test('is not bought twice by a search that goes on with any part of its journal', async () => {
    const first = translator();
    const journal = memoryJournal();
    const whole = await grow(first, { journal });
    const results = linesOf(journal.lines, 'result').length;
    expect(first.made.length).toBe(results);

    for (let cut = 1; cut <= journal.lines.length; cut++) {
      const lines = journal.lines.slice(0, cut);
      const second = translator();
      const result = await grow(second, { journal: memoryJournal(lines) });
      expect(second.made).toEqual(first.made.slice(linesOf(lines, 'result').length));
      expect(treeToJson(result.tree)).toEqual(treeToJson(whole.tree));
    }
  });

  test('is replayed without being made', async () => {
    const journal = memoryJournal();
    const live = await grow(translator(), { journal });
    const silent = translator();
    const replay = await grow(silent, { journal: replayed(journal) });

    expect(silent.made).toEqual([]);
    expect(treeToJson(replay.tree)).toEqual(treeToJson(live.tree));
    expect(replay.spend).toMatchObject({ calls: live.spend.calls, tokens: live.spend.tokens });
  });
});

describe('such a kind', () => {
  const dates: Codec<unknown> = {
    encode: (date) => (date as Date).toISOString(),
    decode: (text) => new Date(String(text)),
  };
  const maps: Codec<unknown> = {
    encode: (map) => [...(map as Map<number, number>)],
    decode: (pairs) => new Map(pairs as [number, number][]),
  };
  test.each<[unknown, Codec<unknown> | undefined]>([
    [{ v: 1 }, undefined],
    [null, undefined],
    [new Date(0), dates],
    [new Map([[1, 2]]), maps],
  ])('keeps its result as it is where its usage cannot be: %o', async (made, result) => {
    for (const told of [{ inputTokens: 2.5 }, { inputTokens: -1, outputTokens: 0 }, null]) {
      const journal = memoryJournal();
      let got: unknown;
      const { spend, failures } = await grow(translator(), {
        journal,
        budget: { simulations: 1 },
        async policy(_node, { context }) {
          const operation = { ...translate(translator()), run: async () => made };
          got = await context.call(
            { ...operation, usage: () => told as Usage, ...(result && { result }) },
            'text',
          );
          return [{ action: 'a' }];
        },
      });
      expect(got).toEqual(made);
      const output = result === undefined ? made : result.encode(made);
      expect(linesOf(journal.lines, 'result')).toMatchObject([{ output }]);
      expect(spend).toMatchObject({ calls: 1, tokens: 4 + 4 + 8 });
      expect(failures.count).toBe(0);
    }
  });

  test('may take its time to check a request, which costs nothing where it is refused', async () => {
    const model = translator();
    const { spend, failures } = await grow(model, {
      async policy(_node, { context }) {
        const check = async (text: string) => {
          throw new Error(`What does ${text} mean?`);
        };
        const { texts } = await context.call({ ...translate(model), check }, 'a');
        return texts.map((action) => ({ action }));
      },
    });
    expect(failures.first[0]?.message).toContain('What does a mean?');
    expect([model.made, spend.calls, spend.tokens]).toEqual([[], 0, 0]);
  });
});

const call = { signal: new AbortController().signal, clock: systemClock };
const usage = { inputTokens: 3, outputTokens: 0 };
const failing = () => {
  let made = 0;
  return () => {
    made++;
    if (made === 1) throw new ModelCallError({ kind: 'overloaded', message: 'Busy.' });
    return made;
  };
};
const layers = (journal = memoryJournal()) =>
  [
    withRecording({ journal }),
    withCache(),
    withRetry({ baseMs: 0 }),
    withLimit({ concurrency: 1 }),
  ] as const;

describe('a middleware', () => {
  test('holds for reward models: solutions are retried, recorded, and bought once each', async () => {
    const make = failing();
    const asked: number[] = [];
    const model: RewardModel = {
      ...{ provider: 'mine', modelId: 'prm' },
      async score({ solutions }) {
        make();
        asked.push(solutions.length);
        return { scores: solutions.map(({ steps }) => steps.map(() => 0.5)), usage };
      },
    };
    const journal = memoryJournal();
    const wrapped = wrapModel(model, ...layers(journal));
    const [a, b, c] = ['a', 'b', 'c'].map((step) => ({ prompt: 'p', steps: [step] }));
    if (a === undefined || b === undefined || c === undefined) throw new Error('There are three.');
    expect(await wrapped.score({ solutions: [a, b] }, call)).toEqual({
      scores: [[0.5], [0.5]],
      usage,
    });
    expect((await wrapped.score({ solutions: [b, c, a] }, call)).scores).toHaveLength(3);
    expect(await wrapped.score({ solutions: [c] }, call)).toEqual({
      scores: [[0.5]],
      usage: { inputTokens: 0, outputTokens: 0 },
      fromCache: true,
    });

    expect(asked).toEqual([2, 1]);
    expect(linesOf(journal.lines, 'attempt')).toHaveLength(1);
    expect(linesOf(journal.lines, 'result')).toHaveLength(3);
  });
});

describe('a middleware, too,', () => {
  test('holds for decision models, and keeps no refusal', async () => {
    const make = failing();
    const model: DecisionModel = {
      ...{ provider: 'mine', modelId: 'judge' },
      async decide({ questions }) {
        const made = make();
        const refused = { kind: 'call', message: 'No.' } as const;
        const answer = made === 2 ? refused : ({ type: 'yes-no', probability: 1 } as const);
        return {
          answers: Object.fromEntries(Object.keys(questions).map((name) => [name, answer])),
        };
      },
    };
    const wrapped = wrapModel(model, ...layers());
    const messages = [{ role: 'user', content: 'Well?' }] as const;
    const request = { messages, questions: { q: { type: 'yes-no', text: 'Good?' } } } as const;
    expect((await wrapped.decide(request, call)).answers).toMatchObject({ q: { kind: 'call' } });
    const answers = { q: { type: 'yes-no', probability: 1 } };
    expect((await wrapped.decide(request, call)).answers).toEqual(answers);
    expect(await wrapped.decide(request, call)).toMatchObject({ answers, fromCache: true });
  });

  test('holds for embedding models', async () => {
    const make = failing();
    const model: EmbeddingModel = {
      ...{ provider: 'mine', modelId: 'vectors' },
      embed: async (texts) => ({ embeddings: texts.map(() => [make()]), usage }),
    };
    const wrapped = wrapModel(model, ...layers());
    expect(await wrapped.embed(['a'], call)).toEqual({ embeddings: [[2]], usage });
    expect((await wrapped.embed(['a'], call)).embeddings).toEqual([[2]]);
    expect((await wrapped.embed(['b'], call)).embeddings).toEqual([[3]]);
  });
});
