import { describe, expect, test } from 'vitest';
import { tiny } from '../../src/backends/tiny/index.ts';
import { withCache, withLimit, withRetry, wrapModel } from '../../src/calls/index.ts';
import { type Journal, memoryJournal, replayed } from '../../src/calls/journal.ts';
import type { JournalLine, LineOf } from '../../src/calls/journal-lines.ts';
import { KnownPrompts } from '../../src/calls/known-prompts.ts';
import { mostTokensOfPrompt } from '../../src/calls/operations/tokens.ts';
import type { GenerateRequest, LanguageModel } from '../../src/contracts/language-model.ts';
import { type Budget, bestOfN, mcts, seededRandom, treeToJson } from '../../src/index.ts';
import { manualClock, scriptedModel, syntheticTree } from '../../src/testing/index.ts';
import { hashedAnswer, throughModel } from '../../src/testing/through-model.ts';
import { searchOf } from '../support/search-of.ts';
import { openGate } from './harness.ts';

const prompt = 'How long is a piece of string? As long as it takes, and no longer than that.';
const messages = [{ role: 'user', content: prompt }] as const;
/** The bytes of the prompt and what a template may add to the message and to the prompt. */
const byBytes = prompt.length + 32;

/** A model that answers `a` for 21 tokens in and 1 out, and counts as it is told. */
function counting(count: LanguageModel['count'], used = 21): LanguageModel {
  const scripted = scriptedModel({
    answer: () => 'a',
    usage: (_, { length }) => ({ inputTokens: used, outputTokens: length }),
  });
  return { ...scripted, ...(count !== undefined && { count }) };
}

function intents(lines: readonly JournalLine[], kind: string): readonly LineOf<'intent'>[] {
  return lines.filter(
    (line): line is LineOf<'intent'> => line.type === 'intent' && line.kind === kind,
  );
}

/** What is reserved for one call of 10 tokens at most. */
async function reservedBy(model: LanguageModel, budget: Budget = { tokens: 1000 }) {
  const { calls, journal, ledger } = openGate({ budget });
  await calls.generate(model, { messages, maxTokens: 10 });
  const [asked] = intents([...journal.lines], 'generate');
  return { tokens: asked?.reserved.tokens, lines: journal.lines, ledger };
}

describe('the reservation of a model that counts', () => {
  test('is the tokens of the prompt and of the longest answer', async () => {
    const { tokens, ledger } = await reservedBy(counting(() => 21));

    expect(tokens).toBe(31);
    expect(ledger.spend).toMatchObject({ calls: 1, tokens: 22 });
  });

  test('holds a prompt that many samples share once', async () => {
    const { calls, journal } = openGate({ budget: { tokens: 1000 } });
    await calls.generate(
      counting(() => 21),
      { messages, maxTokens: 10, samples: 3 },
    );

    expect(intents([...journal.lines], 'generate')[0]?.reserved.tokens).toBe(21 + 3 * 10);
  });

  test('asks for each prompt once', async () => {
    let asked = 0;
    const model = counting(() => {
      asked += 1;
      return 21;
    });
    const { calls } = openGate({ budget: { tokens: 1000 } });
    for (const offset of [0, 1, 2])
      await calls.generate(model, { messages, maxTokens: 10, offset });
    await calls.generate(model, { messages, maxTokens: 10, tools: [{ name: 'a', input: {} }] });

    expect(asked).toBe(2);
  });

  test('does not count where no budget limits tokens or dollars', async () => {
    const { tokens, lines } = await reservedBy(
      counting(() => 21),
      { calls: 9 },
    );

    expect(tokens).toBe(byBytes + 10);
    expect(intents(lines, 'count')).toEqual([]);
  });

  test('stays as exact behind middleware', async () => {
    const { tokens } = await reservedBy(
      wrapModel(
        counting(() => 21),
        withCache(),
        withRetry(),
        withLimit({ concurrency: 1 }),
      ),
    );

    expect(tokens).toBe(31);
  });
});

