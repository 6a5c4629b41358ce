import { expect, test } from 'vitest';
import { z } from 'zod';
import type { Journal } from '../../src/calls/journal.ts';
import { memoryJournal } from '../../src/calls/journal.ts';
import { type CommitPlan, toolEnvironment } from '../../src/environments/index.ts';
import { EspalierError, type JsonValue, type Workspace } from '../../src/index.ts';
import { Witness, type Witnessing } from '../support/witness.ts';
import { Disk, Life } from './world-lives.ts';
import { pathOf } from './world-path.ts';
import { furnish, type ToolWorld } from './world-tools.ts';

const approve = () => true;

/** A copy of what the witness holds under `a` and `b`. */
interface Copy extends Workspace {
  readonly values: Record<string, JsonValue>;
}

function copyFrom(ask: Witnessing): () => Promise<Copy> {
  return async () => {
    const start = { a: await ask({ op: 'get', key: 'a' }), b: await ask({ op: 'get', key: 'b' }) };
    const values: Record<string, JsonValue> = { ...start };
    return {
      values,
      reset: () => void Object.assign(values, start),
      fingerprint: () => JSON.stringify(values),
      changes: () => {
        if (values['a'] === 'bad') throw new Error('It does not fit any more.');
        return { from: start, to: { ...values } };
      },
      async publish(changes) {
        const { to } = changes as { readonly to: Record<string, JsonValue> };
        for (const [key, value] of Object.entries(to)) await ask({ op: 'set', key, value });
      },
      async unpublish(changes) {
        const { from } = changes as { readonly from: Record<string, JsonValue> };
        for (const [key, value] of Object.entries(from)) await ask({ op: 'set', key, value });
      },
    };
  };
}

function worldOn(ask: Witnessing, journal: Journal, permitted = true): ToolWorld {
  return toolEnvironment(copyFrom(ask), {
    ...{ name: 'copy', task: 'Do it.', journal },
    tools: (tool) => ({
      write: tool({
        input: z.object({ key: z.string(), value: z.string() }),
        effect: 'reversible',
        run: ({ values }, { key, value }) => {
          values[key] = value;
        },
      }),
      mail: tool({
        input: z.object({ text: z.string() }),
        effect: 'irreversible',
        predict: () => ({ output: 'sent' }),
        run: async (_, { text }, { id }) => {
          await ask({ op: 'send', id, text });
          return 'sent';
        },
      }),
    }),
    permit: ({ tool }) => permitted || tool !== 'mail' || 'Not today.',
  });
}

const write = (key: string, value: string) => ({ tool: 'write', input: { key, value } });
const path = [write('a', '1'), { tool: 'mail', input: { text: 'm' } }, write('b', '2')];
const after = { values: { a: '1', b: '2' }, items: [], sent: ['m'] };

async function scene() {
  const witness = new Witness();
  const ask: Witnessing = async (asked) => witness.ask(asked);
  await furnish(ask);
  return { witness, ask, before: witness.dump() };
}

test('a commit publishes what was done in a workspace before anything that cannot be taken back', async () => {
  const { witness, ask, before } = await scene();
  const journal = memoryJournal();
  const environment = worldOn(ask, journal);
  const node = await pathOf(environment, path);
  expect(witness.dump()).toEqual(before);
  const plans: unknown[] = [];
  const committed = await environment.commit(node, {
    journal,
    approve: (plan) => plans.push(plan) > 0,
  });

  expect(committed).toMatchObject({
    status: 'committed',
    done: [{ tool: '.publish' }, { tool: 'mail' }],
  });
  expect(plans).toMatchObject([{ changes: { to: { a: '1', b: '2' } } }]);
  expect(witness.dump()).toEqual(after);
  const from = witness.log.length;
  expect(await environment.commit(node, { journal, approve })).toMatchObject({
    status: 'committed',
  });
  expect(witness.log.slice(from).filter(({ op }) => op !== 'get')).toEqual([]);
});

test('a commit leaves all as it was where a workspace cannot publish, or a call is not permitted any more', async () => {
  const { witness, ask, before } = await scene();
  const journal = memoryJournal();
  const environment = worldOn(ask, journal);
  const bad = await pathOf(environment, [write('a', 'bad'), ...path.slice(1)]);
  expect(await environment.commit(bad, { journal, approve })).toMatchObject({
    ...{ status: 'refused', message: 'It does not fit any more.', done: [] },
  });
  const node = await pathOf(environment, path);
  expect(await worldOn(ask, journal, false).commit(node, { journal, approve })).toMatchObject({
    ...{ status: 'refused', message: '`mail` is not permitted: Not today.', done: [] },
  });
  expect(witness.dump()).toEqual(before);
});

test('a commit is stale where the world has changed under what is published, and shows what it would be', async () => {
  const { ask, witness } = await scene();
  const journal = memoryJournal();
  let isMoved = true;
  const own = copyFrom(ask);
  const environment = toolEnvironment(
    async (): Promise<Copy> => {
      const copy = await own();
      return {
        ...copy,
        diff: (changes) => `${JSON.stringify(changes)}\u001b[2J${'x'.repeat(200_000)}`,
        async publish(changes, call) {
          if (isMoved) throw new EspalierError('stale', 'It has moved on.');
          await copy.publish?.(changes, call);
        },
      };
    },
    {
      ...{ name: 'copy', task: 'Do it.', journal },
      tools: (tool) => ({
        write: tool({
          input: z.object({ key: z.string(), value: z.string() }),
          effect: 'reversible',
          run: ({ values }, { key, value }) => {
            values[key] = value;
          },
        }),
      }),
    },
  );
  const node = await pathOf(environment as never, [write('a', '1')]);
  const diffs: (string | undefined)[] = [];
  const options = { journal, approve: (plan: CommitPlan) => diffs.push(plan.diff) > 0 };
  const before = witness.dump();
  expect(await environment.commit(node as never, options)).toMatchObject({
    ...{ status: 'stale', message: 'It has moved on.', done: [], notDone: [{ tool: '.publish' }] },
  });
  expect(witness.dump()).toEqual(before);
  isMoved = false;
  expect(await environment.commit(node as never, options)).toMatchObject({ status: 'committed' });
  expect(diffs).toHaveLength(2);
  for (const diff of diffs) {
    expect(diff).toContain('"to":{"a":"1","b":"old b"}}\\u001b[2Jxxx');
    expect(diff).toContain('characters left out');
    expect(diff?.length).toBeLessThan(101_000);
  }
});

test.each(Array.from({ length: 24 }, (_, steps) => steps))(
  'a commit that is killed after %i steps has published wholly or not at all',
  async (steps) => {
    const { witness, ask } = await scene();
    const disk = new Disk();
    const node = await pathOf(worldOn(ask, memoryJournal()), path);
    const life = new Life(steps);
    const own = disk.journal(life);
    const killed = worldOn(life.asking(ask), own);
    await life.live(() => killed.commit(node, { journal: own, approve }));
    const journal = disk.journal(new Life());
    const environment = worldOn(ask, journal);
    expect(await environment.recover()).toMatchObject({ failed: [] });
    const { values } = witness.dump() as typeof after;
    expect([JSON.stringify({ a: 'old a', b: 'old b' }), JSON.stringify(after.values)]).toContain(
      JSON.stringify(values),
    );
    const sent = (witness.dump() as typeof after).sent.length;
    const onUnknown = () => (sent > 0 ? ('done' as const) : ('run' as const));
    const committed = await environment.commit(node, { journal, approve, onUnknown });

    expect(committed).toMatchObject({ status: 'committed', notDone: [] });
    expect(witness.dump()).toEqual(after);
  },
);
