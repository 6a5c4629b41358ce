/** What people write: each program compiles without a cast, under both versions of TypeScript, and runs. */
import { describe, expect, test } from 'vitest';
import { mapRow } from '../../src/data/index.ts';
import {
  astar,
  type Environment,
  mcts,
  type SearchResult,
  search,
  stepwise,
  streamSearch,
  treeFromJson,
  treeToJson,
} from '../../src/index.ts';
import { agentQ, iMcts, type Method, mctsDpo, restMcts, rMcts } from '../../src/methods/index.ts';
import { fromModel, uniform } from '../../src/policies/index.ts';
import { scriptedModel } from '../../src/testing/index.ts';
import { heuristic, judge, rollout, verifier } from '../../src/values/index.ts';

type Move = { readonly op: 'add'; readonly by: number } | { readonly op: 'double' };
interface Count {
  readonly n: number;
}

/** From 1 to 28 by adding and doubling. */
const counting: Environment<Count, Move> = {
  name: 'counting',
  reset: () => ({ state: { n: 1 } }),
  step({ n }, action) {
    const next = action.op === 'add' ? n + action.by : n * 2;
    return next < 28 ? { state: { n: next } } : { state: { n: next }, terminal: true, reward: 1 };
  },
  notation: {
    prompt: ({ n }) => [{ role: 'user', content: `It is ${n}.` }],
    format: (move) => (move.op === 'add' ? `add ${move.by}` : 'double'),
    parse: (text) => ({ action: text === 'double' ? { op: 'double' } : { op: 'add', by: 3 } }),
  },
};

const moves = uniform<Count, Move>(({ n }) => [{ op: 'add', by: n }, { op: 'double' }]);
const budget = { simulations: 6 };
const model = scriptedModel({ answer: () => 'double' });

/** The types of a result are those of the environment. */
function check(result: SearchResult<Count, Move>): void {
  const first: Move | undefined = result.actions[0];
  expect(result.tree.size).toBeGreaterThan(1);
  expect(first === undefined || ['add', 'double'].includes(first.op)).toBe(true);
}

describe('a program with functions:', () => {
  test('an inline policy, whose literals stay literals', async () => {
    check(
      await search(counting, {
        policy: {
          propose: (node, { count }) =>
            node.kind === 'proposed' || count < 1
              ? []
              : [{ action: { op: 'add', by: node.state.n } }, { action: { op: 'double' } }],
        },
        evaluator: { needs: 'realised', evaluate: (nodes) => nodes.map(() => ({ value: 0.5 })) },
        budget,
      }),
    );
  });

  test('a bare function as policy', async () => {
    check(
      await search(counting, {
        policy: (node) => [{ action: { op: 'add', by: node.state.n } }],
        evaluator: heuristic((state) => state.n / 100),
        budget,
      }),
    );
  });

  test('a bare function as evaluator, which may wait, and whose throws fail one node', async () => {
    const { tree } = await search(counting, {
      policy: moves,
      evaluator: (node) => node.state.n / 100,
      budget,
    });
    expect([...tree.nodes()].some(({ rawValue }) => rawValue === 0.02)).toBe(true);
    const waited = await search(counting, {
      policy: async (node, { environment }) => [
        { action: { op: 'add', by: node.state.n } },
        { action: environment.name === 'counting' ? { op: 'double' } : { op: 'add', by: 2 } },
        { action: { op: 'add', by: 5 } },
      ],
      evaluator: async ({ state }) => {
        if (state.n === 2) throw new Error('Two is odd.');
        return state.n / 100;
      },
      algorithm: mcts({ evaluate: 'all' }),
      budget,
    });
    const failures = waited.tree.root.children.map(({ failure }) => failure?.message);
    expect(failures).toEqual(['Two is odd.', 'Two is odd.', undefined]);
    check(waited);
  });
});

describe('a program that saves its trees:', () => {
  test('a loaded tree has the types of its environment, or of a codec alone', async () => {
    const options = { policy: moves, evaluator: () => 0.5, budget };
    const { tree } = await search(counting, options);
    const saved = JSON.stringify(treeToJson(tree, counting));
    const loaded = treeFromJson(saved, counting);
    check(await search(counting, { ...options, tree: loaded }));
    const codec = {
      encode: ({ n }: Count) => n,
      decode: (n: unknown): Count => ({ n: Number(n) }),
    };
    const { name, reset, step } = counting;
    const plain = { name, reset, step };
    expect(treeToJson(tree, plain)).toEqual(JSON.parse(saved));
    const byCodec = treeFromJson(treeToJson(tree, { codec }), { codec });
    const start: Count | undefined = byCodec.root.state;
    expect(start).toEqual({ n: 1 });
  });
});

