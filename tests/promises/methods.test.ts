import { describe, expect, test } from 'vitest';
import { type Environment, type Evaluator, type Policy, search } from '../../src/index.ts';
import { agentQ, iMcts, type Method, mctsDpo, restMcts } from '../../src/methods/index.ts';
import { scriptedModel } from '../../src/testing/index.ts';

/** Words of letters: three letters are an end, whose reward is `worth`. */
function wordsWorth(worth: (word: string) => number): Environment<string, string> {
  return {
    name: 'words',
    reset: () => ({ state: '' }),
    step: (state, action) => {
      const word = state + action;
      return word.length < 3
        ? { state: word }
        : { state: word, terminal: true, reward: worth(word) };
    },
    notation: {
      prompt: (state) => [{ role: 'user', content: `The word so far: \`${state}\`.` }],
      format: (action) => action,
      parse: (text) =>
        /^[a-z]$/.test(text)
          ? { action: text }
          : { failure: { kind: 'parse', message: `Expected a letter, got \`${text}\`.` } },
    },
  };
}

/** Values words. */
function stateValue(worth: (word: string) => number): Evaluator<string, string> {
  return {
    needs: 'realised',
    evaluate: (nodes) => nodes.map(({ state }) => ({ value: worth(state ?? '') })),
  };
}

const anyLetter: Policy<string, string> = {
  propose: (node, { count }) =>
    ['a', 'b', 'c']
      .filter((action) => node.children.every((child) => child.action !== action))
      .slice(0, count)
      .map((action) => ({ action })),
};

describe('I-MCTS', () => {
  test('tells of each sibling what came of it and what it scored, before another is proposed', async () => {
    const asked: string[] = [];
    const model = scriptedModel({
      capabilities: { n: true, temperature: true },
      answer: ({ messages }, index) => {
        const text = messages.map(({ content }) => content).join('\n');
        if (text.includes('Do not write a step')) {
          return JSON.stringify({ reason: 'so', scores: {} });
        }
        asked.push(text);
        const known = [...text.matchAll(/^- ([a-z])$/gm)].map(([, letter]) => letter);
        return [...'abcdefgh'].filter((letter) => !known.includes(letter))[index % 2] ?? 'z';
      },
    });
    const environment = wordsWorth((word) => (word.codePointAt(0) ?? 0) % 2);
    const judge = stateValue(() => 0.5);
    const method = iMcts({ model, value: judge, width: 4 });
    const { tree } = await search(environment, { method, budget: { simulations: 40 } });

    const told = asked.filter((text) => text.includes('are known already'));
    expect(told.length).toBeGreaterThan(5);
    for (const text of told) {
      const siblings = [...text.matchAll(/^- [a-z]\n {2}Outcome: (.*)\n {2}Score: (.*)$/gm)];
      expect(siblings.length).toBeGreaterThan(0);
      for (const [, outcome, score] of siblings) {
        expect(outcome).toMatch(
          /^The word so far: `[a-z]{1,2}`\.$|^.*\(the end\) \(reward [01]\)$/,
        );
        expect(score).toMatch(/^(?:0|1|0\.\d+), after \d+ trials$/);
      }
    }
    expect(Math.max(...[...tree.nodes()].map(({ children }) => children.length))).toBe(4);
  });
});

describe('a method goes on after its first solution, as its paper does', () => {
  const environment = wordsWorth((word) => (word.startsWith('a') ? 1 : 0.5));
  const evaluator = stateValue((word) => (word.startsWith('a') ? 0.9 : 0.1));
  const model = scriptedModel({ answer: () => '' });
  const grown = (method: Method<string, string>, simulations: number) =>
    search(environment, { method, policy: anyLetter, budget: { simulations } });

  test.each([
    ['MCTS-DPO', () => ({ ...mctsDpo({ model, width: 3, simulations: 8 }), evaluator })],
    ['Agent Q', () => ({ ...agentQ({ model, width: 3 }), evaluator })],
    ['I-MCTS', () => ({ ...iMcts({ model, width: 3 }), evaluator })],
  ])('%s', async (_name, create) => {
    const { tree, spend, stopReason } = await grown(create(), 8);
    expect(spend.simulations).toBe(8);
    expect(stopReason).toBe('budget');
    const ends = [...tree.nodes()].filter(({ terminal, visits }) => terminal && visits > 0);
    expect(ends.length).toBeGreaterThan(1);
  });

  test('but ReST-MCTS* ends at its gate', async () => {
    const { stopReason } = await grown(
      restMcts({ model, policy: anyLetter, value: evaluator }),
      50,
    );
    expect(stopReason).toBe('solved');
  });
});

describe('ReST-MCTS* by itself', () => {
  /** Visits of the first letters. Everything is worth what its first letter is, so that a roll-out changes nothing. */
  async function visitsAfter(simulations: number, values: Readonly<Record<string, number>>) {
    const evaluator = stateValue((word) => values[word[0] ?? ''] ?? 0);
    const model = scriptedModel({ answer: () => '' });
    const environment = wordsWorth(() => 0);
    const method = restMcts({ model, policy: anyLetter, value: evaluator });
    const { tree } = await search(environment, { method, budget: { simulations } });
    return tree.root.children.map(({ visits }) => visits);
  }

  test('has the defaults of one configuration, that of the evaluation: c 0.4 with a bonus of 0.8', async () => {
    // 0.95 + 0.4 · √(2 ln 1) is above 0.1 + 0.8, and would be below 0.1 + 1.
    expect(await visitsAfter(2, { a: 0.95, b: 0.1, c: 0.1 })).toEqual([2, 0, 0]);
    // a, then b by 0.3 + 0.8; then 0.6 + 0.4 · √(2 ln 2) = 1.071 is below 0.28 + 0.8, and 0.7 in place of 0.4 above.
    expect(await visitsAfter(3, { a: 0.6, b: 0.3, c: 0.28 })).toEqual([1, 1, 1]);
  });
});
