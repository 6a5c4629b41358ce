import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import type { Journal } from '../../src/calls/journal.ts';
import { memoryJournal } from '../../src/calls/journal.ts';
import type { JournalLine } from '../../src/calls/journal-lines.ts';
import { toolEnvironment } from '../../src/environments/index.ts';
import type { Loose } from '../support/loose.ts';
import { type Asked, Witness, type Witnessing } from '../support/witness.ts';
import { Disk, Life } from './world-lives.ts';
import { add, get, list, note, pathOf, set, stepFrom } from './world-path.ts';
import { furnish, type ToolWorld, toolsOf } from './world-tools.ts';

function worldOn(
  ask: Witnessing,
  journal: Journal,
  changes: (tool: Loose) => object = () => ({}),
): ToolWorld {
  const usual = toolsOf(ask);
  const tools = (tool: Loose) => ({ ...usual(tool), ...changes(tool) });
  return toolEnvironment([], { name: 'world', task: 'Do it.', tools, journal });
}

async function scene(changes?: (ask: Witnessing) => (tool: Loose) => object) {
  const witness = new Witness();
  const ask: Witnessing = async (asked) => witness.ask(asked);
  await furnish(ask);
  const journal = memoryJournal();
  const environment = worldOn(ask, journal, changes?.(ask));
  const before = witness.dump();
  return { witness, ask, journal, environment, before };
}

const deeds = (lines: readonly JournalLine[]) =>
  lines.flatMap((line) => (line.type === 'deed' ? [`${line.deed} ${line.stage}`] : []));

describe('tools that change the outside', () => {
  test('leave it as it was when a step returns', async () => {
    const { witness, environment, journal, before } = await scene();
    const node = await pathOf(environment, [set('a', 'new'), add('x')]);

    expect(node.state?.calls.map(({ fate }) => fate)).toEqual(['ran', 'ran']);
    expect(witness.dump()).toEqual(before);
    expect(deeds(journal.lines)).toEqual([
      '0 begin',
      '0 done',
      '0 undone',
      '1 begin',
      '1 done',
      '2 begin',
      '2 done',
      '2 undone',
      '1 undone',
    ]);
  });

  test('are written down before they do anything, with what they want to remember', async () => {
    const seen: string[][] = [];
    const { journal, environment } = await scene((ask) => (tool) => ({
      set: tool({
        input: z.object({ key: z.string(), value: z.string() }),
        effect: 'reversible',
        remember: (_: unknown, { key }: Loose) => ask({ op: 'get', key }),
        run: () => void seen.push(deeds(journal.lines)),
        undo: () => void seen.push(deeds(journal.lines)),
      }),
    }));
    await pathOf(environment, [note('n'), set('a', 'new')]);

    expect(seen).toEqual([['0 begin'], ['0 begin', '0 done']]);
    expect(journal.lines[1]).toMatchObject({
      ...{ of: 'branch', environment: 'world', name: 'set', data: ['n'], remembered: 'old a' },
    });
  });

  test('are seen only by later reads', async () => {
    const { environment } = await scene();
    const start = await pathOf(environment, []);
    const changed = await stepFrom(environment, start, set('a', 'new'));
    const nodes = await Promise.all([
      stepFrom(environment, changed, get('a')),
      stepFrom(environment, start, get('a')),
      stepFrom(environment, changed, add('x')).then((node) => stepFrom(environment, node, list)),
      stepFrom(environment, start, list),
    ]);
    const seen = nodes.map(({ state }) => state?.calls.at(-1)?.seen);
    const { addressOf } = await import('../../src/environments/tools/plan.ts');

    expect(seen).toEqual(['new', 'old a', ['x'], []].map(addressOf));
  });

  test.each(Array.from({ length: 60 }, (_, steps) => steps))(
    'are taken back by the next process where one is killed after %i steps',
    async (steps) => {
      const witness = new Witness();
      const ask: Witnessing = async (asked) => witness.ask(asked);
      await furnish(ask);
      const before = witness.dump();
      const disk = new Disk();
      const life = new Life(steps);
      const first = worldOn(life.asking(ask), disk.journal(life));
      await life.live(() => pathOf(first, [set('a', '1'), add('x'), set('a', '2'), list]));
      // The second one is killed too, in the middle of taking back.
      const next = new Life(steps % 7);
      const second = worldOn(next.asking(ask), disk.journal(next));
      await next.live(() => second.recover());
      const { failed } = await worldOn(ask, disk.journal(new Life())).recover();

      expect(failed).toEqual([]);
      expect(witness.dump()).toEqual(before);
    },
  );
});

