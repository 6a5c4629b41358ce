import { describe, expect, test } from 'vitest';
import { type Evaluation, type Failed, search } from '../../src/index.ts';
import {
  chainTask,
  describeEnvironment,
  describeEvaluator,
  describePolicy,
  plainContext,
} from '../../src/testing/index.ts';
import { environmentOf } from '../support/environment-of.ts';
import { noSpend, realisedNode, rootNode } from '../support/nodes.ts';

const request = { environment: environmentOf(), context: plainContext(), remaining: noSpend };

/** V^π and V* by trying out every outcome of the steps to come: sound or not, mended or not. */
function enumerated(
  chain: Required<Pick<NonNullable<Parameters<typeof chainTask>[0]>, 'recovers' | 'sound'>>,
  left: number,
  isFlawed: boolean,
): { readonly value: number; readonly best: number } {
  if (left === 0) return { value: isFlawed ? 0 : 1, best: isFlawed ? 0 : 1 };
  const good = isFlawed ? chain.recovers : chain.sound;
  const branches = [
    { chance: good, ...enumerated(chain, left - 1, false) },
    { chance: 1 - good, ...enumerated(chain, left - 1, true) },
  ];
  return {
    value: branches.reduce((sum, { chance, value }) => sum + chance * value, 0),
    best: Math.max(...branches.map(({ chance, best }) => (chance > 0 ? best : 0))),
  };
}

/** Steps as the policy writes them, until it has written all. */
async function walk(task: ReturnType<typeof chainTask>): Promise<readonly (readonly number[])[]> {
  const states: (readonly number[])[] = [[]];
  for (;;) {
    const state = states.at(-1) ?? [];
    const given = { ...request, count: 1, offset: 0 };
    const [proposal] = await task.policy.propose(rootNode<readonly number[], number>(state), given);
    if (proposal === undefined || 'failure' in proposal) throw new Error('No step was written.');
    const next = await task.environment.step(state, proposal.action, request.context);
    states.push(next.state);
    if (next.terminal === true) return states;
  }
}

describe('the chain task', () => {
  const chains = [
    { steps: 6, sound: 0.7, recovers: 0.1 },
    { steps: 5, sound: 0.5, recovers: 0 },
    { steps: 4, sound: 1, recovers: 0 },
    { steps: 4, sound: 0.2, recovers: 0.9 },
    { steps: 3, sound: 1, recovers: 0.5 },
  ];

  test('has the values that enumeration gives', async () => {
    const met = new Set<string>();
    for (const chain of chains) {
      for (let seed = 0; seed < 12; seed++) {
        const task = chainTask({ ...chain, seed });
        for (const state of await walk(task)) {
          const left = chain.steps - state.length;
          const isFlawed = task.isFlawed(state);
          met.add(`${left}${isFlawed}`);
          const wanted = enumerated(chain, left, isFlawed);
          expect(task.value(state)).toBeCloseTo(wanted.value, 12);
          expect(task.best(state)).toBe(wanted.best);
        }
      }
    }
    // Every number of steps to go up to 5 with a mistake, up to 6 without.
    expect(met.size).toBe(6 + 7);
  });

  test('has steps that are sound as often as it says', async () => {
    // Standard deviations: of 3,000 draws at 0.7 0.0084, at 0.1 0.0055.
    const task = chainTask({ steps: 3_001, sound: 0.7, recovers: 0.1 });
    const flawed =
      Array.from({ length: 3_000 }, (_, step) => step).find((step) => task.isFlawed([step])) ?? 0;
    const share = (start: readonly number[]) => {
      const ends = Array.from({ length: 3_000 }, (_, step) => task.isFlawed([...start, step]));
      return ends.filter((isFlawed) => !isFlawed).length / ends.length;
    };
    expect(Math.abs(share([]) - 0.7)).toBeLessThan(0.034);
    expect(Math.abs(share([flawed]) - 0.1)).toBeLessThan(0.022);
  });

  test('rewards ends only, by whether they are flawed', async () => {
    for (let seed = 0; seed < 8; seed++) {
      const task = chainTask({ steps: 4, seed });
      const states = await walk(task);
      const before = states.at(-2) ?? [];
      const end = states.at(-1) ?? [];
      const step = (state: readonly number[], action: number) =>
        task.environment.step(state, action, request.context);
      expect(await step(before, end.at(-1) ?? 0)).toEqual({
        state: end,
        terminal: true,
        reward: task.isFlawed(end) ? 0 : 1,
      });
      expect(await step([], 1)).toEqual({ state: [1] });
    }
  });

  test('refuses chances that are none', () => {
    expect(() => chainTask({ sound: 0 })).toThrow('`sound`');
    expect(() => chainTask({ recovers: 1 })).toThrow('`recovers`');
    expect(() => chainTask({ steps: 0 })).toThrow('`steps`');
  });
});

