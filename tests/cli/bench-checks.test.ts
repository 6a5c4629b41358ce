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