describe('a program with our parts:', () => {
  test('uniform, heuristic and astar({ heuristic })', async () => {
    const result = await search(counting, {
      policy: uniform((state) => [{ op: 'add', by: state.n }, { op: 'double' }]),
      evaluator: heuristic((state) => state.n / 100),
      algorithm: astar({ heuristic: (state) => Math.max(0, Math.log2(28 / state.n)) }),
    });
    expect(result.actions).toHaveLength(5);
    check(result);
  });

  test('verifier', async () => {
    check(
      await search(counting, {
        policy: moves,
        evaluator: verifier({ verify: (state) => ({ correct: state.n === 28 }) }),
        outcome: { verify: ({ n }) => ({ correct: n === 28 }) },
        budget,
      }),
    );
  });

  test('rollout, which plays by the dynamics of the search', async () => {
    const result = await search(counting, {
      policy: moves,
      evaluator: rollout({
        policy: uniform((state) => [{ op: 'add', by: state.n }]),
        evaluator: heuristic((state) => state.n / 100),
      }),
      stopWhen: ({ best }) => best.state !== undefined && best.state.n > 1e9,
      budget,
    });
    expect(result.best.rawValue ?? result.best.reward).toBe(1);
    check(result);
  });
});

describe('a program with models:', () => {
  test('parts made of models, inline and in variables', async () => {
    const policy = fromModel({ model });
    const evaluator = judge({ model });
    check(
      await search(counting, {
        policy,
        evaluator,
        algorithm: stepwise(mcts(), { simulations: 2 }),
        budget,
      }),
    );
    check(
      await search(counting, {
        policy: fromModel({ model, promptParts: [{ text: ({ state }) => `${state?.n}` }] }),
        evaluator: heuristic((state) => state.n / 100),
        budget,
      }),
    );
  });

  test('a method held in a variable, and parts beside it', async () => {
    const method = agentQ({ model });
    check(await search(counting, { method, budget }));
    const result = await search(counting, {
      method,
      evaluator: (node) => node.state.n / 100,
      algorithm: stepwise(astar({ heuristic: (state) => Math.max(0, 28 - state.n) }), {
        simulations: 2,
      }),
      budget,
    });
    expect(result.method).toEqual({ name: 'agent-q', replaced: ['evaluator', 'algorithm'] });
    const stream = streamSearch(counting, { method, policy: moves, budget });
    for await (const event of stream) if (event.type === 'search-end') check(event.result);
  });

  const methods: Readonly<Record<string, Method>> = {
    agentQ: agentQ({ model }),
    iMcts: iMcts({ model }),
    mctsDpo: mctsDpo({ model }),
    rMcts: rMcts({ model }),
    restMcts: restMcts({ model, value: heuristic((state: Count) => state.n / 100) }),
  };
  test.each(Object.entries(methods))('an environment of its own for %s', async (name, method) => {
    const result = await search(counting, { method, evaluator: () => 0.5, budget });
    expect(result.method).toEqual({ name: method.name, replaced: ['evaluator'] });
    expect(name).not.toBe('');
    check(result);
  });

  test('what is wrong is told by the compiler', async () => {
    const evaluator = () => 0.5;
    // @ts-expect-error there is no such option
    const searching = search(counting, { policy: moves, budgets: {} });
    await expect(searching).rejects.toThrow(
      '`search` has no option `budgets`. Did you mean `budget`?',
    );
    const sub = { op: 'sub' } as const;
    // @ts-expect-error there is no such action
    await search(counting, { policy: () => [{ action: sub }], evaluator, budget });
    // @ts-expect-error states have no such property
    await search(counting, { policy: moves, evaluator: (node) => node.state.m, budget });
  });
});

test('mapRow checks a list of structs within a struct', () => {
  const message = { struct: { role: 'string', content: 'string' } } as const;
  const form = { name: 'own', kind: 'preference' } as const;
  const columns = { chat: { struct: { messages: { list: message }, turns: 'int' } } } as const;
  const { forms } = mapRow({
    ...form,
    columns: {
      chat: {
        struct: {
          messages: { list: { struct: { role: 'string', content: 'string' } } },
          turns: 'int',
        },
      },
    },
    map: ({ chosen }) => ({
      chat: { messages: chosen.map(() => ({ role: 'assistant', content: 'a' })), turns: 1 },
    }),
  });
  expect(Object.keys(forms.preference.columns)).toEqual(['chat']);
  const wrongText = [{ role: 'a', content: 1 }];
  // @ts-expect-error The content of a message is text.
  mapRow({ ...form, columns, map: () => ({ chat: { messages: wrongText, turns: 1 } }) });
  // @ts-expect-error A count is a number.
  mapRow({ ...form, columns, map: () => ({ chat: { messages: [], turns: 'one' } }) });
});
