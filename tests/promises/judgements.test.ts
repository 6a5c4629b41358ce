import { describe, expect, test } from 'vitest';
import { decisionsFromModel } from '../../src/backends/index.ts';
import {
  type Completion,
  type Environment,
  type EvaluateRequest,
  type Evaluator,
  type Notation,
  SearchTree,
  search,
} from '../../src/index.ts';
import { restMcts } from '../../src/methods/index.ts';
import { plainContext, scriptedModel } from '../../src/testing/index.ts';
import {
  debate,
  judge,
  rollout,
  selfConsistency,
  selfEval,
  withSimulation,
} from '../../src/values/index.ts';
import { comparePair } from '../../src/values/judge/compare-pair.ts';
import { environmentOf } from '../support/environment-of.ts';

const notation: Notation<string, string> = {
  prompt: (state) => [{ role: 'user', content: `Work: ${state}.` }],
  format: (action) => action,
  parse: (text) => ({ action: text }),
};
const spend = { simulations: 0, nodes: 0, calls: 0, tokens: 0, usd: 0, ms: 0 };
const request: EvaluateRequest = {
  environment: environmentOf(notation),
  context: plainContext(),
  remaining: spend,
};
const node = new SearchTree<string, string>('half done', { environment: 'work', seed: 0 }).root;
const failed = { failure: { kind: 'parse' } };

/** A model whose first token could have been any of these. */
function telling(...top: readonly (readonly [string, number])[]) {
  const told = top.map(([token, p]) => ({ token, logprob: Math.log(p) }));
  const [first = { token: '', logprob: 0 }] = told;
  const completion: Completion = {
    text: first.token,
    finishReason: 'length',
    logprobs: [{ ...first, top: told }],
  };
  return scriptedModel({
    capabilities: { n: true, temperature: true, logprobs: true },
    answer: () => completion,
  });
}

async function valueBy(evaluator: Evaluator<string, string>): Promise<unknown> {
  const [verdict] = await evaluator.evaluate([node], request);
  return verdict;
}

const judged = (model: ReturnType<typeof telling>, options: object = {}) =>
  valueBy(judge({ model, ...options }));

describe('a judgement read from tokens', () => {
  test('knows no word by a letter, which is a word of its own', async () => {
    expect(await judged(telling(['I', 0.9], ['The', 0.1]))).toMatchObject(failed);
    expect(await judged(telling(['S', 0.6], ['likely', 0.4]))).toMatchObject({ value: 0.5 });
  });

  test('knows no word by a longer one that begins with it', async () => {
    const scale = { a: 1, b: 0 };
    expect(await judged(telling(['As', 0.7], ['Based', 0.3]), { scale })).toMatchObject(failed);
    expect(await judged(telling(['b', 0.75], ['(a', 0.25]), { scale })).toMatchObject({
      value: expect.closeTo(0.25, 12) as number,
    });
  });

  test('knows a word by its first piece, and by what stands around it', async () => {
    // (0.4 · 1 + 0.2 · 0.5 + 0.4 · 0) / 1
    const model = telling([' Su', 0.3], ['sure,', 0.1], ['"likely', 0.2], ['imp', 0.4]);
    expect(await judged(model)).toMatchObject({ value: expect.closeTo(0.5, 12) as number });
  });

  // What was seen of a small model: pieces of words far behind what it would have written.
  test.each([
    [
      [
        ['Based', 0.089],
        ['su', 0.02],
        ['imp', 0.02],
      ],
    ],
    [
      [
        ['Based', 0.089],
        ['su', 0.02],
        ['im', 0.0044],
      ],
    ],
    [
      [
        ['sure', 0.05],
        ['The', 0.04],
      ],
    ],
  ] as const)('is none where its words are next to impossible: %j', async (top) => {
    expect(await judged(telling(...top))).toMatchObject(failed);
  });

  test('of yes or no, of two letters, and of a decision model is none either', async () => {
    const yes = telling(['yes', 0.06], ['no', 0.02], ['The', 0.05]);
    expect(await judged(yes, { form: 'yes-no' })).toMatchObject(failed);
    const letters = telling(['B', 0.05], ['A', 0.03], ['It', 0.04]);
    expect(await valueBy(selfEval({ model: letters }))).toMatchObject(failed);
    const pair = { messages: [], first: 'one', second: 'other' };
    expect(await comparePair(pair, { model: letters }, request.context)).toMatchObject(failed);
    const { answers } = await decisionsFromModel({ model: yes }).decide(
      { messages: [], questions: { right: { type: 'yes-no', text: 'Is it right?' } } },
      { signal: request.context.signal } as never,
    );
    expect(answers['right']).toMatchObject(failed.failure);
  });

  test('that is none is counted beside those that are', async () => {
    const completions = [0.9, 0.05].map((p): Completion => {
      const logprobs = [{ token: 'yes', logprob: Math.log(p) }];
      return { text: 'yes', logprobs };
    });
    const model = scriptedModel({
      capabilities: { n: true, temperature: true, logprobs: true },
      answer: (_request, index) => completions[index % 2] ?? '',
    });
    expect(await judged(model, { form: 'yes-no', samples: 4 })).toMatchObject({
      value: 1,
      unscored: 2,
    });
  });
});