describe('a reader of the chain task', () => {
  const task = chainTask();
  const states = Array.from({ length: 400 }, (_, step) => [step]);
  const nodes = states.map((state) =>
    realisedNode<readonly number[], number>(state[0] ?? 0, state),
  );
  const read = async (options: Parameters<typeof task.evaluator>[0]) => {
    const verdicts = await task.evaluator(options).evaluate(nodes, request);
    return verdicts.map((verdict: Evaluation | Failed) =>
      'failure' in verdict ? -1 : verdict.value,
    );
  };
  const truth = states.map((state) => task.value(state));

  test('tells the truth, or the opposite', async () => {
    expect(await read({})).toEqual(truth);
    expect(await read({ inverted: true })).toEqual(truth.map((value) => 1 - value));
  });

  test('is off by normal noise in the log-odds', async () => {
    const odds = (chance: number) => Math.log(chance / (1 - chance));
    const errors = (await read({ noise: 2 })).map(
      (value, place) => odds(value) - odds(truth[place] ?? 0),
    );
    const mean = errors.reduce((sum, error) => sum + error, 0) / errors.length;
    const spread = Math.sqrt(
      errors.reduce((sum, error) => sum + (error - mean) ** 2, 0) / errors.length,
    );
    // Standard errors of 400 draws: 0.1 of the mean, 0.07 of the spread.
    expect(Math.abs(mean)).toBeLessThan(0.4);
    expect(Math.abs(spread - 2)).toBeLessThan(0.28);
  });

  test('may have nothing to do with the truth', async () => {
    const values = await read({ blind: true });
    const sound = values.filter((_, place) => !task.isFlawed(states[place] ?? []));
    const flawed = values.filter((_, place) => task.isFlawed(states[place] ?? []));
    const mean = (all: readonly number[]) => all.reduce((sum, one) => sum + one, 0) / all.length;
    expect(Math.abs(mean(sound) - mean(flawed))).toBeLessThan(0.13);
    expect(new Set(values).size).toBe(400);
  });

  test('has no word on the empty solution', async () => {
    expect(
      await task.evaluator().evaluate([rootNode<readonly number[], number>([])], request),
    ).toEqual([{ failure: { kind: 'empty', message: 'There is no step yet.' } }]);
  });

  test('costs a call a state, as writing a step does', async () => {
    const { environment, policy } = chainTask({ steps: 4 });
    const { spend, tree } = await search(environment, {
      policy,
      evaluator: task.evaluator(),
      budget: { calls: 12 },
    });
    const valued = [...tree.nodes()].filter(({ rawValue }) => rawValue !== undefined);
    expect(spend.calls).toBe(tree.size - 1 + valued.length);
  });
});

const runner = { describe, test };
const task = chainTask({ steps: 5 });
const { environment, policy } = task;
describeEvaluator(
  'of the chain task',
  { create: () => task.evaluator({ noise: 1 }), environment, policy, calls: 1 },
  runner,
);
describePolicy('of the chain task', { create: () => policy, environment }, runner);
describeEnvironment(
  'chain task',
  { create: () => environment, actions: (state) => (state.length < 5 ? [1, 2, 3] : []) },
  runner,
);
