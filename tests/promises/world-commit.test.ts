import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import type { Journal } from '../../src/calls/journal.ts';
import { memoryJournal, replayed } from '../../src/calls/journal.ts';
import { openJournal } from '../../src/calls/journal-file.ts';
import type { JournalLine } from '../../src/calls/journal-lines.ts';
import { toolEnvironment } from '../../src/environments/index.ts';
import type { JsonValue } from '../../src/index.ts';
import type { Loose } from '../support/loose.ts';
import { Witness, type Witnessing } from '../support/witness.ts';
import { Disk, Life } from './world-lives.ts';
import { add, call, get, list, mail, note, pathOf, set, stepFrom } from './world-path.ts';
import { byHand, furnish, type ToolWorld, toolsOf } from './world-tools.ts';

const approve = () => true;

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
  return { witness, ask, journal, environment, before: witness.dump() };
}

async function doneByHand(actions: Parameters<typeof byHand>[1]): Promise<JsonValue> {
  const other = new Witness();
  return byHand(async (asked) => other.ask(asked), actions);
}

const path = [set('a', '1'), note('n'), mail('m'), add('x'), list, call('c')];
const sentIn = ({ log }: Witness) => log.filter(({ op }) => op === 'send').length;

describe('a commit', () => {
  test('does what is on the path once, in its order, and tells what came out', async () => {
    const { witness, environment, journal } = await scene();
    const node = await pathOf(environment, path);
    const plans: unknown[] = [];
    const committed = await environment.commit(node, {
      journal,
      approve: (plan) => plans.push(plan) > 0,
    });

    expect(committed).toMatchObject({ status: 'committed', notDone: [] });
    expect(committed.done.map(({ tool, output }) => [tool, output])).toEqual([
      ['set', '1'],
      ['mail', 'sent m'],
      ['add', 'added'],
      ['call', 'called'],
    ]);
    expect(witness.dump()).toEqual(await doneByHand(path));
    expect(plans).toMatchObject([
      {
        calls: [{ tool: 'set' }, { tool: 'mail' }, { tool: 'add' }, { tool: 'call' }],
        before: [],
        after: ['n', 'm'],
      },
    ]);
  });

  test('does nothing the second time, and only what is new where the path has grown', async () => {
    const { witness, environment, journal } = await scene();
    const node = await pathOf(environment, [set('a', '1'), get('a'), mail('m')]);
    await environment.commit(node, { journal, approve });
    const from = witness.log.length;
    const again = await environment.commit(node, { journal, approve: () => false });
    expect(again).toMatchObject({ status: 'committed', done: [{}, {}] });
    expect(witness.log).toHaveLength(from);

    // The search goes on from what was committed.
    const further = await stepFrom(environment, node, get('a'));
    const longer = await stepFrom(environment, further, add('x'));
    const grown = await environment.commit(longer, { journal, approve });
    expect(grown).toMatchObject({ status: 'committed', done: [{}, {}, { tool: 'add' }] });
    expect(witness.dump()).toEqual(await doneByHand([set('a', '1'), mail('m'), add('x')]));

    // What does not go on from there is out of date, in the next process too.
    for (const world of [
      environment,
      worldOn(async (asked) => witness.ask(asked), memoryJournal(journal.lines)),
    ]) {
      const other = await pathOf(world, []);
      await expect(
        stepFrom(world, other, set('a', '2')).then((child) => stepFrom(world, child, get('a'))),
      ).rejects.toThrow('A commit has made other calls');
    }
    const mailed = await pathOf(environment, [call('c')]);
    expect(await environment.commit(mailed, { journal, approve })).toMatchObject({
      status: 'stale',
      done: [],
      notDone: [{ tool: 'call' }],
    });
    expect(sentIn(witness)).toBe(1);
  });
});

