// An evaluator that makes several calls at once and has one refused leaves the others in flight when the search ends.
import { expect, test } from 'vitest';
import { systemClock } from '../../src/base/clock.ts';
import { memoryJournal, replayed } from '../../src/calls/journal.ts';
import {
  type Evaluator,
  type LanguageModel,
  ModelCallError,
  mcts,
  type Policy,
} from '../../src/index.ts';
import {
  manualClock,
  type SyntheticState,
  scriptedModel,
  syntheticTree,
} from '../../src/testing/index.ts';
import { treeToJson } from '../../src/tree/serialize.ts';
import { searchOf } from '../support/search-of.ts';

/** The first call fits, the second never does, and the third fits once the first has ended. */
const sizes = [3000, 9000, 400];
const model = () => scriptedModel({ answer: () => 'likely', latencyMs: 10 });

function asking(judge: LanguageModel = model(), tokens = 5000) {
  const { environment, policy } = syntheticTree({ branching: sizes.length });
  const evaluator: Evaluator<SyntheticState, number> = {
    needs: 'realised',
    evaluate: (nodes, { context }) =>
      Promise.all(
        nodes.map(async ({ id }, index) => {
          const messages = [{ role: 'user', content: `Judge node ${id}.` }] as const;
          await context.generate(judge, {
            messages,
            maxTokens: sizes[index % sizes.length] ?? 1,
          });
          return { value: 0.5 };
        }),
      ),
  };
  return {
    ...{ environment, policy, evaluator, algorithm: mcts({ evaluate: 'all' }) },
    ...{ budget: { tokens }, clock: manualClock({ auto: true }) },
  };
}

test.each([1, 3])(
  'calls left in flight are ended and charged what they cost, with %i simulations',
  async (concurrency) => {
    const journal = memoryJournal();
    const judge = model();
    const live = await searchOf({ ...asking(judge), concurrency, journal });
    expect(live).toMatchObject({ stopReason: 'budget', exceeded: 'tokens' });
    const [usage] = live.usage;
    expect(usage?.calls).toBe(judge.requests.length);
    expect(judge.requests.length).toBeGreaterThan(1);
    expect(live.spend.tokens).toBe((usage?.inputTokens ?? 0) + (usage?.outputTokens ?? 0));
    const again = await searchOf({ ...asking(), concurrency, journal: replayed(journal) });
    expect(again).toMatchObject({ spend: { ...live.spend, ms: 0 }, coverage: { unrecorded: 0 } });
    expect(treeToJson(again.tree)).toEqual(treeToJson(live.tree));
  },
);

test('calls left in flight are not bought again by a search that goes on', async () => {
  const journal = memoryJournal();
  const judge = model();
  await searchOf({ ...asking(judge), journal });
  await searchOf({ ...asking(judge, 20_000), journal: memoryJournal(journal.lines) });
  const asked = judge.requests.map(({ messages }) => JSON.stringify(messages));
  expect(new Set(asked).size).toBe(asked.length);
});

test('calls that one refusal leaves in flight are all made again once a server that refused them all is back', async () => {
  const requests: string[] = [];
  let isBusy = true;
  const server: LanguageModel = {
    ...model(),
    async generate({ messages: [message] }, { clock, signal }) {
      requests.push(message?.content ?? '');
      await clock.sleep(requests.length, signal);
      if (isBusy) throw new ModelCallError({ kind: 'rate-limit', message: 'Later.' });
      const usage = { inputTokens: 5, outputTokens: 1 };
      return { completions: [{ text: 'likely', finishReason: 'stop' }], usage };
    },
  };
  const journal = memoryJournal();
  const refused = await searchOf({ ...asking(server, 20_000), journal });
  expect(refused).toMatchObject({ stopReason: 'failed', spend: { calls: 3, tokens: 0 } });
  isBusy = false;
  requests.length = 0;
  const later = memoryJournal(journal.lines);
  const served = await searchOf({ ...asking(server, 20_000), journal: later });
  expect(served.stopReason).not.toBe('failed');
  expect(new Set(requests).size).toBe(requests.length);
  const again = await searchOf({ ...asking(server, 20_000), journal: replayed(later) });
  expect(again.coverage.unrecorded).toBe(0);
  expect(treeToJson(again.tree)).toEqual(treeToJson(served.tree));
});

