/**
 * A search of a pool that was killed at any line of its journal comes to the tree that it would have come to: the budget
 * makes up for what the kill lost, and nobody else takes the room of the calls that are made again.
 */
import { expect, test } from 'vitest';
import { BudgetPool, type JournalLine, memoryJournal, replayed } from '../../src/calls/index.ts';
import { beam, type Environment, ModelCallError, search, treeToJson } from '../../src/index.ts';
import { fromModel } from '../../src/policies/index.ts';
import { scriptedModel } from '../../src/testing/index.ts';
import { heuristic, judge } from '../../src/values/index.ts';

const letters: Environment<string, string> = {
  name: 'letters',
  reset: () => ({ state: '' }),
  step: (state, action) => ({ state: state + action }),
  notation: {
    prompt: (state) => [{ role: 'user', content: `The letters so far: ${state}` }],
    format: (action) => action,
    parse: (text) => ({ action: text }),
  },
};

const words = ['sure', 'likely', 'impossible'];

interface Setting {
  readonly calls: number;
  readonly concurrency: number;
}

/** A search on the lines of a journal. Each request is one call, and they come back in another order than they went. */
async function run({ calls, concurrency }: Setting, lines: readonly JournalLine[] = []) {
  const journal = memoryJournal(lines);
  const model = scriptedModel({
    capabilities: {},
    latencyMs: (_request, call) => (call * 7) % 5,
    answer: ({ messages }, index) => {
      const isJudged = messages.some(({ content }) => String(content).includes('impossible'));
      return (isJudged ? words : ['a', 'b', 'c'])[index % 3] ?? '';
    },
  });
  const { tree, stopReason } = await search(letters, {
    policy: fromModel({ model, samples: 2 }),
    evaluator: judge({ model, samples: 3 }),
    budget: { calls },
    pool: new BudgetPool({ calls: 1_000 }),
    ...{ journal, concurrency, order: 'issued', seed: 1 },
  });
  return { outcome: { stopReason, tree: treeToJson(tree) }, lines: journal.lines };
}

test.each([3, 4, 5, 7, 9, 12, 20].flatMap((calls) => [1, 2, 4].map((at) => [calls, at] as const)))(
  'a budget of %i calls, %i at once',
  async (calls, concurrency) => {
    const setting = { calls, concurrency };
    const whole = await run(setting);
    for (let cut = 0; cut < whole.lines.length; cut++) {
      const resumed = await run(setting, whole.lines.slice(0, cut));
      expect(resumed.outcome, `cut at line ${cut}`).toEqual(whole.outcome);
      // Killed once more, and then left alone.
      const last = (cut + resumed.lines.length) >> 1;
      const again = await run(setting, resumed.lines.slice(0, last));
      expect(again.outcome, `cut at line ${cut}, then at line ${last}`).toEqual(whole.outcome);
      const replayed = await run(setting, again.lines);
      expect(replayed.outcome, `replayed after a cut at line ${cut}`).toEqual(whole.outcome);
    }
  },
);

/** A search by levels. All nodes of a level are judged at once, and if one cannot be judged, the level fails. */
async function runLevels(lines: readonly JournalLine[] = [], retryFailed = false) {
  const journal = memoryJournal(lines);
  const model = scriptedModel({
    latencyMs: 1,
    answer: ({ messages }) => {
      if (messages[0]?.content === 'aa') throw new Error('refused');
      return 'fine';
    },
  });
  const { tree } = await search(letters, {
    policy: { propose: async () => [{ action: 'a' }, { action: 'b' }] },
    evaluator: {
      needs: 'realised',
      evaluate: (nodes, { context }) =>
        Promise.all(
          nodes.map(async ({ state = '' }) => {
            await context.generate(model, { messages: [{ role: 'user', content: state }] });
            return { value: 0.5 };
          }),
        ),
    },
    algorithm: beam({ width: 2, batch: 'level' }),
    budget: { calls: 14 },
    pool: new BudgetPool({ calls: 1_000 }),
    ...{ journal, order: 'issued', seed: 1, retryFailed },
  });
  return { tree: treeToJson(tree), lines: journal.lines, requests: model.requests.length };
}