describe('a commit that cannot be carried out as it was planned', () => {
  test('is refused where it is not approved, nobody is asked, or a call is not permitted any more', async () => {
    const { witness, environment, journal, before } = await scene();
    const node = await pathOf(environment, path);

    expect(await environment.commit(node, { journal, approve: () => false })).toMatchObject({
      ...{ status: 'refused', done: [], message: 'It was not approved.' },
      notDone: [{}, {}, {}, {}],
    });
    await expect(environment.commit(node, { journal })).rejects.toThrow('Pass `approve`');
    await expect(
      environment.commit(node, { journal: replayed(memoryJournal()), approve }),
    ).rejects.toThrow('Open it with `openJournal`');
    expect(witness.dump()).toEqual(before);
  });

  test('is stale where something else would be read by now, and does nothing then', async () => {
    const { witness, environment, journal } = await scene();
    const node = await pathOf(environment, [set('a', '1'), get('b'), mail('m')]);
    witness.ask({ op: 'set', key: 'b', value: 'by another' });
    const before = witness.dump();

    expect(await environment.commit(node, { journal, approve })).toMatchObject({
      status: 'stale',
      message: expect.stringContaining('`get` gave another output'),
      notDone: [{ tool: 'set' }, { tool: 'mail' }],
    });
    expect(witness.dump()).toEqual(before);
  });

  test('stops where something else came out than was predicted, and stays there', async () => {
    const { witness, environment, journal } = await scene((ask) => (tool) => ({
      bluff: tool({
        input: z.object({}),
        effect: 'irreversible',
        predict: () => ({ output: 'yes' }),
        run: async (...[, , { id }]: Loose[]) => {
          await ask({ op: 'send', id, text: 'bluff' });
          return 'no';
        },
      }),
    }));
    const node = await pathOf(environment, [{ tool: 'bluff', input: {} }, mail('m')]);
    for (const _time of [1, 2]) {
      expect(await environment.commit(node, { journal, approve })).toMatchObject({
        ...{ status: 'drifted', done: [{ tool: 'bluff', output: 'no' }] },
        notDone: [{ tool: 'mail' }],
      });
    }
    expect(sentIn(witness)).toBe(1);
  });

  test('takes back what fails where that can be, and tells what was done before', async () => {
    let isBroken = false;
    const { witness, environment, journal } = await scene((ask) => (tool) => ({
      half: tool({
        input: z.object({}),
        effect: 'reversible',
        run: async () => {
          await ask({ op: 'set', key: 'half', value: 1 });
          if (isBroken) throw new Error('No.');
        },
        undo: () => ask({ op: 'remove', key: 'half' }),
      }),
    }));
    const node = await pathOf(environment, [mail('m'), { tool: 'half', input: {} }, call('c')]);
    isBroken = true;
    expect(await environment.commit(node, { journal, approve })).toMatchObject({
      ...{ status: 'failed', message: '`half` failed, and was taken back: No.' },
      ...{ done: [{ tool: 'mail' }], notDone: [{ tool: 'half' }, { tool: 'call' }] },
    });
    expect(witness.dump()).toEqual(await doneByHand([mail('m')]));
    isBroken = false;
    expect(await environment.commit(node, { journal, approve })).toMatchObject({
      status: 'committed',
    });
    expect(sentIn(witness)).toBe(2);
  });
});

describe('a commit of what cannot be taken back', () => {
  test('asks what became of a call that threw, and runs it again under the same name only if told so', async () => {
    const ids: string[] = [];
    const { environment, journal } = await scene(() => (tool) => ({
      shout: tool({
        input: z.object({}),
        effect: 'irreversible',
        run: (...[, , { id }]: Loose[]) => {
          if (ids.push(id) < 2) throw new Error('The line is dead.');
        },
      }),
    }));
    const node = await pathOf(environment, [{ tool: 'shout', input: {} }]);
    const unknown = { status: 'unknown', done: [], notDone: [{ tool: 'shout' }] };
    expect(await environment.commit(node, { journal, approve })).toMatchObject(unknown);
    expect(await environment.commit(node, { journal, approve })).toMatchObject(unknown);
    expect(ids).toHaveLength(1);
    for (const answer of [true, false, 0, {}, 'no', 'Done', undefined]) {
      const slip = { journal, approve, onUnknown: () => answer as 'stop' };
      expect(await environment.commit(node, slip)).toMatchObject(unknown);
    }
    expect(ids).toHaveLength(1);
    const again = { journal, approve, onUnknown: () => 'run' as const };
    expect(await environment.commit(node, again)).toMatchObject({ status: 'committed' });
    expect(ids).toEqual([ids[0], ids[0]]);
  });

  test('goes on behind a call of which a person says that it happened', async () => {
    const { witness, environment, journal } = await scene((ask) => (tool) => ({
      shout: tool({
        input: z.object({}),
        effect: 'irreversible',
        predict: () => ({ output: 'heard' }),
        run: async () => {
          await ask({ op: 'send', id: '', text: 'shout' });
          throw new Error('The line is dead.');
        },
      }),
    }));
    const node = await pathOf(environment, [{ tool: 'shout', input: {} }, mail('m')]);
    await environment.commit(node, { journal, approve });
    const asked: string[] = [];
    const onUnknown = ({ tool }: { readonly tool: string }) => {
      asked.push(tool);
      return 'done' as const;
    };
    const went = await environment.commit(node, { journal, approve, onUnknown });
    expect(went).toMatchObject({ status: 'committed', done: [{ output: null }, { tool: 'mail' }] });
    expect(asked).toEqual(['shout']);
    expect(await environment.commit(node, { journal, approve })).toMatchObject({
      status: 'committed',
    });
    expect(sentIn(witness)).toBe(2);
  });

  test('ends before the next deed where it is aborted', async () => {
    const { witness, environment, journal } = await scene();
    const node = await pathOf(environment, [set('a', '1'), mail('m')]);
    const before = witness.dump();
    const leaving = new AbortController();
    const committed = await environment.commit(node, {
      journal,
      signal: leaving.signal,
      approve: () => {
        leaving.abort(new Error('Enough.'));
        return true;
      },
    });

    const message = 'The commit was aborted: Enough.';
    expect(committed).toMatchObject({ status: 'refused', message, done: [] });
    expect(witness.dump()).toEqual(before);
  });
});

