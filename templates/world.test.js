// The contract of an environment, along random walks, and one fact of this world.
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { search, solved } from 'espalier';
import { describeEnvironment } from 'espalier/testing';
import { actions, environment, policy, value } from './world.js';

describeEnvironment('help desk', { create: () => environment, actions }, { describe, test });

test('all tickets find somebody', async () => {
  const budget = { simulations: 200 };
  const found = await search(environment, { policy, evaluator: value, budget, stopWhen: solved() });
  assert.ok(found.solved);
});
