import { describe, expect, test } from 'vitest';
import {
  astar,
  type Environment,
  type Evaluation,
  type Evaluator,
  mcts,
  type Policy,
  type Proposal,
  type SearchTree,
  search,
  type Transition,
  treeFromJson,
  treeToJson,
} from '../../src/index.ts';
import { verifier } from '../../src/values/index.ts';
import { type SearchOf, searchOf } from '../support/search-of.ts';

/** What JSON cannot hold, or cannot hold without loss. */
const unsavable: Readonly<Record<string, () => unknown>> = {
  'a bigint': () => 10n,
  'no number': () => Number.NaN,
  infinity: () => Number.NEGATIVE_INFINITY,
  'a function': () => () => 1,
  'a symbol': () => Symbol('s'),
  'a cycle': () => {
    const cycle: Record<string, unknown> = {};
    cycle['self'] = cycle;
    return cycle;
  },
  'a toJSON that throws': () => ({
    toJSON() {
      throw new Error('No.');
    },
  }),
  'a hidden toJSON': () =>
    Object.defineProperty({}, 'toJSON', { value: () => 10n, enumerable: false }),
  'a getter that throws': () => ({
    get a() {
      throw new Error('No.');
    },
  }),
  'an object without a constructor': () => Object.create(Object.create(null) as object) as unknown,
  'a Map': () => new Map(),
  '5,000 deep': () => JSON.parse('['.repeat(5_000) + ']'.repeat(5_000)) as unknown,
};
const cases = Object.entries(unsavable).map(([name, make]) => [name, make] as const);

const environment: Environment<string, string> = {
  name: 'letters',
  reset: () => ({ state: '' }),
  step: (state, action) => ({ state: state + action }),
};
const policy: Policy<string, string> = {
  propose: () => ['a', 'b', 'c'].map((action) => ({ action, prior: 1 / 3 })),
};
const evaluator: Evaluator<string, string> = {
  needs: 'realised',
  evaluate: (nodes) => nodes.map(() => ({ value: 0.5 })),
};
const isBad = (state: string | undefined) => state === 'b';
const settings = [false, true];

/** Searches, saves and loads, and returns what became of the children of the root. */
async function grown(change: Partial<SearchOf<string, string>>) {
  const { tree } = await searchOf({
    environment,
    policy,
    evaluator,
    algorithm: mcts({ evaluate: 'all' }),
    budget: { simulations: 4 },
    ...change,
  });
  const text = JSON.stringify(treeToJson(tree));
  expect(JSON.stringify(treeToJson(treeFromJson(text)))).toBe(text);
  return tree;
}

const sentence = /^Expected .+\.$/s;

/** Of the children of the root only one has failed, in a sentence. */
function expectOnly(which: string, tree: SearchTree<string, string>): void {
  const failed = tree.root.children.filter(({ status }) => status === 'failed');
  expect(failed).toMatchObject([{ action: which, failure: { kind: 'invalid' } }]);
  expect(failed[0]?.failure?.message).toMatch(sentence);
}

