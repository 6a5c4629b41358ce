import { describe, expect, test } from 'vitest';
import type { Environment } from '../../src/contracts/environment.ts';
import type { Evaluator } from '../../src/contracts/evaluator.ts';
import type { SearchNode } from '../../src/contracts/node.ts';
import type { Policy } from '../../src/contracts/policy.ts';
import { mcts } from '../../src/search/algorithms/mcts.ts';
import { stepwise } from '../../src/search/algorithms/stepwise.ts';
import { withReflection } from '../../src/search/algorithms/with-reflection.ts';
import { descend, uct } from '../../src/tree/selection.ts';
import { type SearchOf, searchOf } from '../support/search-of.ts';

/** Words of `l` and `r`; three letters end one, and its reward is the part of letters that are `r`. */
const words: Environment<string, string> = {
  name: 'words',
  reset: () => ({ state: '' }),
  step: (state, action) => {
    const next = state + action;
    const reward = [...next].filter((letter) => letter === 'r').length / 3;
    return next.length === 3 ? { state: next, terminal: true, reward } : { state: next };
  },
};

const both: Policy<string, string> = { propose: () => [{ action: 'l' }, { action: 'r' }] };

/** Values a word by the part of its letters that are `r`; writes down what it is asked. */
function counting(): Evaluator<string, string> & { readonly asked: string[][] } {
  const asked: string[][] = [];
  return {
    needs: 'realised',
    asked,
    evaluate: (nodes) => {
      asked.push(nodes.map(({ state }) => state ?? '?'));
      return nodes.map(({ state }) => ({ value: partOf(state ?? '') }));
    },
  };
}

function partOf(word: string): number {
  return word === '' ? 0.5 : [...word].filter((letter) => letter === 'r').length / word.length;
}

function run(options: Partial<SearchOf<string, string>>) {
  return searchOf({ environment: words, policy: both, evaluator: counting(), ...options });
}

/** All visited nodes: word, visits and value. */
function visited(tree: { nodes(): Iterable<SearchNode<string, string>> }): readonly string[] {
  return [...tree.nodes()]
    .filter(({ visits }) => visits > 0)
    .map(({ state, visits, value }) => `${state} ${visits} ${value.toFixed(3)}`);
}

describe('a simulation that goes on to the end of a path', () => {
  const algorithm = mcts({ rollout: true, evaluate: 'all', selection: descend(uct()) });

  test('expands all the way and backs up the end alone', async () => {
    const { tree } = await run({ algorithm, budget: { simulations: 1 } });

    // Unvisited children are infinite: the first one wins. Its end, `lll`, is worth 0.
    expect(visited(tree)).toEqual([' 1 0.000', 'l 1 0.000', 'll 1 0.000', 'lll 1 0.000']);
    expect(tree.size).toBe(1 + 2 + 2 + 2);
  });

  test('keeps what was played in the tree', async () => {
    const { tree } = await run({ algorithm, budget: { simulations: 2 } });

    expect(visited(tree)).toEqual([
      ' 2 0.167',
      'l 1 0.000',
      'r 1 0.333',
      'll 1 0.000',
      'lll 1 0.000',
      'rl 1 0.333',
      'rll 1 0.333',
    ]);
  });

  test('ends where its horizon ends, and closes nothing there', async () => {
    const { tree } = await run({
      algorithm: mcts({ rollout: true, evaluate: 'all', horizon: 1 }),
      budget: { simulations: 3 },
    });

    expect(tree.size).toBe(3);
    expect(tree.root.visits).toBe(3);
    expect(tree.root.children.map(({ status }) => status)).toEqual(['open', 'open']);
  });

  test('ends at a node all of whose children fail', async () => {
    const broken: Environment<string, string> = {
      ...words,
      step: (state, action, context) => {
        if (state === 'l') throw new Error('It broke.');
        return words.step(state, action, context);
      },
    };
    const { tree } = await run({ environment: broken, algorithm, budget: { simulations: 3 } });

    expect(tree.root.children[0]?.status).toBe('failed');
    expect(tree.root.children[1]?.visits).toBe(tree.root.visits);
  });
});

test('a leaf that is evaluated itself is backed up, and its children wait', async () => {
  const evaluator = counting();
  const { tree } = await run({
    evaluator,
    algorithm: mcts({ evaluate: 'leaf' }),
    budget: { simulations: 3 },
  });

  // The root, then its likeliest child, and as that one is worth 0, the other one.
  expect(evaluator.asked).toEqual([[''], ['l'], ['r']]);
  expect(visited(tree)).toEqual([' 3 0.500', 'l 1 0.000', 'r 1 1.000']);
  expect(tree.root.children.map(({ kind }) => kind)).toEqual(['realised', 'realised']);
  expect(tree.root.children.map(({ children }) => children.length)).toEqual([2, 2]);
});

