import { readFileSync, statSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { isHeldOut } from '../../../src/backends/tiny/held-out.ts';
import { tiny } from '../../../src/backends/tiny/index.ts';
import { gameOf24, solvablePuzzles } from '../../../src/environments/index.ts';
import { fromModel } from '../../../src/policies/index.ts';
import { describeLanguageModel, plainContext } from '../../../src/testing/index.ts';
import { templateHashes } from '../../../training/tiny/corpus/templates.ts';
import { environmentOf } from '../../support/environment-of.ts';
import { noSpend, rootNode } from '../../support/nodes.ts';

const file = (name: string) => fileURLToPath(new URL(`../../../models/${name}`, import.meta.url));

describe('the model that comes with the package', () => {
  test('is small', () => {
    expect(statSync(file('tiny.gguf')).size).toBeLessThan(6_000_000);
  });

  test('was trained on the prompts that policies and judges write today', async () => {
    const card = readFileSync(file('tiny.md'), 'utf8');
    const [, json = ''] =
      /<!-- templates:begin -->\s*```json\n(.*?)```\s*<!-- templates:end -->/s.exec(card) ?? [];
    // Where this fails, the model has to be trained again: `make -C training tiny`.
    expect(JSON.parse(json)).toEqual(await templateHashes());
  });

  test('proposes legal steps of a puzzle that it has never seen', async () => {
    const numbers = [2, 4, 6, 7];
    expect(isHeldOut(gameOf24.format({ numbers }))).toBe(true);
    const environment = gameOf24.environment({ numbers });
    await using model = tiny({ thread: false });
    const policy = fromModel({ model });
    const proposals = await policy.propose(rootNode(environment.reset().state), {
      environment: environmentOf(environment.notation),
      context: plainContext(),
      count: 20,
      offset: 0,
      remaining: noSpend,
    });
    const legal = proposals.filter((proposal) => 'action' in proposal);
    expect(legal.length).toBeGreaterThanOrEqual(15);
  });
});

test('441 of the 1,362 solvable Games of 24 were kept from the training', () => {
  const texts = solvablePuzzles().map(({ numbers }) => gameOf24.format({ numbers }));
  expect(texts.filter(isHeldOut)).toHaveLength(441);
});

describeLanguageModel(
  'espalier-tiny',
  { create: () => tiny({ thread: false }) },
  { describe, test },
);
