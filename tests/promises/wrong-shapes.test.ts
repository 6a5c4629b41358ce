import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { BudgetPool, withLimit } from '../../src/calls/index.ts';
import {
  astar,
  type CallContext,
  type Environment,
  type Evaluator,
  type LanguageModel,
  type ModelWarning,
  mcts,
  type Policy,
  type SearchResult,
  search,
  solved,
} from '../../src/index.ts';
import { generate, openRun } from '../../src/runs/index.ts';
import { type SearchOf, streamSearchOf } from '../support/search-of.ts';

/** What plug-ins of users without types may hand over; the house must never end in a raw TypeError. */
type Loose = never;

const environment: Environment<string, string> = {
  name: 'letters',
  reset: () => ({ state: '' }),
  step: (state, action) => ({ state: state + action }),
};
const listed: Policy<string, string> = {
  propose: () => ['a', 'b'].map((action) => ({ action, prior: 1 / 2 })),
};
const evaluator: Evaluator<string, string> = {
  needs: 'realised',
  evaluate: (nodes) => nodes.map(() => ({ value: 0.5 })),
};
const sound: LanguageModel = {
  ...{ provider: 'mine', modelId: 'm', capabilities: {} },
  generate: async () => ({
    completions: [{ text: 'a' }],
    usage: { inputTokens: 1, outputTokens: 1 },
  }),
};
const messages = [{ role: 'user' as const, content: 'Next?' }];

/** Asks in each state what `ask` says. */
function asking(ask: (context: CallContext) => Promise<unknown>): Policy<string, string> {
  return {
    async propose(_node, { context }) {
      await ask(context);
      return [{ action: 'a' }, { action: 'b' }];
    },
  };
}

const withModel = (model: unknown, request: object = { messages }) =>
  asking((context) => context.generate(model as Loose, request as Loose));

async function grown(change: Partial<SearchOf<string, string>>) {
  const warnings: ModelWarning[] = [];
  let result: SearchResult<string, string> | undefined;
  const options = { environment, policy: listed, evaluator, budget: { simulations: 4 } };
  for await (const event of streamSearchOf({ ...options, ...change })) {
    if (event.type === 'warning') warnings.push(event.warning);
    if (event.type === 'search-end') result = event.result;
  }
  if (result === undefined) throw new Error('The search has no end.');
  return { ...result, warnings };
}

describe('a price', () => {
  test.each([
    [{ input: -5, output: -5 }, '`price.input of m` to be a finite number from 0 up, got `-5`'],
    [{ input: 1, output: Number.NaN }, '`price.output of m` to be a finite number from 0 up'],
    [{ input: 1 }, '`price.output of m` to be a finite number from 0 up, got `undefined`'],
    [{ input: 1, output: 1, cachedInput: '1' }, '`price.cachedInput of m` to be a finite number'],
    [{ input: 1, output: 1, cacheWrite: -1 }, '`price.cacheWrite of m` to be a finite number'],
    [3, '`price of m` to be an object, got `3`'],
  ])('of a model: %j is refused, and so it is in `prices`', async (price, sentence) => {
    await expect(grown({ policy: withModel({ ...sound, price }) })).rejects.toThrow(
      `Expected ${sentence}`,
    );
    const inTable = sentence.replace(/price(\S*) of m/, "prices['m']$1");
    await expect(grown({ prices: { m: price as Loose } })).rejects.toThrow(`Expected ${inTable}`);
  });
});

describe('a model', () => {
  const kinds = ['generate', 'score', 'decide', 'embed'] as const;
  test.each(kinds)('that cannot %s is refused', async (kind) => {
    for (const model of [undefined, 'gpt', { provider: 'mine', modelId: 'm' }]) {
      const policy = asking((context) => context[kind](model as Loose, {} as Loose));
      await expect(grown({ policy })).rejects.toThrow(
        `Expected \`model\` to be an object with a method \`${kind}\`, got `,
      );
    }
  });

  test.each(['provider', 'modelId', 'capabilities'])('without `%s` is refused', async (field) => {
    const policy = withModel({ ...sound, [field]: undefined });
    const what = field === 'capabilities' ? 'an object' : 'a text';
    await expect(grown({ policy })).rejects.toThrow(
      `Expected \`model.${field}\` to be ${what}, got \`undefined\`.`,
    );
  });
});