describe.each(cases)('%s', (_name, make) => {
  test.each(['rationale', 'parts', 'raw', 'unscored', 'more'])(
    'as `%s` of an evaluation fails that node',
    async (field) => {
      // The return of a simulation is asked of the first child.
      for (const [method, bad] of [
        ['evaluate', 'b'],
        ['simulate', 'a'],
      ] as const) {
        for (const later of settings) {
          const answers: Evaluator<string, string>['evaluate'] = (nodes) => {
            const each = nodes.map(({ state }) => ({
              value: 0.5,
              ...(state === bad && { [field]: make() }),
            }));
            return later ? Promise.resolve(each) : each;
          };
          expectOnly(bad, await grown({ evaluator: { ...evaluator, [method]: answers } }));
        }
      }
    },
  );

  test.each(['terminal', 'answer', 'reward'])(
    'as `%s` of a transition fails that child',
    async (field) => {
      for (const later of settings) {
        const step = (state: string, action: string) => {
          const next = state + action;
          const told = { state: next, ...(isBad(next) && { [field]: make() }) };
          return (later ? Promise.resolve(told) : told) as Transition<string>;
        };
        expectOnly('b', await grown({ environment: { ...environment, step } }));
      }
    },
  );

  test.each(['terminal', 'answer', 'reward'])('as `%s` of a start is refused', async (field) => {
    const reset = () => ({ state: '', [field]: make() }) as Transition<string>;
    await expect(grown({ environment: { ...environment, reset } })).rejects.toThrow(
      /^The environment `letters` has no start: Expected .+\.$/s,
    );
  });

  test.each(['completion', 'prior', 'failure'])(
    'as `%s` of a proposal loses that proposal',
    async (field) => {
      for (const part of [make(), { text: make() }, { text: 'b', logprobs: [make()] }]) {
        const proposals = ['a', 'b', 'c'].map((action) => ({
          action,
          prior: 1 / 3,
          ...(action === 'b' && { [field]: part }),
        })) as unknown as Proposal<string>[];
        const tree = await grown({ policy: { propose: () => proposals } });
        expect(tree.root.children.map(({ action }) => action)).toEqual(['a', 'c']);
        const [lost] = tree.root.failedProposals;
        expect(lost?.message).toMatch(sentence);
      }
    },
  );

  test('in the failure of an evaluation fails that node', async () => {
    for (const part of [
      { kind: make(), message: 'It broke.' },
      { kind: 'call', message: make() },
      { kind: 'call', message: 'It broke.', transient: make() },
    ]) {
      const evaluate: Evaluator<string, string>['evaluate'] = (nodes) =>
        nodes.map(({ state }) => (isBad(state) ? part : { value: 0.5 }) as Evaluation);
      expectOnly('b', await grown({ evaluator: { ...evaluator, evaluate } }));
    }
  });
});

describe.each(cases)('%s', (_name, make) => {
  test('in a verdict fails that node', async () => {
    const evaluators = ['rationale', 'score'].map((field) =>
      verifier<string>({
        verify: (state) => ({ correct: true, ...(isBad(state) && { [field]: make() }) }),
      }),
    );
    for (const one of evaluators) expectOnly('b', await grown({ evaluator: one }));
  });

  test('as a note at a node is refused', async () => {
    const tree = await grown({});
    expect(() => tree.annotate(tree.root, { note: make() } as never)).toThrow(sentence);
    expect(tree.root.annotations).not.toHaveProperty('note');
  });

  test('as the input of an effect fails the step', async () => {
    const tree = await grown({
      environment: {
        ...environment,
        async step(state, action, context) {
          const next = state + action;
          const input = (isBad(next) ? make() : null) as never;
          await context.effect({ name: 'look', repeatable: true }, input, async () => null);
          return { state: next };
        },
      },
    });
    const [a, b, c] = tree.root.children;
    expect([a?.status, c?.status]).not.toContain('failed');
    expect(b).toMatchObject({ status: 'failed', failure: { kind: 'environment' } });
  });

  test('thrown, fails that child', async () => {
    for (const later of settings) {
      const step = (state: string, action: string): Transition<string> => {
        if (action === 'b') throw make();
        return { state: state + action };
      };
      const tree = await grown({
        environment: {
          ...environment,
          step: later ? async (state, action) => step(state, action) : step,
        },
      });
      expect(tree.root.children.map(({ status }) => status === 'failed')).toEqual([
        false,
        true,
        false,
      ]);
      expect(typeof tree.root.children[1]?.failure?.message).toBe('string');
    }
  });

  test('from a codec is refused in a sentence, and so is a codec that throws', async () => {
    const tree = await grown({});
    const encode = () => make() as never;
    expect(() => treeToJson(tree, { codec: { encode, decode: String } })).toThrow(
      expect.objectContaining({ code: 'usage' }),
    );
  });
});

test('an error whose message is no text fails that child', async () => {
  const error = Object.assign(new Error('It broke.'), { message: 10n });
  const tree = await grown({
    environment: {
      ...environment,
      step(state, action) {
        if (action === 'b') throw error;
        return { state: state + action };
      },
    },
  });
  expect(tree.root.children[1]?.failure?.message).toBe('10');
});