describe('a count that cannot be relied on', () => {
  test.each([
    ['throws', () => Promise.reject(new Error('No.'))],
    [
      'throws at once',
      () => {
        throw new Error('No.');
      },
    ],
    ['is no number', () => 'many' as unknown as number],
    ['is not finite', () => Number.NaN],
    ['is a fraction', () => 20.5],
    ['is nothing', () => 0],
    ['is less than nothing', () => -3],
    ['is beyond all measure', () => 1e9],
  ])('falls back to bytes where the count %s, and the call does not fail', async (_, count) => {
    const { tokens } = await reservedBy(counting(count));

    expect(tokens).toBe(byBytes + 10);
  });

  test('does not wait for a count that hangs, and gives it up after three', async () => {
    const clock = manualClock({ auto: true });
    let asked = 0;
    const model = counting(() => {
      asked += 1;
      return new Promise<number>(() => {});
    });
    const journal = memoryJournal();
    const problem = throughModel(syntheticTree({ branching: 3 }), { model, maxTokens: 1 });
    const budget = { tokens: 2000, simulations: 8 };
    const result = await searchOf({ ...problem, algorithm: bestOfN(), budget, clock, journal });

    expect(result.spend.calls).toBeGreaterThan(8);
    expect(asked).toBe(3);
    expect(clock.now()).toBe(6000);
  });

  test('records the overdraft of a count that tells too little', async () => {
    const { ledger, tokens } = await reservedBy(counting(() => 2));

    expect(tokens).toBe(12);
    expect(ledger.spend.tokens).toBe(22);
    expect(ledger.overdraft.tokens).toBe(10);
  });
});

/** A search on a small budget by a model that takes its time, now more and now less. */
function options(count: LanguageModel['count'], shuffles = true) {
  const scripted = scriptedModel({
    answer: hashedAnswer,
    usage: ({ messages: [{ content } = { content: '' }] }, { length }) => ({
      inputTokens: 2 * content.length,
      outputTokens: length * 3,
    }),
  });
  const turns = async () => {
    for (let left = shuffles ? Math.random() * 4 : 0; left >= 1; left--) {
      await new Promise((resolve) => setImmediate(resolve));
    }
  };
  const model: LanguageModel = {
    ...scripted,
    async generate(request, call) {
      await turns();
      return scripted.generate(request, call);
    },
    async count(request) {
      await turns();
      return (await count?.(request)) as number;
    },
  };
  const problem = throughModel(syntheticTree({ branching: 3, depth: 6 }), {
    model,
    maxTokens: 4,
  });
  return { ...problem, algorithm: mcts(), concurrency: 6, budget: { tokens: 700 } };
}

const exact: LanguageModel['count'] = ({ messages: [{ content } = { content: '' }] }) =>
  2 * content.length;
const fickle: LanguageModel['count'] = (request) => {
  if (Math.random() < 0.3) throw new Error('Not now.');
  return exact(request);
};
const never: LanguageModel['count'] = () => {
  throw new Error('A replay asks nobody.');
};

async function whole(
  given: ReturnType<typeof options>,
  journal: Journal,
  changes: { readonly order?: 'issued'; readonly concurrency?: number } = {},
) {
  const { tree, spend, stopReason } = await searchOf({ ...given, ...changes, journal });
  return JSON.stringify([treeToJson(tree), spend.tokens, stopReason]);
}

