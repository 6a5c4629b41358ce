import { describe, expect, test } from 'vitest';
import {
  banditTree,
  manualClock,
  plainContext,
  scriptedModel,
  ticTacToe,
} from '../../src/testing/index.ts';
import { ticTacToePositions } from '../../src/testing/tic-tac-toe.ts';

describe('manualClock', () => {
  test('stands still until it is moved', async () => {
    const clock = manualClock({ startAt: 7 });
    await new Promise(setImmediate);
    expect(clock.now()).toBe(7);
    await clock.advance(3);
    expect(clock.now()).toBe(10);
  });

  test('wakes sleepers in order, each at its own time', async () => {
    const clock = manualClock();
    const woken: string[] = [];
    const nap = async (name: string, ms: number) => {
      await clock.sleep(ms);
      woken.push(`${name} at ${clock.now()}`);
    };
    const naps = [nap('late', 30), nap('early', 10), nap('second early', 10), nap('never', 31)];
    expect(clock.sleepers).toBe(4);
    await clock.advance(30);
    expect(woken).toEqual(['early at 10', 'second early at 10', 'late at 30']);
    await clock.advance(1);
    await Promise.all(naps);
  });

  test('wakes within an advance who falls asleep on the way', async () => {
    const clock = manualClock();
    let wokenAt = 0;
    const napping = clock
      .sleep(10)
      .then(() => clock.sleep(15))
      .then(() => {
        wokenAt = clock.now();
      });
    await clock.advance(100);
    await napping;
    expect(wokenAt).toBe(25);
  });

  test('lets go of a sleeper whose signal aborts', async () => {
    const clock = manualClock();
    const controller = new AbortController();
    const napping = clock.sleep(5, controller.signal);
    controller.abort(new Error('up you get'));
    await expect(napping).rejects.toThrow('up you get');
    await expect(clock.sleep(5, controller.signal)).rejects.toThrow('up you get');
    expect(clock.sleepers).toBe(0);
  });

  test('moves itself where it is told to, and several of them do so at once', async () => {
    const clocks = [manualClock({ auto: true }), manualClock({ auto: true })];
    const times = await Promise.all(
      clocks.map(async (clock) => {
        for (let nap = 0; nap < 20; nap++) await clock.sleep(1000);
        return clock.now();
      }),
    );
    expect(times).toEqual([20_000, 20_000]);
  });

  test('does not move itself while there is work to do', async () => {
    const clock = manualClock({ auto: true });
    const napping = clock.sleep(10).then(() => 'woken');
    const working = (async () => {
      for (let turn = 0; turn < 50; turn++) await new Promise(setImmediate);
      return clock.now();
    })();
    expect(await Promise.race([napping, working])).toBe(0);
    expect(await napping).toBe('woken');
  });
});

describe('scriptedModel', () => {
  const messages = [{ role: 'user' as const, content: 'hello there' }];

  test('answers each sample by its index, and remembers what it was asked', async () => {
    const model = scriptedModel({ answer: (_request, index) => `sample ${index}` });
    const { completions, usage } = await plainContext().generate(model, {
      messages,
      samples: 2,
      offset: 3,
    });
    expect(completions.map(({ text }) => text)).toEqual(['sample 3', 'sample 4']);
    expect(usage).toEqual({ inputTokens: 3, outputTokens: 4 });
    expect(model.requests).toHaveLength(1);
    expect(model.completions).toBe(2);
  });

  test('takes its time, and stops when it is aborted', async () => {
    const controller = new AbortController();
    const clock = manualClock();
    const context = plainContext({ clock, signal: controller.signal });
    const model = scriptedModel({ answer: () => 'late', latencyMs: 50 });
    const calls = [context.generate(model, { messages }), context.generate(model, { messages })];
    const settled = Promise.allSettled(calls);
    await clock.advance(49);
    expect(model).toMatchObject({ inFlight: 2, mostInFlight: 2, completions: 0 });
    controller.abort(new Error('enough'));
    expect((await settled).map(({ status }) => status)).toEqual(['rejected', 'rejected']);
    expect(model).toMatchObject({ inFlight: 0, aborted: 2, completions: 0 });
  });
});

test('a bandit tree has one best path, and a first look that misleads', () => {
  for (let seed = 0; seed < 10; seed++) {
    const { best, value } = banditTree({ seed });
    expect(value([])).toBe(1);
    expect(value(best)).toBe(1);
    for (const arm of [0, 1, 2, 3]) {
      if (arm !== best[0]) expect(value([arm])).toBeLessThanOrEqual(0.6);
    }
  }
});

test('the positions of tic-tac-toe are worth what their titles say', () => {
  const worth = Object.values(ticTacToePositions).map((board) => ticTacToe(board).value);
  expect(worth).toEqual([0.5, 1, 0.5, 1, 0]);
  expect(() => ticTacToe('xxx......')).toThrow('Expected `start` to be a game under way');
});
