import { describe, expect, test } from 'vitest';
import { descend, type SearchAlgorithm, search, uct } from '../../src/index.ts';
import { contrastive, inMemoryStore, memory } from '../../src/memory/index.ts';
import { multiAction } from '../../src/policies/index.ts';
import { scriptedModel } from '../../src/testing/index.ts';
import { refusalOf } from '../support/refusal-of.ts';

const model = scriptedModel({ answer: () => 'a' });
const slip: object = { mispelt: 1 };

/** Selects in a search of its own. */
async function selecting(...given: readonly unknown[]): Promise<void> {
  const algorithm: SearchAlgorithm = {
    ...{ name: 'selecting', concurrency: 'any', laws: [] },
    run: (_tree, context) =>
      context.simulate(async (simulation) => {
        simulation.select(...(given as Parameters<typeof simulation.select>));
        return 'exhausted';
      }),
  };
  const bare = { name: 'bare', reset: () => ({ state: '' }), step: () => ({ state: '' }) };
  await search(bare, { policy: () => [], evaluator: () => 0.5, algorithm });
}

const store = { model, memory: memory({ store: inMemoryStore() }) };

describe('an unknown name', () => {
  test.each<[name: string, make: () => unknown]>([
    ['policy', () => contrastive({ ...store, policy: slip })],
    ['value', () => contrastive({ ...store, value: slip })],
    ['counts', () => multiAction({ model, counts: slip })],
    ['simulation.select', () => selecting(descend(uct()), slip)],
  ])('is refused in `%s`', async (name, make) => {
    expect(await refusalOf(make)).toMatchObject({
      code: 'usage',
      message: expect.stringContaining(`\`${name}\` has no option \`mispelt\`. It has `),
    });
  });
});

test.each([
  [['uct'], '"uct"'],
  [[], 'undefined'],
])('`select` says what it takes, where it gets %j', async (given, got) => {
  expect(await refusalOf(() => selecting(...given))).toMatchObject({
    code: 'usage',
    message: `Expected \`selection\` to be a selection rule, such as \`descend(uct())\`, got \`${got}\`.`,
  });
});
