/** `--fail-if-worse` never passes on what was not measured. */
import { expect, test } from 'vitest';
import { compare } from '../../src/bench/bench.ts';
import { failedChecks } from '../../src/cli/bench-checks.ts';
import { ModelCallError } from '../../src/index.ts';
import { base, digitModel, hidden, newFolder } from '../bench/codes.ts';

const budgets = [{ unit: 'calls', limit: 12 }] as const;
const asked = { ...base, budgets, task: hidden, limit: 4, seeds: 1, methods: ['mcts'] };
const check = { method: 'mcts', than: 'best-of-n', limit: 12 };
const measures = { methods: ['mcts', 'best-of-n'], budgets, searches: 4 };

test('searches that could not be scored fail it', async () => {
  const instances = await hidden.instances({ limit: 4, seed: 0 });
  const label = () => {
    throw new Error('Nobody knows.');
  };
  const task = {
    ...hidden,
    instances: () =>
      instances.map((each, place) => (place > 0 ? each : { ...each, oracle: { label } })),
  };
  const found = await compare({ ...asked, task, model: digitModel().model, out: newFolder() });
  expect(failedChecks([check], found, measures)).toEqual([
    'Failed: only 3 of 4 searches of mcts and best-of-n at 12 calls could be scored.',
  ]);
});

test('the share of those that failed is of all searches, as in the verdict', async () => {
  const found = await compare({ ...asked, model: digitModel().model, out: newFolder() });
  const [cell] = found.cells.filter(({ method }) => method === 'mcts');
  if (cell === undefined) throw new Error('Expected a cell.');
  // One of 20 is no more than 5 %, although only 10 were scored.
  const cells = ['mcts', 'best-of-n'].flatMap((method) =>
    Array.from({ length: 20 }, (_, place) => ({
      ...{ ...cell, method, instance: `${place}`, cluster: `${place}` },
      ...(place < 10 && { status: 'unscored' as const, right: false }),
      ...(place === 19 && { status: 'failed' as const, isBroken: true as const, right: false }),
    })),
  );
  const many = { ...measures, searches: 20 };
  expect(failedChecks([check], { ...found, cells }, many)).toEqual([
    'Failed: only 10 of 20 searches of mcts and best-of-n at 12 calls could be scored.',
  ]);
  const two = cells.map((each) =>
    each.instance === '18' ? { ...each, isBroken: true as const } : each,
  );
  expect(failedChecks([check], { ...found, cells: two }, many)).toEqual([
    'Failed: code failed in too many searches of mcts and best-of-n at 12 calls to compare them.',
  ]);
});

test('calls that failed fail it', async () => {
  const { model } = digitModel();
  const generate: typeof model.generate = async (request, call) => {
    if (JSON.stringify(request.messages).includes('sum up to -2:')) {
      throw new ModelCallError({ kind: 'bad-request', message: 'Down.' });
    }
    return model.generate(request, call);
  };
  const found = await compare({ ...asked, model: { ...model, generate }, out: newFolder() });
  expect(failedChecks([check], found, measures)).toEqual([
    'Failed: calls failed in too many searches of mcts and best-of-n at 12 calls to compare them.',
  ]);
});