describe('what a model is asked', () => {
  test.each([
    [{ messages: 'hi' }, '`messages` to be an array, got `"hi"`.'],
    [{}, '`messages` to be an array, got `undefined`.'],
    [{ messages: ['hi'] }, '`messages[0]` to be an object, got `"hi"`.'],
    [{ messages: [{ role: 'user' }] }, '`messages[0].content` to be a string, got `undefined`.'],
    [
      { messages, samples: Number.POSITIVE_INFINITY },
      '`samples` to be an integer from 1 up, got `Infinity`: a policy whose `count` is `Infinity` is asked for all actions, and has to choose',
    ],
  ])('%j is refused', async (request, sentence) => {
    const refusal = `Expected ${sentence}`;
    await expect(grown({ policy: withModel(sound, request) })).rejects.toThrow(refusal);
  });

  test.each([
    ['decide', { messages }, '`questions` to be an object, got `undefined`.'],
    ['decide', { questions: {} }, '`messages` to be an array'],
    ['embed', 'hi', '`texts` to be an array, got `"hi"`.'],
    ['embed', [1], '`texts[0]` to be a text, got `1`.'],
    ['score', {}, '`solutions` to be an array, got `undefined`.'],
    ['score', { solutions: [{ steps: ['a'] }] }, '`solutions[0].prompt` to be a text'],
    ['score', { solutions: [{ prompt: 'a', steps: 'b' }] }, '`solutions[0].steps` to be an array'],
  ] as const)('to %s %j is refused', async (kind, request, sentence) => {
    const model = { ...sound, [kind]: async () => ({}) };
    const policy = asking((context) => context[kind](model as Loose, request as Loose));
    await expect(grown({ policy })).rejects.toThrow(`Expected ${sentence}`);
  });
});

describe('a reply', () => {
  const usage = { inputTokens: 1, outputTokens: 1 };
  test.each([
    ['generate', undefined, '`reply of mine:m` to be an object, got `undefined`.'],
    ['generate', 'a', '`reply of mine:m` to be an object, got `"a"`.'],
    ['generate', { usage }, '`completions of mine:m` to be an array, got `undefined`.'],
    ['generate', { completions: [{}], usage }, '`completions[0].text of mine:m` to be a text'],
    ['generate', { completions: [null], usage }, '`completions[0] of mine:m` to be an object'],
    [
      'generate',
      { completions: [{ text: 'a', toolCalls: 'b' }], usage },
      '`completions[0].toolCalls of mine:m` to be an array',
    ],
    ['decide', undefined, '`reply of mine:m` to be an object, got `undefined`.'],
    ['decide', {}, '`answers of mine:m` to be an object, got `undefined`.'],
    ['decide', { answers: { q: 1 } }, '`answers.q of mine:m` to be an object, got `1`.'],
    ['embed', undefined, '`reply of mine:m` to be an object, got `undefined`.'],
    ['embed', {}, '`embeddings of mine:m` to be an array, got `undefined`.'],
    ['embed', { embeddings: ['b'] }, '`embeddings[0] of mine:m` to be an array of numbers'],
    ['embed', { embeddings: [['1']] }, '`embeddings[0] of mine:m` to be an array of numbers'],
    ['score', undefined, '`reply of mine:m` to be an object, got `undefined`.'],
  ] as const)('to %s that is %j fails the call', async (kind, reply, sentence) => {
    const requests = {
      generate: { messages },
      decide: { messages, questions: { q: { type: 'yes-no', text: 'Good?' } } },
      embed: ['text'],
      score: { solutions: [{ prompt: 'a', steps: ['b'] }] },
    };
    for (const wrap of [(model: object) => model, withLimit({ tokensPerMinute: 1e6 })]) {
      const model = wrap({ ...sound, [kind]: async () => reply } as Loose);
      const policy = asking((context) => context[kind](model as Loose, requests[kind] as Loose));
      const { tree, stopReason } = await grown({ policy });
      expect(tree.root.failure?.message).toContain(`Expected ${sentence}`);
      expect(stopReason).toBe('failed');
    }
  });
});

