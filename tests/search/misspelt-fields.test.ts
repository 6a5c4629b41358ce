import { expect, test } from 'vitest';
import { banditTree } from '../../src/testing/index.ts';
import { searchOf } from '../support/search-of.ts';

const problem = banditTree();
const budget = { simulations: 10 };

test.each([
  [{ acton: 0 }, 'The proposal has an unknown `acton`. Did you mean `action`?'],
  [{ action: 0, piror: 0.5 }, 'The proposal has an unknown `piror`. Did you mean `prior`?'],
  [
    { action: 0, why: 'it is short' },
    'The proposal has an unknown `why`. It has action, prior, completion.',
  ],
])('a policy that proposes %o loses that proposal', async (wrong, message) => {
  const policy = { propose: () => [wrong as never, { action: 1 }] };
  const { tree } = await searchOf({ ...problem, policy, budget });
  expect(tree.root.failedProposals).toEqual([{ kind: 'invalid', message, count: 1 }]);
  expect(tree.root.children.map(({ action }) => action)).toEqual([1]);
});

test.each([
  [
    { value: 1, raw: { scor: 3, range: [0, 5] } },
    'The evaluation has an unknown `raw.scor`. Did you mean `raw.score`?',
  ],
  [{ valu: 1 }, 'The evaluation has an unknown `valu`. Did you mean `value`?'],
  [{ value: 1, abuot: 'action' }, 'The evaluation has an unknown `abuot`. Did you mean `about`?'],
])('an evaluator that returns %o fails the node', async (wrong, message) => {
  const evaluator = { needs: 'realised' as const, evaluate: () => [wrong as never] };
  const { tree } = await searchOf({ ...problem, evaluator, budget });
  expect(tree.root.children[0]?.failure).toEqual({ kind: 'invalid', message });
});
