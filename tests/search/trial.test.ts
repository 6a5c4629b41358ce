import { expect, test } from 'vitest';
import { Trial } from '../../src/search/trial.ts';

test('a model that was given up in its only call is told in one sentence', () => {
  const trial = new Trial('policy', () => {});
  trial.fail({ kind: 'call', message: 'Gave up after 3 attempts in 2 s: the server is busy.' });
  expect(trial.failed?.message).toBe(
    'The policy failed the only time it was asked: Gave up after 3 attempts in 2 s: the server is busy.',
  );
});
