/** Functions of users that change what they are given: what runs, what is recorded and what others are given stays. */
import { expect, test } from 'vitest';
import * as z from 'zod';
import { memoryJournal } from '../../../src/calls/index.ts';
import { type CommitOptions, toolEnvironment } from '../../../src/environments/index.ts';
import { mcts, search } from '../../../src/index.ts';
import { plainContext } from '../../../src/testing/index.ts';

/** A letter that a branch has planned, and what was sent of it. */
async function letter({ fails = false, drifts = false } = {}) {
  const sent: unknown[] = [];
  let isBroken = fails;
  const post = toolEnvironment(
    { n: 1 },
    {
      name: 'post',
      task: 'Write.',
      tools: (tool) => ({
        send: tool({
          input: z.object({ to: z.object({ name: z.string() }) }),
          effect: 'irreversible',
          predict: () => ({ output: { id: drifts ? 1 : 7 } }),
          run(_db, input) {
            sent.push(structuredClone(input));
            if (isBroken) throw new Error('No connection.');
            return { id: 7 };
          },
        }),
      }),
    },
  );
  const send = { tool: 'send', input: { to: { name: 'ada' } } } as const;
  const { tree } = await search(post, {
    policy: () => [{ action: { ...send, also: [send] } }],
    evaluator: () => 0.5,
    algorithm: mcts({ maxDepth: 1 }),
    budget: { simulations: 2 },
  });
  const journal = memoryJournal();
  const commit = (options: Partial<CommitOptions>) =>
    post.commit(tree, { journal, approve: () => true, ...options });
  if (fails) await commit({});
  isBroken = false;
  sent.length = 0;
  const records = () => JSON.stringify([tree.best.state, journal.lines]);
  return { commit, sent, records };
}

/** Changes what lies in something, at any depth. */
function blank(value: unknown): void {
  for (const [key, part] of Object.entries(value as Record<string, unknown>)) {
    if (typeof part === 'object' && part !== null) blank(part);
    else (value as Record<string, unknown>)[key] = '***';
  }
}

test('whoever approves of a commit cannot change it', async () => {
  const { commit, sent, records } = await letter();
  const before = records();
  const parts = ['calls', 'before', 'after'] as const;
  for (const part of parts) {
    const { status, message } = await commit({
      approve(plan) {
        blank(plan[part]);
        return true;
      },
    });
    expect({ status, message }).toEqual({
      status: 'refused',
      message: expect.stringContaining('Its arguments cannot be changed'),
    });
  }
  expect(sent).toEqual([]);
  expect(records()).toBe(before);
});

test('whoever is asked in the middle of a commit cannot change it', async () => {
  const change = (...given: unknown[]) => {
    for (const one of given) {
      try {
        blank(one);
      } catch {}
    }
  };
  const unknown = await letter({ fails: true });
  await unknown.commit({
    onUnknown(call) {
      change(call);
      return 'run';
    },
  });
  expect(unknown.sent).toEqual([{ to: { name: 'ada' } }, { to: { name: 'ada' } }]);

  const drifted = await letter({ drifts: true });
  const committed = await drifted.commit({
    onDrift(call, output) {
      change(call, output);
      return 'go on';
    },
  });
  expect(committed.done.map(({ input, output }) => ({ input, output }))).toEqual([
    { input: { to: { name: 'ada' } }, output: { id: 7 } },
    { input: { to: { name: 'ada' } }, output: { id: 7 } },
  ]);
  const before = drifted.records();
  change(committed);
  expect(drifted.records()).toBe(before);
});

