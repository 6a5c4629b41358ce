import { describe, expect, test } from 'vitest';
import { mcts, type SearchEvent } from '../../src/index.ts';
import { banditTree, manualClock, scriptedModel, syntheticTree } from '../../src/testing/index.ts';
import { hashedAnswer, throughModel } from '../../src/testing/through-model.ts';
import { type SearchOf, searchOf, streamSearchOf } from '../support/search-of.ts';

const { environment, policy, evaluator } = banditTree();
const problem = { environment, policy, evaluator };

async function eventsOf(
  options: Partial<SearchOf<readonly number[], number>>,
): Promise<readonly SearchEvent<readonly number[], number>[]> {
  const events: SearchEvent<readonly number[], number>[] = [];
  for await (const event of streamSearchOf({ ...problem, ...options })) events.push(event);
  return events;
}

describe('streamSearch', () => {
  test('tells the first two simulations in order', async () => {
    const events = await eventsOf({ budget: { simulations: 2 } });
    expect(events.map(({ type }) => type)).toEqual([
      'search-start',
      'simulation-start',
      'node-expanded',
      'node-realised',
      'node-evaluated',
      'simulation-end',
      // What was chosen last time has a state; this time its sibling has to be stepped to first.
      'simulation-start',
      'node-realised',
      'node-expanded',
      'node-realised',
      'node-evaluated',
      'simulation-end',
      'search-end',
    ]);
  });

  test('tells each call after it took effect and before what it led to', async () => {
    const model = scriptedModel({ answer: hashedAnswer });
    const events = await eventsOf({
      ...throughModel(problem, { model }),
      budget: { simulations: 1 },
    });
    expect(events.map(({ type }) => type)).toEqual([
      'search-start',
      'simulation-start',
      'call-end',
      'node-expanded',
      'node-realised',
      'call-end',
      'node-evaluated',
      'simulation-end',
      'search-end',
    ]);
    const calls = events.flatMap((event) => (event.type === 'call-end' ? [event.call] : []));
    expect(calls).toEqual([
      {
        callId: '0',
        kind: 'generate',
        name: 'scripted:script',
        spend: { calls: 1, tokens: 4, usd: 0 },
        replayed: false,
        failure: undefined,
      },
      expect.objectContaining({ callId: '1', replayed: false }),
    ]);
  });

  test('numbers simulations from 0, and ends each that it starts', async () => {
    const events = await eventsOf({ budget: { simulations: 20 }, concurrency: 4 });
    const numbers = (type: 'simulation-start' | 'simulation-end') =>
      events
        .flatMap((event) => (event.type === type ? [event.simulation] : []))
        .toSorted((a, b) => a - b);
    const started = numbers('simulation-start');
    expect(started).toEqual(started.map((_, index) => index));
    expect(numbers('simulation-end')).toEqual(started);
    // One that found another at its leaf is handed back, and does not count.
    const counted = events.filter(
      (event) => event.type === 'simulation-end' && event.outcome !== 'waiting',
    );
    expect(counted).toHaveLength(20);
  });
});

describe('the last event', () => {
  test('holds the result that search gives', async () => {
    const budget = { simulations: 30 };
    const last = (await eventsOf({ budget })).at(-1);
    const result = await searchOf({ ...problem, budget });
    if (last?.type !== 'search-end') throw new Error(`The last event is ${last?.type}.`);
    expect(last.result.actions).toEqual(result.actions);
    expect(last.result.stopReason).toBe(result.stopReason);
  });

  test('comes after simulations that only found better', async () => {
    const events = await eventsOf({ budget: { simulations: 60 } });
    const scores = events.flatMap((event) =>
      event.type === 'simulation-end' && event.best.terminal ? [event.best.reward ?? 0] : [],
    );
    expect(scores.at(-1)).toBe(1);
    expect(scores).toEqual(scores.toSorted((a, b) => a - b));
  });
});

describe('the reader of streamSearch', () => {
  test('is waited for before more is bought', async () => {
    const model = scriptedModel({ answer: hashedAnswer });
    let ends = 0;
    for await (const { type } of streamSearchOf({
      ...throughModel(syntheticTree(), { model }),
      budget: { simulations: 10 },
      algorithm: mcts(),
    })) {
      if (type !== 'call-end') continue;
      ends++;
      for (let turn = 0; turn < 5; turn++) await new Promise(setImmediate);
      expect(model.requests.length).toBeLessThanOrEqual(ends + 1);
    }
    expect(ends).toBe(20);
  });

  test('gets the reason of the signal', async () => {
    const controller = new AbortController();
    const reason = new Error('enough');
    const events = streamSearchOf({ ...problem, signal: controller.signal });
    await events.next();
    controller.abort(reason);
    const drain = async () => {
      for await (const _ of events);
    };
    await expect(drain()).rejects.toBe(reason);
  });

  test('stops what is in flight when it throws', async () => {
    const model = scriptedModel({
      answer: hashedAnswer,
      latencyMs: (_request, call) => 5 + call,
    });
    const read = async () => {
      for await (const { type } of streamSearchOf({
        ...throughModel(syntheticTree(), { model }),
        concurrency: 4,
        clock: manualClock({ auto: true }),
      })) {
        if (type === 'node-evaluated') throw new Error('a bug in the reader');
      }
    };
    await expect(read()).rejects.toThrow('a bug in the reader');
    expect(model.inFlight).toBe(0);
    expect(model.aborted).toBeGreaterThan(0);
  });
});