test('a finished search repeats free of charge even if it ended with calls in flight', async () => {
  const whole = await runLevels();
  for (let cut = 0; cut < whole.lines.length; cut++) {
    const resumed = await runLevels(whole.lines.slice(0, cut));
    const repeated = await runLevels(resumed.lines);
    expect(repeated.requests, `after a cut at line ${cut}`).toBe(0);
    expect(repeated.lines, `after a cut at line ${cut}`).toEqual(resumed.lines);
    expect(repeated.tree, `after a cut at line ${cut}`).toEqual(whole.tree);
  }
});

test('a search that made failed calls again repeats free of charge, with the calls it waited for', async () => {
  const { lines } = await runLevels();
  for (let cut = 0; cut < lines.length; cut++) {
    const resumed = await runLevels(lines.slice(0, cut));
    const retried = await runLevels(resumed.lines, true);
    expect(retried.requests).toBeGreaterThan(0);
    const repeated = await runLevels(retried.lines);
    expect(repeated.requests, `after a cut at line ${cut}`).toBe(0);
    expect(repeated.lines, `after a cut at line ${cut}`).toEqual(retried.lines);
    expect(repeated.tree, `after a cut at line ${cut}`).toEqual(retried.tree);
  }
});

/** A search whose model refuses the key from a call on, and answers again in later processes. */
async function runRefused(
  lines: readonly JournalLine[],
  options: {
    readonly order: 'arrival' | 'issued';
    readonly answered?: number;
    readonly isReplay?: boolean;
  },
) {
  const { order, answered = Infinity, isReplay = false } = options;
  const journal = memoryJournal(lines);
  let calls = 0;
  const model = scriptedModel({
    capabilities: {},
    latencyMs: (_request, call) => (call * 7) % 5,
    answer: (_request, index) => {
      if (calls++ >= answered) throw new ModelCallError({ kind: 'auth', message: 'No such key.' });
      return ['a', 'b', 'c'][index % 3] ?? '';
    },
  });
  const { tree, stopReason, failure } = await search(letters, {
    policy: fromModel({ model, samples: 3 }),
    evaluator: heuristic((state) => state.length / 20),
    algorithm: beam({ width: 3 }),
    budget: { simulations: 4 },
    journal: isReplay ? replayed(journal) : journal,
    ...{ order, concurrency: 4, seed: 1 },
  });
  const outcome = { stopReason, failure: failure?.message, tree: treeToJson(tree) };
  return { outcome, lines: journal.lines, requests: model.requests.length };
}

test.each(['arrival', 'issued'] as const)(
  'a search that was killed and then ended by a refused key goes on once the key is accepted, in order of %s',
  async (order) => {
    const whole = await runRefused([], { order });
    let stuck = 0;
    for (let cut = 0; cut < whole.lines.length; cut++) {
      for (const answered of [0, 1]) {
        const where = `cut at line ${cut}, refused after ${answered} calls`;
        const refused = await runRefused(whole.lines.slice(0, cut), { answered, order });
        if (refused.outcome.stopReason !== 'failed') continue;
        stuck += 1;
        const twice = await runRefused(refused.lines, { answered, order });
        const ended = await runRefused(twice.lines, { order, isReplay: true });
        expect(ended.outcome, `the record of the failure, ${where}`).toEqual(twice.outcome);
        const healed = await runRefused(twice.lines, { order });
        expect(healed.outcome.stopReason, where).toBe(whole.outcome.stopReason);
        if (order === 'issued') expect(healed.outcome, where).toEqual(whole.outcome);
        const repeated = await runRefused(healed.lines, { order });
        expect(repeated, `repeated, ${where}`).toEqual({ ...healed, requests: 0 });
        const replay = await runRefused(healed.lines, { order, isReplay: true });
        expect(replay.outcome, `replayed, ${where}`).toEqual(healed.outcome);
      }
    }
    expect(stuck).toBeGreaterThan(9);
  },
);