describe('an evaluator that simulates', () => {
  const simulating = (simulate: NonNullable<Evaluator<string, string>['simulate']>) => ({
    ...counting(),
    simulate,
  });

  test('gives the return, and its value only guides', async () => {
    const evaluator = simulating((nodes) =>
      nodes.map(() => ({ value: 0.25, rationale: 'played' })),
    );
    const { tree } = await run({
      evaluator,
      algorithm: mcts({ evaluate: 'all' }),
      budget: { simulations: 1 },
    });
    const [left, right] = tree.root.children;

    expect([left?.rawValue, left?.visits]).toEqual([0, 0]);
    expect([right?.rawValue, right?.value, right?.visits]).toEqual([1, 0.25, 1]);
    expect(right?.outcome).toEqual({ value: 0.25, rationale: 'played' });
  });

  test('is asked once a node, and never for a rewarded end', async () => {
    const asked: string[] = [];
    const evaluator = simulating(async (nodes) => {
      asked.push(...nodes.map(({ state }) => state ?? ''));
      return nodes.map(() => ({ value: 0.5 }));
    });
    await run({
      evaluator,
      algorithm: mcts({ evaluate: 'all', horizon: 1 }),
      budget: { simulations: 6 },
    });

    expect(asked.toSorted()).toEqual(['l', 'r']);
    asked.length = 0;
    await run({ evaluator, algorithm: mcts(), budget: { simulations: 30 } });
    expect(asked.filter((word) => word.length === 3)).toEqual([]);
  });

  test('fails one node where it fails', async () => {
    const evaluator = simulating((nodes) =>
      nodes.map(({ state }) =>
        state === 'r'
          ? { failure: { kind: 'call' as const, message: 'It broke.' } }
          : { value: 0.5 },
      ),
    );
    const algorithm = mcts({ evaluate: 'all' });
    const { tree } = await run({ evaluator, algorithm, budget: { simulations: 3 } });

    expect(tree.root.children[1]).toMatchObject({
      status: 'failed',
      failure: { message: 'It broke.' },
    });
    expect(tree.root.children[0]?.visits).toBeGreaterThan(0);
  });

  test('must give one return a node', async () => {
    const evaluator = simulating(() => []);
    const { tree } = await run({ evaluator, budget: { simulations: 1 } });

    expect([...tree.nodes()].find(({ status }) => status === 'failed')?.failure?.message).toBe(
      'Expected `simulate` to return an array of 1, one evaluation for each node, got an array of 0.',
    );
  });
});

describe('one committed action at a time', () => {
  test('takes the best action after so many simulations, to the end', async () => {
    const { tree, best, solved } = await run({
      algorithm: stepwise(mcts({ evaluate: 'all' }), { simulations: 8 }),
    });

    expect(tree.cursor.state).toBe('rrr');
    expect(best.state).toBe('rrr');
    expect(solved).toBe(true);
    expect(tree.root.children).toHaveLength(2);
  });

  test('ends with the budget, and says so', async () => {
    const { tree, stopReason } = await run({
      algorithm: stepwise(mcts({ evaluate: 'all' }), { simulations: 4 }),
      budget: { simulations: 6 },
    });

    expect(stopReason).toBe('budget');
    expect(tree.cursor.depth).toBe(1);
    expect(tree.simulations).toBe(6);
  });

  test('ends after so many steps', async () => {
    const { tree, stopReason } = await run({
      algorithm: stepwise(mcts({ evaluate: 'all' }), { simulations: 4, maxSteps: 2 }),
    });

    expect(tree.cursor.depth).toBe(2);
    expect(stopReason).toBe('exhausted');
  });

  test('ends where every action fails', async () => {
    const { tree, stopReason } = await run({
      environment: {
        ...words,
        step: () => {
          throw new Error('It broke.');
        },
      },
      algorithm: stepwise(mcts(), { simulations: 4 }),
    });

    expect(tree.cursor.depth).toBe(0);
    expect(stopReason).toBe('failed');
  });
});

describe('reflection', () => {
  test('looks back on what was committed, within what was kept for it', async () => {
    const model = (name: string) => ({
      provider: 'test',
      modelId: name,
      decide: async () => ({ answers: { q: { type: 'yes-no' as const, probability: 0.5 } } }),
    });
    const question = (text: string) => ({
      messages: [{ role: 'user' as const, content: text }],
      questions: { q: { type: 'yes-no' as const, text } },
    });
    const judge = model('judge');
    const paths: string[][] = [];
    const { spend, stopReason, exceeded } = await run({
      evaluator: {
        needs: 'realised',
        evaluate: async (nodes, { context }) => {
          await Promise.all(nodes.map(({ id }) => context.decide(judge, question(String(id)))));
          return nodes.map(({ state }) => ({ value: partOf(state ?? '') }));
        },
      },
      algorithm: withReflection(stepwise(mcts(), { simulations: 3 }), {
        reserve: 0.5,
        reflect: async (path, { context }) => {
          paths.push(path.map(({ state }) => String(state)));
          for (const number of [1, 2]) {
            await context.decide(model('teacher'), question(`lesson ${number}`));
          }
        },
      }),
      budget: { calls: 4 },
    });

    // Two simulations judge one word each; the other two calls are kept, and used.
    expect(paths).toHaveLength(1);
    expect(spend.calls).toBe(4);
    expect([stopReason, exceeded]).toEqual(['budget', 'calls']);
  });

  test('looks back on the best path where nothing was committed', async () => {
    const paths: string[][] = [];
    await run({
      algorithm: withReflection(mcts({ evaluate: 'all' }), {
        reflect: async (path) => {
          paths.push(path.map(({ state }) => String(state)));
        },
      }),
      budget: { simulations: 10 },
    });

    expect(paths).toEqual([['', 'r', 'rr', 'rrr']]);
  });
});