test('a key that throws fails that child, however it was stepped to', async () => {
  for (const later of [false, true]) {
    const tree = await grown({
      environment: {
        ...environment,
        step: (state, action) =>
          later ? Promise.resolve({ state: state + action }) : { state: state + action },
        key(state) {
          if (isBad(state)) throw new Error('It has no key.');
          return state;
        },
      },
    });
    const [a, b] = tree.root.children;
    expect(a?.status).not.toBe('failed');
    expect(b).toMatchObject({ status: 'failed', failure: { message: 'It has no key.' } });
  }
});

test.each([undefined, 7, null])('an environment called %s is refused', async (name) => {
  await expect(grown({ environment: { ...environment, name: name as never } })).rejects.toThrow(
    /^Expected `environment.name` to be a text/,
  );
});

test('a stamp that is no text is refused', async () => {
  await expect(grown({ policy: { ...policy, stamps: [10n] as never } })).rejects.toThrow(
    /^Expected `stamps` to be texts/,
  );
});

test('an evaluation is kept as it was told, not as it is changed later', async () => {
  const told = { value: 0.5 } as { value: number; rationale?: unknown };
  const tree = await grown({
    evaluator: { ...evaluator, evaluate: (nodes) => nodes.map(() => told as Evaluation) },
  });
  told.rationale = 10n;
  told.value = Number.NaN;
  expect(() => JSON.stringify(treeToJson(tree))).not.toThrow();
  expect(tree.root.children[0]?.rawValue).toBe(0.5);
});

test.each([[1n], ['1'], [Object(1)], [Number.NaN], [-1]])(
  'a heuristic of %s is no number, and A* says so',
  async (h) => {
    const searching = search(environment, {
      policy,
      algorithm: astar({ heuristic: () => h as number }),
      budget: { simulations: 4 },
    });
    await expect(searching).rejects.toThrowError(
      /^Expected `heuristic` to be a function that returns numbers from 0 up, got .+\.$/,
    );
  },
);

test('an endless heuristic is endless in a tree that was saved too', async () => {
  const options = {
    environment,
    policy,
    algorithm: astar<string>({
      heuristic: (state) => (isBad(state) ? Number.POSITIVE_INFINITY : 1),
    }),
  };
  const { tree } = await searchOf({ ...options, budget: { simulations: 2 } });
  const loaded = treeFromJson<string, string>(JSON.stringify(treeToJson(tree)));
  await searchOf({ ...options, tree: loaded, budget: { simulations: 3 } });
  const bad = [...loaded.nodes()].find(({ state }) => isBad(state));
  expect(bad).toMatchObject({ status: 'pruned', children: [], notes: { astar: { h: null } } });
});

const { proxy: revoked, revoke } = Proxy.revocable([], {});
revoke();
const trapping = new Proxy(
  {},
  {
    get: () => {
      throw new Error('No.');
    },
    getPrototypeOf: () => {
      throw new Error('No.');
    },
  },
);

test.each([
  ['a revoked proxy', revoked, 'It threw an object.'],
  ['a proxy that throws', trapping, 'It threw an object.'],
  ['an object', { status: 503, reason: 'busy' }, '{"status":503,"reason":"busy"}'],
  ['a large object', { text: 'x'.repeat(300) }, `{"text":"${'x'.repeat(190)}…`],
  ['a long message', new Error('x'.repeat(2_000)), `${'x'.repeat(999)}…`],
])('%s that is thrown becomes a short message', async (_name, thrown, message) => {
  const { tree } = await search(environment, {
    policy,
    evaluator: {
      needs: 'realised',
      evaluate: () => {
        // eslint-disable-next-line @typescript-eslint/only-throw-error -- a plug-in may throw anything
        throw thrown;
      },
    },
    algorithm: mcts({ evaluate: 'all' }),
    budget: { simulations: 1 },
  });
  expect(tree.root.children.map(({ failure }) => failure?.message)).toContain(message);
});