describe('a commit that is killed', () => {
  const long = [set('a', '1'), mail('m'), set('a', '2'), call('c'), add('x')];

  test.each(Array.from({ length: 40 }, (_, steps) => steps))(
    'after %i steps has done each deed wholly or not at all, or names it',
    async (steps) => {
      const { witness, ask } = await scene();
      const disk = new Disk();
      const node = await pathOf(worldOn(ask, disk.journal(new Life())), long);
      const life = new Life(steps);
      const own = disk.journal(life);
      const killed = worldOn(life.asking(ask), own);
      await life.live(() => killed.commit(node, { journal: own, approve }));
      const journal = disk.journal(new Life());
      const environment = worldOn(ask, journal);
      const { status, done, notDone } = await environment.commit(node, { journal, approve });

      expect(done.length + notDone.length).toBe(5);
      expect(['committed', 'unknown']).toContain(status);
      const possible = [
        await doneByHand(done),
        await doneByHand([...done, ...notDone.slice(0, 1)]),
      ];
      expect(possible.slice(0, status === 'unknown' ? 2 : 1)).toContainEqual(witness.dump());
      // A person who looks there can always bring it to its end.
      const [open] = notDone;
      const isSent = JSON.stringify(witness.dump()) === JSON.stringify(possible[1]);
      const onUnknown = () => (isSent ? ('done' as const) : ('run' as const));
      const end = await environment.commit(node, { journal, approve, onUnknown });
      expect(end).toMatchObject({ status: 'committed', notDone: [] });
      expect(witness.dump()).toEqual(await doneByHand(long));
      expect(open === undefined || open.effect === 'irreversible').toBe(true);
    },
  );
});

describe('a commit and its journal', () => {
  test('keep a second committer out', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'commit-'));
    try {
      const open = () => openJournal(join(folder, 'journal.jsonl'));
      const { witness, ask } = await scene();
      const journals = [open(), open()] as const;
      const [first, second] = journals.map((journal) => worldOn(ask, journal)) as [
        ToolWorld,
        ToolWorld,
      ];
      const node = await pathOf(first, [mail('m')]);
      const rival = async () => {
        const late = second.commit(node, { journal: journals[1], approve });
        await expect(late).rejects.toMatchObject({ code: 'locked' });
        return true;
      };
      const committed = await first.commit(node, { journal: journals[0], approve: rival });
      expect(committed.status).toBe('committed');
      await first.close();
      journals[0].close();
      journals[1].close();
      // Opened behind the first, it knows what that has done.
      const journal = open();
      const third = worldOn(ask, journal);
      expect(await third.commit(node, { journal, approve })).toMatchObject({ status: 'committed' });
      expect(sentIn(witness)).toBe(1);
      await third.close();
    } finally {
      rmSync(folder, { recursive: true });
    }
  });

  test.each([
    { stage: 'begin', deed: 0, status: 'failed', sent: 0, done: [] },
    { stage: 'done', deed: 0, status: 'unknown', sent: 1, done: [] },
    { stage: 'begin', deed: 1, status: 'failed', sent: 1, done: ['mail'] },
    { stage: 'done', deed: 1, status: 'unknown', sent: 1, done: ['mail'] },
  ])('on a full disk: `$stage` of deed $deed', async ({ stage, deed, status, sent, done }) => {
    const { witness, ask } = await scene();
    const journal = memoryJournal();
    const node = await pathOf(worldOn(ask, memoryJournal()), [mail('m'), set('a', '1')]);
    const full: Journal = {
      ...journal,
      append: (line: JournalLine) => {
        if (line.type === 'deed' && line.stage === stage && line.deed === deed) {
          throw Object.assign(new Error('no space'), { code: 'ENOSPC' });
        }
        journal.append(line);
      },
    };
    const committed = await worldOn(ask, full).commit(node, { journal: full, approve });

    expect(committed).toMatchObject({
      status,
      message: expect.stringContaining('the disk is full'),
    });
    expect(committed.done.map(({ tool }) => tool)).toEqual(done);
    expect(sentIn(witness)).toBe(sent);
    // With room, it goes on where it was.
    const later = worldOn(ask, journal);
    const onUnknown = () => 'done' as const;
    expect(await later.commit(node, { journal, approve, onUnknown })).toMatchObject({
      status: 'committed',
    });
    expect(witness.dump()).toEqual(await doneByHand([mail('m'), set('a', '1')]));
  });
});

test('a call is made once by two commits at the same time, whatever is said of what is unknown', async () => {
  let runs = 0;
  const { environment, journal } = await scene(() => (tool) => ({
    shout: tool({
      input: z.object({}),
      effect: 'irreversible',
      run: async () => {
        runs += 1;
        await new Promise((resolve) => setTimeout(resolve, 20));
        return 'heard';
      },
    }),
  }));
  const node = await pathOf(environment, [{ tool: 'shout', input: {} }]);
  const options = { journal, approve, onUnknown: () => 'run' as const };
  const both = [environment.commit(node, options), environment.commit(node, options)];
  const ends = await Promise.all(both);
  expect(ends.map(({ status }) => status)).toEqual(['committed', 'committed']);
  expect(runs).toBe(1);
});