describe('a usage', () => {
  const impossible = [
    undefined,
    'much',
    { inputTokens: Number.NaN, outputTokens: 1 },
    { inputTokens: '1', outputTokens: '1' },
    { inputTokens: -5, outputTokens: -5 },
    { inputTokens: 1, outputTokens: 1, reasoningTokens: 10n },
  ];
  test.each(impossible)('that is %o is unknown, and charged as reserved', async (usage) => {
    const completions = [{ text: 'a' }];
    const model = { ...sound, generate: async () => ({ completions, usage }) };
    const policy = asking(async (context) => {
      const request = { messages, maxTokens: 32 };
      expect((await context.generate(model as Loose, request)).usage).toEqual({});
    });
    const { spend, warnings, failures } = await grown({ policy });
    expect(failures.count).toBe(0);
    expect(spend.tokens).toBeGreaterThan(32);
    expect(warnings[0]?.message).toMatch(/^mine:m reported an impossible usage .+ as reserved/);
  });

  test.each(['decide', 'embed', 'score'] as const)('is no less so to %s', async (kind) => {
    const requests = {
      decide: { messages, questions: { q: { type: 'yes-no', text: 'Good?' } } },
      embed: ['text'],
      score: { solutions: [{ prompt: 'a', steps: ['b'] }] },
    };
    const replies = {
      decide: { answers: { q: { type: 'yes-no', probability: 1 } } },
      embed: { embeddings: [[1]] },
      score: { scores: [[1]] },
    };
    for (const usage of impossible) {
      const model = { ...sound, [kind]: async () => ({ ...replies[kind], usage }) };
      const policy = asking((context) => context[kind](model as Loose, requests[kind] as Loose));
      const { spend, warnings, failures } = await grown({ policy });
      expect(failures.count).toBe(0);
      expect(spend.tokens).toBeGreaterThan(16);
      // None at all is no fault where a usage may be left out.
      expect(warnings).toHaveLength(usage === undefined ? 0 : 1);
    }
  });
});

describe('an environment', () => {
  test.each([
    ['', '`""`'],
    [{ board: 'a' }, 'an object'],
    [undefined, '`undefined`'],
  ])('whose step returns %j fails each child', async (state, what) => {
    for (const step of [() => state, async () => state]) {
      const { failures, stopReason } = await grown({
        environment: { ...environment, step: step as Loose },
      });
      const message = `Expected \`step\` to return a transition with a \`state\`, got ${what}.`;
      expect(failures.first).toEqual([{ kind: 'invalid', message }]);
      expect(stopReason).toBe('failed');
    }
  });

  test('whose reset returns nothing has no start', async () => {
    for (const reset of [() => undefined, async () => undefined]) {
      await expect(
        grown({ environment: { ...environment, reset: reset as Loose } }),
      ).rejects.toThrow(
        'The environment `letters` has no start: Expected `reset` to return a transition with a `state`, got `undefined`.',
      );
    }
  });

  test.each([7, null, undefined, {}])('whose key is %j is refused', async (key) => {
    const keyed = { ...environment, key: (() => key) as Loose };
    const sentence = 'Expected `key` to return a text, got ';
    const { failures, stopReason } = await grown({ environment: keyed });
    expect(failures.first[0]?.message).toContain(sentence);
    expect(stopReason).toBe('failed');
    const algorithm = astar({ heuristic: () => 0 });
    await expect(grown({ environment: keyed, algorithm })).rejects.toThrow(sentence);
  });

  test('fails with the child of a wrong key no sibling', async () => {
    const key = (state: string) => (state === 'a' ? (7 as Loose) : state);
    const { tree } = await grown({
      environment: { ...environment, key },
      algorithm: mcts({ evaluate: 'all' }),
      budget: { simulations: 8 },
    });
    expect(tree.root.children.map(({ status }) => status === 'failed')).toEqual([true, false]);
  });
});