describe('tools that go wrong outside', () => {
  test('are taken back at once where they throw, whatever they have done by then', async () => {
    const { witness, environment, before } = await scene((ask) => (tool) => ({
      half: tool({
        input: z.object({}),
        effect: 'reversible',
        run: async () => {
          await ask({ op: 'set', key: 'half', value: 1 });
          throw new Error('No.');
        },
        undo: () => ask({ op: 'remove', key: 'half' }),
      }),
    }));
    const node = await pathOf(environment, [set('a', '1'), { tool: 'half', input: {} }, get('a')]);

    expect(node.state?.calls.map(({ fate }) => fate)).toEqual(['ran', 'failed', 'ran']);
    expect(witness.dump()).toEqual(before);
  });

  test('wait for what cannot be taken back, the newest first', async () => {
    let isBroken = true;
    const { witness, environment, before } = await scene((ask) => (tool) => ({
      sticky: tool({
        input: z.object({}),
        effect: 'reversible',
        run: () => ask({ op: 'set', key: 'a', value: 'sticky' }),
        undo: () => {
          if (isBroken) throw new Error('Stuck.');
          return ask({ op: 'set', key: 'a', value: 'mine' });
        },
      }),
    }));
    const node = await pathOf(environment, [set('a', 'mine')]);
    const sticky = stepFrom(environment, node, { tool: 'sticky', input: {} });
    await expect(sticky).rejects.toThrow('`sticky` could not be taken back: Stuck.');
    await expect(pathOf(environment, [add('x')])).rejects.toThrow('could not be taken back');
    expect(await environment.recover()).toEqual({
      undone: 0,
      failed: [expect.stringContaining('Stuck.')],
    });
    isBroken = false;

    expect(await environment.recover()).toEqual({ undone: 2, failed: [] });
    expect(witness.dump()).toEqual(before);
    await pathOf(environment, [add('x')]);
    expect(witness.dump()).toEqual(before);
  });
});

describe('tools outside, one after the other', () => {
  test('keep others out as long as a run goes on that was given up, and are taken back behind it', async () => {
    let end = (): void => {};
    const { witness, environment, before } = await scene((ask) => (tool) => ({
      slow: tool({
        input: z.object({}),
        effect: 'reversible',
        timeoutMs: 5,
        remember: () => ask({ op: 'get', key: 'a' }),
        run: async () => {
          await new Promise<void>((resolve) => {
            end = resolve;
          });
          await ask({ op: 'set', key: 'a', value: 'late' });
        },
        undo: (_: unknown, __: unknown, { remembered }: Loose) =>
          ask({ op: 'set', key: 'a', value: remembered }),
      }),
    }));
    const node = await pathOf(environment, [set('a', '1')]);
    const slow = stepFrom(environment, node, { tool: 'slow', input: {} });
    await new Promise((resolve) => setTimeout(resolve, 100));
    const waiting = stepFrom(environment, node, get('a'));
    const [late] = await Promise.all([
      slow,
      expect(waiting).rejects.toThrow('locked by an abandoned call'),
    ]);

    expect(late.state?.calls.at(-1)?.fate).toBe('failed');
    await expect(stepFrom(environment, node, add('x'))).rejects.toThrow(
      'locked by an abandoned call',
    );
    end();
    await environment.close();
    expect(witness.dump()).toEqual(before);
    expect((await pathOf(environment, [get('a')])).state?.calls).toHaveLength(1);
  });

  test('are done by one state after the other, in time too', async () => {
    const { environment, witness } = await scene();
    const node = await pathOf(environment, []);
    const from = witness.log.length;
    await Promise.all([1, 2, 3].map((n) => stepFrom(environment, node, set('a', `${n}`))));
    const values = witness.log
      .slice(from)
      .flatMap((asked: Asked) => (asked.op === 'set' ? [asked.value] : []));

    expect(values).toEqual(['1', 'old a', '2', 'old a', '3', 'old a']);
  });
});