describe('a debate', () => {
  const debating = (given: readonly string[], swapped: readonly string[]) => {
    const model = scriptedModel({
      capabilities: { n: true, temperature: true },
      answer: ({ messages }, index) => {
        const asked = messages.at(-1)?.content ?? '';
        if (asked.includes('Argue for it')) return 'PRO';
        if (asked.includes('Argue against it')) return 'CONTRA';
        const order = asked.indexOf('PRO') < asked.indexOf('CONTRA') ? given : swapped;
        return order[index] ?? 'none';
      },
    });
    return valueBy(debate({ model }));
  };

  test('weighs both orders alike, whichever has lost a verdict', async () => {
    // A judge that sides with who speaks first: 1 in one order, 0 in the other.
    const [first, second] = [Array(3).fill('A'), Array(3).fill('E')];
    expect(await debating(first, second)).toMatchObject({ value: 0.5 });
    expect(await debating(['A', '?', '?'], second)).toMatchObject({ value: 0.5, unscored: 2 });
    expect(await debating(first, ['?', 'E', 'E'])).toMatchObject({ value: 0.5, unscored: 1 });
  });

  test('fails where one order is lost, since the other one tells who spoke first', async () => {
    expect(await debating(['A', 'A', 'A'], ['?', '?', '?'])).toMatchObject(failed);
    expect(await debating(['?', '?', '?'], ['E', 'E', 'E'])).toMatchObject(failed);
  });
});

describe('self-consistency', () => {
  const agreeing = (...answers: readonly string[]) => {
    const model = scriptedModel({
      capabilities: { n: true, temperature: true },
      answer: (_request, index) => answers[index % answers.length] ?? '',
    });
    const key = (text: string) => /answer: (.*)/.exec(text)?.[1];
    return valueBy(selfConsistency({ model, key, samples: answers.length }));
  };

  test('counts what cannot be read as not agreeing', async () => {
    const lost = Array<string>(7).fill('Hmm.');
    expect(await agreeing('answer: 7', ...lost)).toMatchObject({ value: 1 / 8, unscored: 7 });
    expect(await agreeing('answer: 7', 'answer: 7', 'answer: 8', 'Hmm.')).toMatchObject({
      value: 0.5,
      unscored: 1,
    });
    expect(await agreeing(...lost)).toMatchObject(failed);
  });
});

describe('an end without a reward', () => {
  /** Two letters, then nothing; ends bring no reward. */
  const environment: Environment<string, string> & { readonly notation: Notation<string, string> } =
    {
      name: 'letters',
      reset: () => ({ state: '' }),
      step: (state, action) => ({ state: state + action, terminal: state.length === 1 }),
      notation,
    };

  function counting() {
    const asked: string[] = [];
    const evaluator: Evaluator<string, string> = {
      needs: 'realised',
      evaluate: (nodes) =>
        nodes.map(({ state }) => {
          asked.push(state ?? '?');
          // Another opinion each time, as a judge that samples has.
          return { value: state?.length === 2 ? 1 / asked.length : 0.5 };
        }),
    };
    const policy = { propose: () => ['a', 'b'].map((action) => ({ action })) };
    return { asked, evaluator, policy };
  }

  test('is judged once by ReST-MCTS*', async () => {
    const { evaluator, policy } = counting();
    const model = scriptedModel({ answer: () => '' });
    const method = restMcts({ model, policy, value: evaluator, rollForward: 1, gate: 1 });
    const { tree } = await search(environment, { method, budget: { simulations: 12 } });
    const ends = [...tree.nodes()].filter(({ terminal, visits }) => terminal && visits > 0);
    expect(ends.length).toBeGreaterThan(0);
    expect(ends.map(({ value }) => value)).toEqual(ends.map(({ rawValue }) => rawValue));
  });

  test('is judged once by plays for the best that cannot go on', async () => {
    const { asked, evaluator, policy } = counting();
    const tree = new SearchTree<string, string>('a', { environment: 'letters', seed: 0 });
    const [end] = tree.add(tree.root, [{ action: 'b', prior: 1 }]);
    if (end === undefined) expect.fail('The child was added.');
    tree.realise(end, { state: 'ab', terminal: true });
    tree.addEvaluation(end, { value: 0.25 });
    const playing = rollout({ policy, evaluator, worth: 'best', rollouts: 3 });
    const both = withSimulation(evaluator, playing, { alpha: 0.5 });
    expect(await both.simulate?.([end], request)).toMatchObject([{ value: 0.25 }]);
    expect(asked).toEqual([]);
  });
});
