/** Those who are asked in a commit, where they answer wrongly or throw, and what is told of its calls. */
import { expect, test } from 'vitest';
import * as z from 'zod';
import { memoryJournal } from '../../../src/calls/index.ts';
import { type CommitOptions, toolEnvironment } from '../../../src/environments/index.ts';
import { mcts, search } from '../../../src/index.ts';
import { files } from './tasks.ts';

/** What may be answered wrongly. */
interface Wrong extends Pick<Partial<CommitOptions>, 'approve' | 'onDrift' | 'onUnknown'> {
  readonly permit?: () => boolean;
}

/** A commit of two calls for good, which asks somebody who answers wrongly, or throws. */
async function committedBy(wrong: Wrong) {
  const made: string[] = [];
  let isCommit = false;
  const trips = toolEnvironment(null, {
    name: 'trips',
    task: 'Book.',
    tools: (tool) => ({
      book: tool({
        input: z.object({}),
        effect: 'irreversible',
        predict: () => ({ output: 'Seat 7.' }),
        run: () => {
          made.push('book');
          if (wrong.onUnknown !== undefined) throw new Error('No connection.');
          return 'Seat 9.';
        },
      }),
      mail: tool({
        input: z.object({}),
        effect: 'irreversible',
        run: () => void made.push('mail'),
      }),
    }),
    permit: () => !isCommit || (wrong.permit?.() ?? true),
  });
  const { tree } = await search(trips, {
    policy: () => [{ action: { tool: 'book', input: {}, also: [{ tool: 'mail', input: {} }] } }],
    evaluator: () => 0.5,
    algorithm: mcts({ maxDepth: 1 }),
    budget: { simulations: 2 },
  });
  isCommit = true;
  const { permit: _, ...answers } = wrong;
  const options = { journal: memoryJournal(), approve: () => true, ...answers };
  if (wrong.onUnknown !== undefined) await trips.commit(tree, options);
  return { ...(await trips.commit(tree, options)), made };
}

const throwing = () => {
  throw new Error('Nobody is there.');
};
const saying = (answer: unknown) => () => answer as never;

test.each([
  [{ approve: throwing }, 'refused', '`approve` threw. Nobody is there.', []],
  [{ permit: throwing }, 'refused', '`permit` of `trips` threw. Nobody is there.', []],
  [
    { approve: saying('yes') },
    'refused',
    'Expected `approve` to be true or false, got `"yes"`.',
    [],
  ],
  [{ onDrift: throwing }, 'drifted', '`onDrift` threw. Nobody is there.', ['book']],
  [
    { onDrift: saying('goon') },
    'drifted',
    "Expected `onDrift` to be 'go on' or 'stop', got `\"goon\"`.",
    ['book'],
  ],
  [{ onUnknown: throwing }, 'unknown', '`onUnknown` threw. Nobody is there.', ['book']],
  [
    { onUnknown: saying('runn') },
    'unknown',
    "Expected `onUnknown` to be 'done' or 'run' or 'stop', got `\"runn\"`.",
    ['book'],
  ],
] as const)(
  'somebody who is asked and answers wrongly stops a commit: %o',
  async (wrong, ...told) => {
    const [status, message, made] = told;
    const committed = await committedBy(wrong);
    expect(committed).toMatchObject({ status, made });
    expect(committed.message).toContain(message);
    expect(committed.done.map(({ tool }) => tool)).toEqual('onDrift' in wrong ? ['book'] : []);
  },
);

test('a call that a commit has made has run, and one that it has not is planned', async () => {
  const fates = async (onDrift: 'go on' | 'stop') => {
    const { done, notDone } = await committedBy({ onDrift: saying(onDrift) });
    return [done, notDone].map((calls) => calls.map(({ tool, fate }) => [tool, fate]));
  };
  expect(await fates('stop')).toEqual([[['book', 'ran']], [['mail', 'planned']]]);
  expect(await fates('go on')).toEqual([
    [
      ['book', 'ran'],
      ['mail', 'ran'],
    ],
    [],
  ]);
});

test('a commit of nothing, or without options, is refused in a sentence', async () => {
  const { environment } = files();
  const wrong = environment.commit as (...given: unknown[]) => Promise<unknown>;
  await expect(wrong(undefined, { journal: memoryJournal() })).rejects.toThrow(
    'Expected `what` to be a tree or one of its nodes, such as `result.tree` or `result.best`, got `undefined`.',
  );
  await expect(wrong({})).rejects.toThrow(
    'Expected the options of `commit` to be an object, got `undefined`.',
  );
  const options = { journal: memoryJournal(), approve: true };
  await expect(wrong({}, options)).rejects.toThrow('Expected `approve` to be a function');
});
