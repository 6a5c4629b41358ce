import { describe, expect, test } from 'vitest';
import {
  type ArithmeticState,
  type ArithmeticStep,
  gameOf24,
  type Rational,
} from '../../src/environments/index.ts';
import {
  type Environment,
  type ErrorScope,
  EspalierError,
  type EspalierErrorCode,
  type Evaluator,
  mcts,
  type Policy,
  search,
} from '../../src/index.ts';
import { type SearchOf, searchOf } from '../support/search-of.ts';

const environment: Environment<string, string> = {
  name: 'letters',
  reset: () => ({ state: '' }),
  step: (state, action) => ({ state: state + action }),
};
const policy: Policy<string, string> = { propose: () => [{ action: 'a' }, { action: 'b' }] };
const evaluator: Evaluator<string, string> = {
  needs: 'realised',
  evaluate: (nodes) => nodes.map(() => ({ value: 0.5 })),
};
const grow = (change: Partial<SearchOf<string, string>>) =>
  searchOf({ environment, policy, evaluator, budget: { simulations: 6 }, ...change });

test.each<[EspalierErrorCode, ErrorScope]>([
  ['usage', 'search'],
  ['budget', 'search'],
  ['unavailable', 'search'],
  ['storage', 'run'],
  ['locked', 'run'],
  ['invalid-journal', 'run'],
  ['interrupted', 'call'],
  ['unrecorded', 'call'],
])('an error `%s` ends a %s, unless it says otherwise', (code, scope) => {
  expect(new EspalierError(code, 'It went wrong.').scope).toBe(scope);
  expect(new EspalierError(code, 'It went wrong.', { scope: 'item' }).scope).toBe('item');
});

describe('a wrong option that a plug-in comes upon', () => {
  const thrown = new EspalierError('usage', 'Expected `depth` to be given.');
  const fails = (): never => {
    throw thrown;
  };
  test.each<[string, Partial<SearchOf<string, string>>]>([
    ['policy', { policy: { propose: fails } }],
    ['evaluator', { evaluator: { needs: 'realised', evaluate: fails } }],
    ['environment', { environment: { ...environment, step: fails } }],
  ])('ends the search: in a %s', async (_part, change) => {
    await expect(grow(change)).rejects.toBe(thrown);
  });
});

describe('a wrong value', () => {
  test('of which its error says that it ends one item fails that item', async () => {
    const step: typeof environment.step = (state, action) => {
      if (action === 'a') throw new EspalierError('usage', 'No such way.', { scope: 'item' });
      return { state: state + action };
    };
    const { tree } = await grow({ environment: { ...environment, step } });
    const statuses = tree.root.children.map(({ status }) => status === 'failed');
    expect(statuses).toEqual([true, false]);
  });

  test('from a policy, an illegal move, fails that child and no sibling', async () => {
    const puzzle = gameOf24.environment({ numbers: [1, 2, 3, 4] });
    const moves: Policy<ArithmeticState<Rational>, ArithmeticStep<Rational>> = {
      propose({ state = { numbers: [] } as never }) {
        const [legal] = puzzle.actions(state);
        if (legal === undefined) return [];
        const illegal = { ...legal, result: { numerator: 99, denominator: 1 } };
        return [{ action: illegal }, { action: legal }];
      },
    };
    const { tree } = await search(puzzle, {
      policy: moves,
      evaluator: { needs: 'realised', evaluate: (nodes) => nodes.map(() => ({ value: 0.5 })) },
      algorithm: mcts({ evaluate: 'all' }),
      budget: { simulations: 2 },
    });
    const [illegal, legal] = tree.root.children;
    expect([illegal?.status, legal?.status]).toEqual(['failed', 'open']);
  });
});

test('a budget says which unit did not suffice', async () => {
  const met: unknown[] = [];
  const looking: Policy<string, string> = {
    async propose(_node, { context }) {
      for (const place of [1, 2]) {
        await context
          .effect('look', place, async () => place)
          .catch((error: unknown) => {
            met.push(error);
            throw error;
          });
      }
      return [{ action: 'a' }];
    },
  };
  const { stopReason, exceeded } = await grow({ policy: looking, budget: { calls: 1 } });
  expect([stopReason, exceeded]).toEqual(['budget', 'calls']);
  expect(met[0]).toMatchObject({ code: 'budget', scope: 'search', unit: 'calls' });
});
