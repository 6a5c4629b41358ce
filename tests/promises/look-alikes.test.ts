/** Actions, states and values that look like failures are none: what may fail is told apart outside of them. */
import { expect, test } from 'vitest';
import {
  type Environment,
  type Evaluator,
  mcts,
  type Notation,
  search,
  treeFromJson,
  treeToJson,
} from '../../src/index.ts';
import { fromModel, introspective } from '../../src/policies/index.ts';
import { scriptedModel } from '../../src/testing/index.ts';

/** An action of an agent that sends messages. */
interface Call {
  readonly kind: 'call' | 'end';
  readonly message: string;
}

const notation: Notation<readonly Call[], Call> = {
  prompt: (sent) => [{ role: 'user', content: `Sent: ${JSON.stringify(sent)}. What next?` }],
  format: (action) => JSON.stringify(action),
  parse: (text) => ({ action: JSON.parse(text) as Call }),
};

const office: Environment<readonly Call[], Call> = {
  name: 'office',
  reset: () => ({ state: [] }),
  step: (sent, action) => ({ state: [...sent, action], terminal: sent.length === 1 }),
  notation,
};

const evaluator: Evaluator<readonly Call[], Call> = {
  needs: 'realised',
  evaluate: (nodes) => nodes.map(({ state }) => ({ value: state?.at(-1)?.kind === 'end' ? 1 : 0 })),
};

const model = scriptedModel({
  answer: (_request, index) =>
    JSON.stringify({ kind: index % 2 ? 'end' : 'call', message: 'hello' }),
});

test.each([
  ['one by one', fromModel({ model, samples: 2 }), notation],
  ['as JSON', fromModel({ model, form: 'json', samples: 2 }), { ...notation, schema: {} }],
  ['in turn', introspective({ model, samples: 2, repairs: 0 }), notation],
])('an action that looks like a failure is taken: %s', async (_form, policy, written) => {
  const environment = { ...office, notation: written };
  const { tree, best, failures } = await search(environment, {
    policy,
    evaluator,
    algorithm: mcts({ width: 2 }),
    budget: { simulations: 12 },
  });
  expect(failures.kinds).not.toHaveProperty('call');
  expect(tree.root.children.map(({ action }) => action)).toContainEqual({
    kind: 'call',
    message: 'hello',
  });
  expect(best.state?.at(-1)).toEqual({ kind: 'end', message: 'hello' });
  expect(treeFromJson(treeToJson(tree)).best.state).toEqual(best.state);
});

test('an evaluation that says more, such as a kind and a message, is one', async () => {
  const told = { value: 0.75, kind: 'parse', message: 'How the value was read.' };
  const { tree, failures } = await search(office, {
    policy: fromModel({ model, samples: 2 }),
    evaluator: { needs: 'realised', evaluate: (nodes) => nodes.map(() => told) },
    budget: { simulations: 4 },
  });
  expect(failures.count).toBe(0);
  expect(tree.best.evaluations).toEqual([told]);
});