describe('a stop condition', () => {
  test.each([
    [solved, "a condition of `stopWhen` to return true, false or 'solved', got a func"],
    [
      () => undefined,
      "a condition of `stopWhen` to return true, false or 'solved', got `undefined`",
    ],
    [
      async () => false,
      "a condition of `stopWhen` to return true, false or 'solved', got a promise",
    ],
  ])('%s that returns neither true nor false is refused', async (condition, sentence) => {
    const refused = search(environment, {
      policy: listed,
      evaluator,
      stopWhen: [condition as Loose],
    });
    await expect(refused).rejects.toThrow(sentence);
    await expect(refused).rejects.toMatchObject({ code: 'usage' });
  });
});

describe('a run', () => {
  const folder = mkdtempSync(join(tmpdir(), 'espalier-shapes-'));
  afterAll(() => rmSync(folder, { recursive: true, force: true }));
  const plan = () => ({ environment, policy: listed, evaluator, budget: { simulations: 2 } });

  async function runOf(name: string, change: object) {
    using run = openRun(join(folder, name));
    const problems = [{ id: 'p' }, { id: 'q' }];
    return await generate({ run, problems, plan, ...change });
  }

  test.each([
    [{ problems: undefined }, '`problems` to be an array, got `undefined`.'],
    [{ problems: ['p'] }, '`problems[0].id` to be a text, got `undefined`.'],
    [{ problems: [undefined] }, '`problems[0].id` to be a text, got `undefined`.'],
    [{ problems: [{ id: 'p' }, {}] }, '`problems[1].id` to be a text, got `undefined`.'],
    [{ problems: [{ id: 7 }] }, '`problems[0].id` to be a text, got `7`.'],
    [{ plan: undefined }, '`plan` to be a function, got `undefined`.'],
    [{ budget: null }, '`budget` to be an object, got `null`.'],
    [{ budget: 5 }, '`budget` to be an object, such as `{ calls: 100 }`, got `5`.'],
    [
      { run: '/tmp/run' },
      '`run` to be an open run, such as `openRun("runs/x")`, got `"/tmp/run"`.',
    ],
    [{ stopWhen: true }, '`stopWhen` to be a function, got `true`.'],
  ])('%j is refused', async (change, sentence) => {
    await expect(runOf('refused', change)).rejects.toThrow(`Expected ${sentence}`);
  });

  test.each([
    ['returns nothing', () => undefined, 'Expected `plan` to return an object, got `undefined`.'],
    [
      'throws',
      () => {
        throw new TypeError('No such board.');
      },
      'No such board.',
    ],
    ['rejects', () => Promise.reject(new Error('No file.')), 'No file.'],
  ])('whose plan %s fails that problem only', async (name, broken, reason) => {
    const { failed, done } = await runOf(name, {
      plan: ({ id }: { id: string }) => (id === 'p' ? broken() : plan()),
    });
    expect(done).toBe(1);
    expect(failed).toMatchObject([{ problem: 'p', reason }]);
  });

  test.each([
    [undefined, 'an object, got `undefined`.'],
    [null, 'an object, got `null`.'],
    [5, 'an object, such as `{ calls: 100 }`, got `5`.'],
  ])('has no pool of %j', (budget, sentence) => {
    expect(() => new BudgetPool(budget as Loose)).toThrow(`Expected \`budget\` to be ${sentence}`);
  });
});
