import { expect, test } from 'vitest';
import { difference, rulesOf, searched, textbook } from '../support/textbook-mcts.ts';

test('visits and values are those of a textbook, with parallel actions, rewards and dead ends', async () => {
  for (let seed = 1; seed <= 120; seed++) {
    const rules = rulesOf(seed);
    const found = difference(textbook(rules), await searched(rules));
    expect(found, `seed ${seed}, ${rules.formula}`).toBeUndefined();
  }
});
