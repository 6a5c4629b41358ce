import { expect, test } from 'vitest';
import { memoryJournal } from '../../src/calls/index.ts';
import { mcts, search } from '../../src/index.ts';
import { fromModel } from '../../src/policies/index.ts';
import { scriptedModel } from '../../src/testing/index.ts';
import { judge } from '../../src/values/index.ts';
import { codes } from '../bench/codes.ts';

const model = scriptedModel({
  answer: ({ messages }) => (JSON.stringify(messages).includes('impossible') ? 'likely' : '3'),
});
const options = (seed: number) => ({
  ...{ policy: fromModel({ model }), evaluator: judge({ model }), algorithm: mcts(), seed },
  budget: { calls: 12 },
});

test('two searches at once cannot write one journal, and one after the other can', async () => {
  const journal = memoryJournal();
  const first = search(codes(9), { ...options(0), journal });
  await expect(search(codes(9), { ...options(0), journal })).rejects.toThrow(
    'The `journal` is being written by another search. Give each search a journal of its own.',
  );
  const { spend } = await first;
  const again = await search(codes(9), { ...options(0), journal });
  expect(again.spend.calls).toBe(spend.calls);
  expect(again.coverage.recorded).toBeGreaterThan(0);
});