describe('a journal of a search that counts', () => {
  test.each([['exactly', exact] as const, ['now and then', fickle] as const])(
    'is replayed byte for byte, without a count: %s',
    async (_, count) => {
      for (let run = 0; run < 20; run++) {
        const journal = memoryJournal();
        const live = await whole(options(count), journal);
        const again = await whole(options(never), replayed(journal));

        expect(again).toBe(live);
      }
    },
  );

  test('cut at any line, is gone on with to a run that replays to the same', async () => {
    const journal = memoryJournal();
    await whole(options(fickle), journal);
    for (let size = 2; size < journal.lines.length; size += 7) {
      const cut = memoryJournal(journal.lines.slice(0, size));
      const resumed = await whole(options(fickle), cut);
      const again = await whole(options(never), replayed(cut));

      expect(again).toBe(resumed);
    }
  });

  test('is that of any other run of the same search, in the order of issue', async () => {
    const order = { order: 'issued' } as const;
    const runs = [1, 2, 3].map(() => whole(options(exact), memoryJournal(), order));

    expect(new Set(await Promise.all(runs)).size).toBe(1);
  });

  test('cut where nothing is under way, comes to the same as the search that was not cut', async () => {
    const alone = { concurrency: 1 };
    const journal = memoryJournal();
    const live = await whole(options(exact), journal, alone);
    const ends = [...journal.lines.entries()].filter(([, { type }]) => type === 'result');
    expect(ends.length).toBeGreaterThan(20);
    for (const [place] of ends.filter((_, at) => at % 3 === 0)) {
      const cut = memoryJournal(journal.lines.slice(0, place + 1));

      expect(await whole(options(exact), cut, alone)).toBe(live);
    }
  });

  test('of a version that knew no counts, has none added', async () => {
    const journal = memoryJournal();
    const ask = async (model: LanguageModel, on: typeof journal) => {
      const { calls, ledger } = openGate({ budget: { tokens: 300 }, journal: on });
      await calls.generate(model, { messages, maxTokens: 10 });
      await calls.generate(model, { messages, maxTokens: 10, offset: 1 });
      return ledger.spend.tokens;
    };
    journal.append({ type: 'journal', version: 3, run: {} });
    const before = await ask(counting(undefined), journal);
    const size = journal.lines.length;

    expect(
      await ask(
        counting(() => 21),
        journal,
      ),
    ).toBe(before);
    expect(journal.lines).toHaveLength(size);
  });
});

describe('the reservation of a model that cannot count', () => {
  const ask = (
    texts: readonly string[],
    { journal = memoryJournal(), used = 21 }: { journal?: Journal; used?: number } = {},
  ) => {
    const { calls } = openGate({ budget: { tokens: 5000 }, journal });
    return texts
      .reduce(async (before, content, offset) => {
        await before;
        const request = { messages: [{ role: 'user', content }], maxTokens: 10, offset } as const;
        await calls.generate(counting(undefined, used), request);
      }, Promise.resolve())
      .then(() => intents([...journal.lines], 'generate').map(({ reserved }) => reserved.tokens));
  };

  test('is the tokens of the longest beginning that was answered, and the bytes of the rest', async () => {
    const other = 'x'.repeat(200);
    const reserved = await ask([prompt, `${prompt} More.`, other, `${prompt} Less.`, prompt]);

    expect(reserved).toEqual([
      byBytes + 10,
      // ` More.` is 6 bytes; a template may add to the message and to the prompt.
      21 + 6 + 32 + 10,
      200 + 32 + 10,
      // The beginning without the rest is as near as the one that ends otherwise: `Less.` is 5 bytes.
      21 + 5 + 32 + 10,
      21 + 32 + 10,
    ]);
  });

  test('is the same in a replay, and never more than the bytes', async () => {
    const texts = [prompt, `${prompt} More.`, prompt.slice(0, 40)];
    const journal = memoryJournal();
    const live = await ask(texts, { journal });
    const again = memoryJournal(journal.lines);
    await ask(texts, { journal: replayed(again) });
    const spent = await ask(texts, { used: 60 });

    expect(live.at(-1)).toBe(21 + 32 + 10);
    expect(spent.at(-1)).toBe(40 + 32 + 10);
  });

  test('is enough for the prompts of a real tokenizer, wherever they part', async () => {
    const random = seededRandom('prompts');
    await using model = tiny();
    const words = ['(left: 4 6 14)', '13/2', ' * ', '= 24', '\n', 'é', '🙂', 'step', '  ', '0'];
    const text = () =>
      Array.from({ length: 1 + random.integer(30) }, () => words[random.integer(10)]).join('');
    const known = new KnownPrompts();
    let closer = 0;
    for (let place = 0; place < 300; place++) {
      const [start, first, second] = [text(), text(), text()];
      const of = (content: string) => ({ messages: [{ role: 'user', content }] }) as const;
      known.of('tiny', of(start + first)).learn(await counted(model, of(start + first)));
      const { most } = known.of('tiny', of(start + second));

      expect(most).toBeGreaterThanOrEqual(await counted(model, of(start + second)));
      if (most < mostTokensOfPrompt(of(start + second))) closer++;
    }
    expect(closer).toBeGreaterThan(50);
  });
});

async function counted(model: LanguageModel, request: GenerateRequest): Promise<number> {
  return (await model.count?.(request)) ?? Number.NaN;
}