test('calls left in flight are not waited for once time is up or the caller aborts', async () => {
  const slow = () =>
    scriptedModel({ answer: () => 'likely', latencyMs: (_, call) => (call === 0 ? 10 : 1e9) });
  const late = await searchOf({ ...asking(slow()), budget: { tokens: 5000, ms: 100 } });
  expect(late).toMatchObject({ stopReason: 'budget', exceeded: 'tokens' });
  const caller = new AbortController();
  const judge = slow();
  const left = searchOf({
    ...asking(judge),
    clock: systemClock,
    signal: caller.signal,
  });
  while (judge.requests.length < 2) await new Promise((resolve) => setTimeout(resolve, 5));
  caller.abort(new Error('Enough.'));
  await expect(left).rejects.toThrow('Enough.');
});

test('a call that never ends keeps no search from ending', async () => {
  const clock = manualClock({ auto: true });
  const stuck = scriptedModel({
    answer: () => 'likely',
    latencyMs: (_, call) => (call === 0 ? 10 : Number.MAX_SAFE_INTEGER),
  });
  const journal = memoryJournal();
  const found = await searchOf({ ...asking(stuck), clock, journal });
  expect(found).toMatchObject({ stopReason: 'budget', exceeded: 'tokens' });
  expect(clock.now()).toBeGreaterThanOrEqual(600_000);
  expect(journal.lines.at(-1)).toMatchObject({ type: 'failure', abandoned: true });
  const again = await searchOf({ ...asking(), journal: replayed(journal) });
  expect(treeToJson(again.tree)).toEqual(treeToJson(found.tree));
});

/** A policy that asks a model for a chain of two answers beside one that is refused. */
function chained(asked: string[]) {
  const server: LanguageModel = {
    ...model(),
    async generate({ messages: [message] }, { clock, signal }) {
      const about = message?.content ?? '';
      asked.push(about);
      await clock.sleep(about === 'refused' ? 2 : 20, signal);
      if (about === 'refused') throw new ModelCallError({ kind: 'auth', message: 'Wrong key.' });
      const usage = { inputTokens: 10, outputTokens: 3 };
      return { completions: [{ text: 'likely', finishReason: 'stop' }], usage };
    },
  };
  const policy: Policy<SyntheticState, number> = {
    propose: async (_, { context }) => {
      const ask = (content: string) =>
        context.generate(server, { messages: [{ role: 'user', content }], maxTokens: 800 });
      const chain = async () => {
        await ask('first');
        await ask('second');
      };
      await Promise.all([ask('refused'), chain()]);
      return [{ action: 0 }];
    },
  };
  return { ...asking(), policy };
}

test('nothing is asked any more once a refused key has ended the search', async () => {
  const asked: string[] = [];
  const journal = memoryJournal();
  const found = await searchOf({ ...chained(asked), journal });
  expect(found).toMatchObject({ stopReason: 'failed', spend: { calls: 2, tokens: 13 } });
  expect(asked).toEqual(['refused', 'first']);
  const again = await searchOf({ ...chained([]), journal: replayed(journal) });
  expect(again).toMatchObject({ spend: { calls: 2, tokens: 13 }, coverage: { unrecorded: 0 } });
});

test('a replay of calls that waited for a slot asks for none of them', async () => {
  const losing = () => {
    let isFirst = true;
    const server: LanguageModel = {
      ...model(),
      async generate(request, call) {
        const fails = isFirst;
        isFirst = false;
        await call.clock.sleep(2, call.signal);
        if (fails) throw new ModelCallError({ kind: 'network', message: 'It was lost.' });
        return model().generate(request, call);
      },
    };
    const policy: Policy<SyntheticState, number> = {
      propose: async (_, { context }) => {
        const ask = (content: string) =>
          context.generate(server, { messages: [{ role: 'user', content }], maxTokens: 8 });
        await Promise.all(['a', 'b', 'c', 'd'].map(ask));
        return [{ action: 0 }];
      },
    };
    const concurrency = { simulations: 1, calls: 1 };
    return { ...asking(), policy, budget: { simulations: 5 }, concurrency };
  };
  const journal = memoryJournal();
  const live = await searchOf({ ...losing(), journal });
  expect(live.stopReason).toBe('failed');
  const again = await searchOf({ ...losing(), journal: replayed(journal) });
  expect(again.coverage.unrecorded).toBe(0);
  expect(treeToJson(again.tree)).toEqual(treeToJson(live.tree));
});
