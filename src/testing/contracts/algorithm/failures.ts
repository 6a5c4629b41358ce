import assert from 'node:assert/strict';
import { heuristic } from '../../../values/heuristic.ts';
import type { Problem } from '../../problem.ts';
import { tableMdp } from '../../table-mdp.ts';
import type { AlgorithmSubject } from './claims.ts';
import { asked, concurrencies, grow } from './growing.ts';

/** A failure is a result: it marks one child, and the search continues. */
export function describeFailures({ claims, runner }: AlgorithmSubject): void {
  const cases: Readonly<Record<string, Problem<string, string>>> = {
    'a step that throws': withStep(() => {
      throw new Error('the floor gave way');
    }),
    'a step that throws later': withStep(() => Promise.reject(new Error('the floor gave way'))),
    'an evaluation that fails': { ...trap, evaluator: heuristic(unlessTrap) },
    // One may still be evaluated when another turns out to equal it.
    'siblings that lead to the same state': asked(twins),
  };
  for (const [title, problem] of Object.entries(cases)) {
    runner.test(`is not held up by ${title}`, async () => {
      for (const concurrency of concurrencies(claims.create())) {
        const { tree, actions } = await grow(problem, claims.create(), {
          budget: { simulations: 60 },
          concurrency,
        });
        assert.deepEqual(actions, ['good', 'finish']);
        const failed = [...tree.nodes()].filter(({ status }) => status === 'failed');
        for (const { failure } of failed) {
          assert.ok(failure !== undefined && failure.message !== '', 'it does not say why');
        }
      }
    });
  }

  runner.test('says why where everything failed', async () => {
    const propose = () => {
      throw new Error('no connection');
    };
    const problem = { ...trap, policy: { propose } };
    const settings = { budget: { simulations: 20 } };
    const { solved, failure, actions } = await grow(problem, claims.create(), settings);
    assert.equal(solved, false);
    assert.match(failure?.message ?? '', /no connection/);
    assert.deepEqual(actions, []);
  });
}

/** The first action leads nowhere, the second to a reward. */
const trap: Problem<string, string> = tableMdp(
  {
    start: { trap: { to: 'trap' }, good: { to: 'middle' } },
    trap: { deeper: { to: 'trap' } },
    middle: { finish: { to: 'end', reward: 1 } },
  },
  { name: 'trap', values: { middle: 0.1 } },
);

const twins: Problem<string, string> = tableMdp(
  {
    start: {
      one: { to: 'same', prior: 0.4 },
      two: { to: 'same', prior: 0.4 },
      good: { to: 'middle', prior: 0.2 },
    },
    same: { deeper: { to: 'bottom' } },
    bottom: { finish: { to: 'bad end', reward: 0 } },
    middle: { finish: { to: 'end', reward: 1 } },
  },
  { name: 'twins', values: { same: 0.9, bottom: 0.9 } },
);

function unlessTrap(state: string): number {
  if (state === 'trap') throw new Error('a trap has no value');
  return 0.1;
}

function withStep(fail: () => never | Promise<never>): Problem<string, string> {
  const { environment } = trap;
  return {
    ...trap,
    environment: {
      ...environment,
      step: (state, action, context) =>
        action === 'trap' ? fail() : environment.step(state, action, context),
    },
  };
}
