/** What a real chat model answers to the prompts of judges: whether its answers can be read, not whether they are good. */
import { afterAll, expect, test } from 'vitest';
import { llama } from '../../../src/backends/llama/index.ts';
import { systemClock } from '../../../src/base/clock.ts';
import { reasoning } from '../../../src/environments/index.ts';
import type { Evaluator, SearchNode } from '../../../src/index.ts';
import { plainContext } from '../../../src/testing/index.ts';
import { SearchTree } from '../../../src/tree/tree.ts';
import { criticRanking, debate, judge, selfEval } from '../../../src/values/index.ts';
import { environmentOf } from '../../support/environment-of.ts';
import { noSpend } from '../../support/nodes.ts';
import { say } from '../support/packages.ts';
import { tinyLlamaPath } from '../support/tinyllama.ts';

const context = plainContext({ clock: systemClock });
const environment = reasoning({ question: 'Ann has 3 apples and buys 4. How many has she?' });
const { notation } = environment;
const model = llama({
  model: tinyLlamaPath,
  gpu: false,
  threads: 1,
  sequences: 2,
  contextSize: 1024,
});
afterAll(() => model.close());

const steps = ['Ann has 3 + 4 = 7 apples.', 'Ann has 3 times 4 apples, which is 12.'];

/** The two first steps of a solution, taken or only proposed. */
function nodes(
  taken: boolean,
): readonly SearchNode<ReturnType<typeof environment.reset>['state'], string>[] {
  const tree = new SearchTree<ReturnType<typeof environment.reset>['state'], string>(
    environment.reset().state,
    {
      environment: environment.name,
      seed: 0,
    },
  );
  const children = tree.add(
    tree.root,
    steps.map((action) => ({ action, prior: 0.5 })),
  );
  for (const child of taken ? children : []) {
    tree.realise(child, { state: { ...environment.reset().state, steps: [child.action] } });
  }
  return children;
}

/** Read from log-probabilities: a weak model may think of saying something else. */
const free: readonly string[] = ['one word', 'yes or no', 'its own confidence'];

type Values = Evaluator<ReturnType<typeof environment.reset>['state'], string>;

const forms: Readonly<Record<string, () => Values>> = {
  'one word': () => judge({ model }),
  'a number': () => judge({ model, form: 'number', samples: 2, reason: false }),
  criteria: () => judge({ model, form: 'criteria', samples: 1, reason: false }),
  codes: () => judge({ model, form: 'codes', samples: 2, reason: false }),
  'yes or no': () => judge({ model, form: 'yes-no' }),
  success: () => judge({ model, form: 'success', samples: 2, reason: false }),
  'its own confidence': () => selfEval({ model }),
  'a ranking': () => criticRanking({ model, by: 'list', reason: false }),
  'the best of the rest': () => criticRanking({ model, reason: false }),
  'a debate': () => debate({ model, samples: 1, words: 20, argumentTokens: 40, maxTokens: 160 }),
};

test.each(Object.keys(forms))('an answer by %s can be read, or is told', async (name) => {
  const began = systemClock.now();
  const evaluator = forms[name]?.() ?? expect.fail();
  const verdicts = await evaluator.evaluate(nodes(evaluator.needs === 'realised'), {
    environment: environmentOf(notation),
    context,
    remaining: noSpend,
  });
  const seconds = ((systemClock.now() - began) / 1000).toFixed(1);
  say(
    `${name}: ${verdicts
      .map((verdict) =>
        'failure' in verdict
          ? verdict.failure.message
          : `${verdict.value.toFixed(3)} (${verdict.unscored ?? 0} unread)`,
      )
      .join(', ')}; ${seconds} s`,
  );
  for (const verdict of verdicts) {
    if ('failure' in verdict) {
      expect(free).toContain(name);
      expect(verdict.failure).toMatchObject({
        kind: 'parse',
        message: expect.stringContaining('got') as unknown,
      });
      continue;
    }
    expect(verdict.value).toBeGreaterThanOrEqual(0);
    expect(verdict.value).toBeLessThanOrEqual(1);
  }
});