test('whoever approves of a publish cannot change what is published', async () => {
  const published: unknown[] = [];
  const folder = toolEnvironment(
    () => ({
      reset: () => {},
      changes: () => ({ files: ['a', 'b'] }),
      diff: (changes: unknown) => {
        expect(() => (changes as { files: string[] }).files.pop()).toThrow(TypeError);
        return '';
      },
      publish: (changes: unknown) => void published.push(changes),
      unpublish: () => {},
    }),
    {
      name: 'folder',
      task: 'Write.',
      tools: (tool) => ({
        write: tool({ input: z.object({}), effect: 'reversible', run: () => 1 }),
      }),
    },
  );
  const { tree } = await search(folder, {
    policy: () => [{ action: { tool: 'write', input: {} } }],
    evaluator: () => 0.5,
    algorithm: mcts({ maxDepth: 1 }),
    budget: { simulations: 2 },
  });
  const { status } = await folder.commit(tree, {
    journal: memoryJournal(),
    approve({ changes }) {
      expect(() => (changes as { files: string[] }).files.pop()).toThrow(TypeError);
      return true;
    },
  });
  expect(status).toBe('committed');
  expect(published).toEqual([{ files: ['a', 'b'] }]);
  await folder.close();
});

test('what permits a call, or looks up what its undo needs, does not change its input', async () => {
  const seen: unknown[] = [];
  const input = z.object({
    at: z.object({ path: z.string() }),
    since: z.string().transform((text) => new Date(text)),
  });
  type Read = z.infer<typeof input>;
  const change = (given: Read) => {
    seen.push([given.at.path, given.since.getTime()]);
    given.at.path = '/public';
    given.since.setTime(0);
  };
  const files = toolEnvironment(null, {
    name: 'files',
    task: 'Look.',
    journal: memoryJournal(),
    permit(call) {
      change(call.input);
      return true;
    },
    tools: (tool) => ({
      look: tool({ input, effect: 'read', run: (_db, given) => change(given) }),
      write: tool({
        input,
        effect: 'reversible',
        remember(_db, given) {
          change(given);
          return null;
        },
        run: (_db, given) => change(given),
        undo: (_db, given) => change(given),
      }),
      send: tool({
        input,
        effect: 'irreversible',
        predict(_db, given) {
          change(given);
          return {};
        },
        run: () => {},
      }),
    }),
  });
  const { state } = await files.reset(plainContext());
  const given = { at: { path: '/secret' }, since: '2026-01-01T00:00:00Z' };
  for (const [tool, times] of [
    ['look', 2],
    ['write', 4],
    ['send', 2],
  ] as const) {
    seen.length = 0;
    const next = await files.step(state, { tool, input: given }, plainContext());
    await files.close();
    const same = ['/secret', Date.parse(given.since)];
    expect(seen).toEqual(Array.from({ length: times }, () => same));
    expect(next.state.calls[0]?.input).toEqual(given);
  }
});

test('an undo that takes apart what it is given is told so, and the next one is given all of it', async () => {
  const given: unknown[] = [];
  const list = toolEnvironment(null, {
    name: 'list',
    task: 'Add.',
    journal: memoryJournal(),
    tools: (tool) => ({
      add: tool({
        input: z.object({}),
        effect: 'reversible',
        remember: () => [1, 2],
        run: () => [3],
        undo(_db, _input, known) {
          given.push(structuredClone(known));
          if (given.length === 1) (known.remembered as number[]).pop();
          if (given.length === 2) (known.output as number[]).pop();
        },
      }),
    }),
  });
  const { state } = await list.reset(plainContext());
  const step = list.step(state, { tool: 'add', input: {} }, plainContext());
  await expect(step).rejects.toThrow('Its arguments cannot be changed');
  await list.close();
  expect((await list.recover()).undone).toBe(0);
  expect(await list.recover()).toEqual({ undone: 1, failed: [] });
  expect(given).toEqual(Array.from({ length: 3 }, () => ({ remembered: [1, 2], output: [3] })));
});

test('what `done` is told is what the model sees', async () => {
  let told: unknown;
  const list = toolEnvironment(
    { n: 1 },
    {
      name: 'list',
      task: 'Sort.',
      tools: (tool) => ({
        sort: tool({
          input: z.object({}),
          effect: 'pure',
          run: () => ({ state: { n: 2 }, output: [1, 2] }),
        }),
      }),
      done(_db, output) {
        told = output;
        return false;
      },
    },
  );
  const { state } = await list.reset(plainContext());
  const next = await list.step(state, { tool: 'sort', input: {} }, plainContext());
  expect(() => (told as number[]).push(3)).toThrow(TypeError);
  expect(next.state.turns.at(-1)?.content).toBe('<output>\n[1,2]\n</output>');
});
