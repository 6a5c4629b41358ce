/** Commits that are aborted: while somebody is asked, while they wait, and between two calls. */
import { expect, test } from 'vitest';
import * as z from 'zod';
import { memoryJournal } from '../../../src/calls/index.ts';
import { type CommitOptions, toolEnvironment } from '../../../src/environments/index.ts';
import { mcts, search } from '../../../src/index.ts';

/** A path of calls that cannot be taken back, and what was made of them. */
async function path(run: (made: number) => unknown = () => 'Sent.') {
  const made: string[] = [];
  const post = toolEnvironment(null, {
    name: 'post',
    task: 'Write.',
    tools: (tool) => ({
      send: tool({
        input: z.object({ to: z.string() }),
        effect: 'irreversible',
        predict: () => ({ output: 'Sent.' }),
        run: (_db, { to }) => run(made.push(to)),
      }),
    }),
  });
  const call = (to: string) => ({ tool: 'send' as const, input: { to } });
  const { tree } = await search(post, {
    policy: () => [{ action: { ...call('ada'), also: [call('bob')] } }],
    evaluator: () => 0.5,
    algorithm: mcts({ maxDepth: 1 }),
    budget: { simulations: 2 },
  });
  const journal = memoryJournal();
  const commit = (options: Partial<CommitOptions> = {}) =>
    post.commit(tree, { journal, approve: () => true, ...options });
  return { commit, made };
}

/** Never answers, and aborts what waits for it. */
function leaving(stop: AbortController) {
  return () => {
    stop.abort(new Error('They have left.'));
    return new Promise<never>(() => {});
  };
}

test('a commit that nobody approves of can be aborted, and another one follows it', async () => {
  const { commit, made } = await path();
  const stop = new AbortController();
  expect(await commit({ approve: leaving(stop), signal: stop.signal })).toEqual({
    status: 'refused',
    done: [],
    notDone: [expect.anything(), expect.anything()],
    message: 'The commit was aborted: They have left.',
  });
  expect(made).toEqual([]);
  expect(await commit()).toMatchObject({ status: 'committed' });
  expect(made).toEqual(['ada', 'bob']);
});

test('a commit is aborted while somebody is asked of a call that may have happened', async () => {
  const { commit, made } = await path((count) => {
    if (count === 1) throw new Error('No connection.');
    return 'Sent.';
  });
  await commit();
  const stop = new AbortController();
  const left = await commit({ onUnknown: leaving(stop), signal: stop.signal });
  expect(left.status).toBe('unknown');
  expect(left.message).toContain('The commit was aborted: They have left.');
  expect(await commit({ onUnknown: () => 'run' })).toMatchObject({ status: 'committed' });
  expect(made).toEqual(['ada', 'ada', 'bob']);
});

test('a commit is aborted while somebody is asked of a drift, and what it made stays', async () => {
  const { commit, made } = await path(() => 'Not sent.');
  const stop = new AbortController();
  const left = await commit({ onDrift: leaving(stop), signal: stop.signal });
  expect(left).toMatchObject({
    status: 'failed',
    done: [{ input: { to: 'ada' } }],
    notDone: [{ input: { to: 'bob' } }],
    message: 'The commit was aborted: They have left.',
  });
  expect(await commit({ onDrift: () => 'go on' })).toMatchObject({ status: 'committed' });
  expect(made).toEqual(['ada', 'bob']);
});

test('a commit that waits for its turn can be aborted', async () => {
  const { commit, made } = await path();
  const first = new AbortController();
  const second = new AbortController();
  let asked = () => {};
  const isAsked = new Promise<void>((resolve) => {
    asked = resolve;
  });
  const held = commit({
    signal: first.signal,
    approve() {
      asked();
      return new Promise(() => {});
    },
  });
  await isAsked;
  const late = commit({ signal: AbortSignal.abort(new Error('Too late.')) });
  expect(await late).toMatchObject({ status: 'refused' });
  const waiting = commit({ signal: second.signal });
  const last = commit();
  second.abort(new Error('No time.'));
  expect(await waiting).toMatchObject({
    status: 'refused',
    message: 'The commit was aborted: No time.',
  });
  expect(made).toEqual([]);
  first.abort();
  expect(await held).toMatchObject({ status: 'refused' });
  expect(await last).toMatchObject({ status: 'committed' });
  expect(made).toEqual(['ada', 'bob']);
});

test('a commit that is aborted between two calls tells what is done', async () => {
  const stop = new AbortController();
  const before = AbortSignal.abort(new Error('No time.'));
  const { commit, made } = await path();
  expect(await commit({ signal: before })).toMatchObject({ status: 'refused', done: [] });
  const onDrift = await path(() => 'Not sent.');
  const left = await onDrift.commit({
    signal: stop.signal,
    onDrift() {
      stop.abort();
      return 'go on';
    },
  });
  expect(left).toMatchObject({ status: 'failed', done: [{ input: { to: 'ada' } }] });
  await commit();
  expect(await commit({ signal: before })).toMatchObject({
    status: 'failed',
    done: [{ input: { to: 'ada' } }, { input: { to: 'bob' } }],
  });
  expect(made).toEqual(['ada', 'bob']);
});

test('what can be taken back is taken back where its commit is aborted in it', async () => {
  const stop = new AbortController();
  const log: string[] = [];
  let isCommit = false;
  const journal = memoryJournal();
  const shelf = toolEnvironment(null, {
    name: 'shelf',
    task: 'Fill it.',
    journal,
    tools: (tool) => ({
      put: tool({
        input: z.object({}),
        effect: 'reversible',
        run(_db, _input, { signal }) {
          log.push('put');
          if (!isCommit) return 1;
          stop.abort(new Error('No time.'));
          return Promise.reject(signal.reason as Error);
        },
        undo: () => void log.push('undo'),
      }),
    }),
  });
  const { tree } = await search(shelf, {
    policy: () => [{ action: { tool: 'put', input: {} } }],
    evaluator: () => 0.5,
    algorithm: mcts({ maxDepth: 1 }),
    budget: { simulations: 2 },
  });
  await shelf.close();
  log.length = 0;
  isCommit = true;
  expect(await shelf.commit(tree, { journal, signal: stop.signal })).toMatchObject({
    status: 'failed',
    done: [],
    message: '`put` failed, and was taken back: No time.',
  });
  expect(log).toEqual(['put', 'undo']);
  await shelf.close();
});
