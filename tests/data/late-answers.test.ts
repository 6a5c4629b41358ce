/** With γ < 1 an end that is reached late scores less, and is as right as one that is reached at once. */
import { expect, test } from 'vitest';
import { sftRules } from '../../src/data/index.ts';
import {
  type Environment,
  type SearchAlgorithm,
  type SearchNode,
  search,
} from '../../src/index.ts';
import { heuristic } from '../../src/values/index.ts';

/** A word of letters: `r` ends it right, `w` wrong, `x` goes on. */
const words: Environment<string, string> = {
  name: 'words',
  reset: () => ({ state: '' }),
  step: (state, action) => ({
    state: state + action,
    ...(action !== 'x' && { terminal: true, reward: action === 'r' ? 1 : 0 }),
  }),
};
const notation = {
  prompt: (state: string) => [{ role: 'user' as const, content: `Word: ${state}` }],
  format: (action: string) => action,
  parse: (text: string) => ({ action: text }),
};

/** Everything down to a depth of 4. */
const whole: SearchAlgorithm<string, string> = {
  name: 'whole',
  concurrency: 'any',
  laws: [],
  async run(tree, context) {
    let level: readonly SearchNode<string, string>[] = [tree.root];
    for (let depth = 0; depth < 4; depth++) {
      const next: SearchNode<string, string>[] = [];
      await context.round('level', level, async (node) => {
        next.push(...(await context.expand(node)));
        return 'continue';
      });
      level = next.filter(({ terminal }) => !terminal);
    }
  },
};

test.each([1, 0.5])('agent-r corrects wrong beginnings only, with γ = %s', async (discount) => {
  const { tree } = await search(words, {
    policy: ({ state }) => [...(state.length < 3 ? 'rwx' : 'rw')].map((action) => ({ action })),
    evaluator: heuristic(() => 0.5),
    ...{ algorithm: whole, discount, budget: { simulations: 100 } },
  });
  const rows = [...sftRules.agentR({ splice: 'naive' }).rows([{ problem: 'p', tree, notation }])];
  expect(rows.length).toBeGreaterThan(0);
  for (const { prompt, completion } of rows) {
    // What is taken back is a wrong end, and what stands for it ends right, however late.
    expect(prompt.at(-1)?.content).toMatch(/w\n$/);
    expect(completion[0]?.content).toMatch(/r$/);
  }
});
