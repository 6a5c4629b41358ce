import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import {
  type Journal,
  type JournalFile,
  memoryJournal,
  openJournal,
  readJournal,
  replayed,
} from '../../src/calls/index.ts';
import {
  type Budget,
  type Environment,
  type LanguageModel,
  ModelCallError,
  mcts,
  type Notation,
  type Policy,
  type ProposeRequest,
  search,
  treeToJson,
} from '../../src/index.ts';
import { fromModel } from '../../src/policies/index.ts';
import { searchOf } from '../support/search-of.ts';
import { type AnyLine, paidBy } from './paid-by.ts';
import { fuzz } from './resume-fuzz.ts';

const folder = mkdtempSync(join(tmpdir(), 'espalier-money-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** A model of 20 tokens in and 1 out, whose reply `answer` says; it may fail, wait and try again. */
function modelOf(
  answer: (
    prompt: string,
    call: Parameters<LanguageModel['generate']>[1],
  ) => Promise<string> | string,
  { modelId = 'scripted', tellsUsage = true } = {},
): LanguageModel & { readonly asked: string[] } {
  const asked: string[] = [];
  return {
    provider: 'test',
    modelId,
    capabilities: { temperature: true },
    asked,
    async generate({ messages }, call) {
      const prompt = String(messages[0]?.content);
      asked.push(prompt);
      const text = await answer(prompt, call);
      const usage = { inputTokens: 20, outputTokens: 1 };
      return { completions: [{ text }], usage: tellsUsage ? usage : {} };
    },
  };
}

/** At the root `width` prompts, which are asked together; each reply is a way to an end. */
function asking(model: LanguageModel, prompts: readonly string[] = ['a', 'b']) {
  return {
    environment: {
      name: 'prompts',
      reset: () => ({ state: '' }),
      step: (_state: string, action: string) => ({
        state: action,
        terminal: true,
        reward: action.length / 10,
      }),
    },
    policy: {
      async propose(_node: unknown, { context }: ProposeRequest) {
        const replies = await Promise.all(
          prompts.map((content) =>
            context.generate(model, { messages: [{ role: 'user', content }], maxTokens: 10 }),
          ),
        );
        return replies.map(({ completions }) => ({ action: completions[0]?.text ?? '' }));
      },
    },
    algorithm: mcts(),
  };
}

function linesOf({ lines }: Pick<Journal, 'lines'>): AnyLine[] {
  return [...lines] as AnyLine[];
}

let files = 0;
function file(text = ''): JournalFile & { readonly path: string } {
  const path = join(folder, `${files++}.jsonl`);
  writeFileSync(path, text);
  return Object.assign(openJournal(path), { path });
}

const never = new Promise<string>(() => {});

describe('a search that goes on after a kill', () => {
  /** A first process in which `a` is never answered, and `b` after an attempt that is charged. */
  async function killed(budget: Budget): Promise<string> {
    const journal = file();
    const controller = new AbortController();
    const model = modelOf(
      async (prompt, call) => {
        if (prompt === 'a') return never;
        await call.retry?.({ message: 'The connection broke.', charged: true });
        return 'found';
      },
      { tellsUsage: false },
    );
    const running = searchOf({
      ...asking(model),
      budget,
      journal,
      signal: controller.signal,
    });
    running.catch(() => {});
    while (!linesOf(journal).some(({ type }) => type === 'result')) await pause();
    controller.abort();
    journal.close();
    return readFileSync(journal.path, 'utf8');
  }

  // One attempt reserves 43, and three were set aside: from just enough for those up to enough for one more.
  const limits = Array.from({ length: 12 }, (_, more) => 129 + 4 * more);

  test.each(limits)('of %i tokens never pays more than that', async (tokens) => {
    const text = await killed({ tokens });
    const journal = file(text);
    const { spend } = await searchOf({
      ...asking(modelOf(() => 'again', { tellsUsage: false })),
      budget: { tokens },
      journal,
    });
    const paid = paidBy(linesOf(journal));
    expect(paid.tokens).toBeLessThanOrEqual(tokens);
    expect(spend).toMatchObject({ tokens: paid.tokens, calls: paid.calls });
  });

  test('replays to the tree that it grew', async () => {
    for (const tokens of limits) {
      const journal = file(await killed({ tokens }));
      const model = modelOf(() => 'again', { tellsUsage: false });
      const options = { ...asking(model), budget: { tokens } };
      const resumed = await searchOf({ ...options, journal });
      const again = await searchOf({ ...options, journal: replayed(readJournal(journal.path)) });
      expect(JSON.stringify(treeToJson(again.tree))).toBe(JSON.stringify(treeToJson(resumed.tree)));
      expect({ ...again.spend, ms: 0 }).toEqual({ ...resumed.spend, ms: 0 });
    }
  });
});

describe('a search on the journal of another', () => {
  test('charges calls that it does not come to, and says at which line it differs', async () => {
    const journal = memoryJournal();
    const before = modelOf(() => 'one');
    await searchOf({ ...asking(before, ['a', 'b', 'c']), budget: { calls: 5 }, journal });
    const after = modelOf(() => 'two');
    const { spend, coverage } = await searchOf({
      ...asking(after, ['a', 'x', 'y', 'z']),
      budget: { calls: 5 },
      journal,
    });
    // Three were paid for, `a` among them; two are left.
    expect(after.asked).toEqual(['x', 'y']);
    expect(spend.calls).toBe(5);
    expect(paidBy(linesOf(journal)).calls).toBe(5);
    expect(linesOf(journal)[(coverage.differsAt ?? 0) - 1]).toMatchObject({
      type: 'intent',
      request: { messages: [{ content: 'b' }] },
    });
  });

  test('says so each time that it is run or replayed, until the journal is another', async () => {
    const journal = memoryJournal();
    const budget = { calls: 9 };
    const first = asking(
      modelOf(() => 'one'),
      ['a', 'b', 'c'],
    );
    await searchOf({ ...first, budget, journal });
    const other = asking(
      modelOf(() => 'two'),
      ['a', 'x'],
    );
    const { coverage } = await searchOf({ ...other, budget, journal });
    expect(coverage.differsAt).toBeGreaterThan(0);
    for (const again of [journal, replayed(journal), journal]) {
      const { coverage: next } = await searchOf({ ...other, budget, journal: again });
      expect(next.differsAt).toBe(coverage.differsAt);
    }
  });

  test('costs nothing where the one before had come to its end', async () => {
    const journal = memoryJournal();
    const options = { budget: { simulations: 3 }, journal };
    const before = await searchOf({ ...asking(modelOf(() => 'one')), ...options });
    const lines = linesOf(journal).length;
    const silent = modelOf(() => 'two');
    const again = await searchOf({ ...asking(silent), ...options });
    expect(silent.asked).toEqual([]);
    expect(linesOf(journal)).toHaveLength(lines);
    expect(again.spend.calls).toBe(before.spend.calls);
  });

  test('goes on where its budget is larger', async () => {
    const journal = memoryJournal();
    const prompts = ['a', 'b', 'c', 'd'];
    const before = await searchOf({
      ...asking(
        modelOf(() => 'one'),
        prompts,
      ),
      budget: { calls: 2 },
      journal,
    });
    expect(before).toMatchObject({ stopReason: 'budget', exceeded: 'calls' });
    const model = modelOf(() => 'two');
    const { spend } = await searchOf({ ...asking(model, prompts), budget: { calls: 4 }, journal });
    expect(model.asked).toEqual(['c', 'd']);
    expect(spend.calls).toBe(4);
  });
});

test("a retry in the order 'issued' does not wait for what waits for it", async () => {
  // Three requests of 44 each are under way; the first is tried again, and cannot have the budget of those behind it.
  for (let tokens = 130; tokens < 200; tokens += 10) {
    const model = modelOf(async (prompt, call) => {
      if (prompt !== 'a') return prompt;
      // The others have been asked, and answered.
      await pause();
      await call.retry?.({ message: 'The connection broke.', charged: true });
      return prompt;
    });
    const running = searchOf({
      ...asking(model, ['a', 'b', 'c']),
      budget: { tokens },
      order: 'issued',
    });
    const late = new Promise<'late'>((resolve) => setTimeout(() => resolve('late'), 500));
    const ended = await Promise.race([running, late]);
    expect(ended, `${tokens} tokens`).not.toBe('late');
  }
});

describe('an outage', () => {
  const overloaded = () => {
    throw new ModelCallError({ kind: 'overloaded', message: 'The server is busy.' });
  };

  test('is over when the server is back: what failed is asked again', async () => {
    const journal = file();
    const options = { budget: { calls: 10 }, journal };
    const out = await searchOf({ ...asking(modelOf(overloaded)), ...options });
    expect(out.stopReason).toBe('failed');
    const model = modelOf((prompt) => `${prompt} is found`);
    const back = await searchOf({ ...asking(model), ...options });
    expect(model.asked).toEqual(['a', 'b']);
    expect(back.best.state).toBe('a is found');
    expect(back.spend.calls).toBe(paidBy(linesOf(journal)).calls);
    const again = await searchOf({
      ...asking(modelOf(overloaded)),
      ...options,
      journal: replayed(readJournal(journal.path)),
    });
    expect(JSON.stringify(treeToJson(again.tree))).toBe(JSON.stringify(treeToJson(back.tree)));
  });

  test('is repeated as it was by a replay', async () => {
    const journal = memoryJournal();
    const budget = { calls: 10 };
    const out = await searchOf({ ...asking(modelOf(overloaded)), budget, journal });
    const again = await searchOf({
      ...asking(modelOf(() => 'x')),
      budget,
      journal: replayed(journal),
    });
    expect(again).toMatchObject({ stopReason: 'failed', spend: { calls: out.spend.calls } });
  });

  test('leaves what failed for good alone, unless that is asked for', async () => {
    const journal = memoryJournal();
    const budget = { calls: 10 };
    const refuse = () => {
      throw new ModelCallError({ kind: 'bad-request', message: 'No such model.' });
    };
    await searchOf({ ...asking(modelOf(refuse)), budget, journal });
    const model = modelOf((prompt) => `${prompt} is found`);
    await searchOf({ ...asking(model), budget, journal });
    expect(model.asked).toEqual([]);
    const back = await searchOf({ ...asking(model), budget, journal, retryFailed: true });
    expect(model.asked).toEqual(['a', 'b']);
    expect(back.best.state).toBe('a is found');
  });

  test('is over for the tree too, when the search is resumed', async () => {
    let isOut = true;
    const model = modelOf((prompt) => (isOut ? overloaded() : `${prompt} is found`));
    const out = await searchOf({ ...asking(model), budget: { calls: 10 } });
    isOut = false;
    const back = await out.resume({ budget: { calls: 10 } });
    expect(back.best.state).toBe('a is found');
  });
});

describe('another model', () => {
  const environment: Environment<string, string> & { readonly notation: Notation<string, string> } =
    {
      name: 'one step',
      reset: () => ({ state: '' }),
      step: (_state: string, action: string) => ({ state: action, terminal: true, reward: 1 }),
      notation: {
        prompt: () => [{ role: 'user', content: 'Go.' }],
        format: (action: string) => action,
        parse: (text: string) => ({ action: text }),
      },
    };

  test('or another temperature is refused: the journal is not its own', async () => {
    const journal = memoryJournal();
    const model = modelOf(() => 'go');
    const ask = (policy: Policy<string, string>) =>
      search(environment, { policy, budget: { calls: 10 }, journal });
    await ask(fromModel({ model }));
    const other = fromModel({
      model: modelOf(() => 'go', { modelId: 'another' }),
    });
    await expect(ask(other)).rejects.toThrow(/belongs to another run: its `models`/);
    const warmer = fromModel({ model, temperature: 0.3 });
    await expect(ask(warmer)).rejects.toThrow(/belongs to another run: its `models`/);
  });

  test('of a policy that does not name it has no budget of its own', async () => {
    const journal = memoryJournal();
    const prompts = ['a', 'b', 'c', 'd'];
    const budget = { calls: 4 };
    await searchOf({
      ...asking(
        modelOf(() => 'one'),
        prompts,
      ),
      budget,
      journal,
    });
    const other = modelOf(() => 'two', { modelId: 'another' });
    const { spend } = await searchOf({ ...asking(other, prompts), budget, journal });
    expect(other.asked).toEqual([]);
    expect(spend.calls).toBe(4);
  });
});

test('a result that cannot be written is not used, and ends the search with a sentence', async () => {
  const kept = memoryJournal();
  const journal: Journal = {
    lines: kept.lines,
    mode: 'record',
    append(line) {
      if (line.type === 'result') throw new RangeError('Maximum call stack size exceeded');
      kept.append(line);
    },
  };
  const model = modelOf((prompt) => prompt);
  const { tree, failure, stopReason, spend } = await searchOf({
    ...asking(model),
    budget: { calls: 10 },
    journal,
  });
  expect(stopReason).toBe('failed');
  expect(failure?.message).toContain('journal could not be used: Maximum call stack size exceeded');
  expect(tree.size).toBe(1);
  expect(spend.calls).toBe(paidBy(linesOf(kept)).calls);
});

test('over kills at every part of a journal, no budget is exceeded and no sum differs', async () => {
  const { runs, resumes, examples, ...faults } = await fuzz(50_000, { resumes: 400 });
  expect(examples).toEqual([]);
  expect(runs).toBeGreaterThan(resumes);
  expect(Object.values(faults).every((count) => count === 0)).toBe(true);
}, 120_000);

function pause(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, 1));
}
