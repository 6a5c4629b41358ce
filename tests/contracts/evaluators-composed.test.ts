import { describe, expect, test } from 'vitest';
import type { Evaluation, Evaluator, Failed } from '../../src/index.ts';
import {
  banditTree,
  chainTask,
  describeEvaluator,
  type EvaluatorClaims,
  scriptedModel,
} from '../../src/testing/index.ts';
import { hashedAnswer, throughModel } from '../../src/testing/through-model.ts';
import { calibrated, fitPlatt } from '../../src/values/calibrate/calibrate.ts';
import { ensemble } from '../../src/values/combine/ensemble.ts';
import { everyNth } from '../../src/values/combine/every-nth.ts';
import { staged } from '../../src/values/combine/staged.ts';
import { goldVerifier } from '../../src/values/gold-verifier.ts';
import { heuristic } from '../../src/values/heuristic.ts';
import { progress } from '../../src/values/reward/progress.ts';
import { rollout } from '../../src/values/rollout/rollout.ts';
import { withSimulation } from '../../src/values/rollout/with-simulation.ts';
import { verifier } from '../../src/values/verifier.ts';
import { failuresOf } from '../support/collecting-runner.ts';
import { environmentOf } from '../support/environment-of.ts';

const runner = { describe, test };
const task = chainTask({ steps: 6 });
const { environment, policy } = task;
/** A state that nothing can be said of. */
const unfit = null as unknown as readonly number[];
const problem = { environment, policy, unfit };

const model = scriptedModel({ answer: hashedAnswer, latencyMs: 5 });
/** Asks a model: one call a state. */
const asking = throughModel(
  {
    environment,
    policy,
    evaluator: heuristic((state: readonly number[]) => state.length / 9),
  },
  { model },
).evaluator;
/** Asks another one, and costs a call as well. */
const reading = task.evaluator({ noise: 1 });
const local = heuristic((state: readonly number[]) => ((state.at(-1) ?? 0) % 100) / 100);
const played = rollout({ policy });

function failsAt(
  evaluator: Evaluator<readonly number[], number>,
): Evaluator<readonly number[], number> {
  return {
    ...evaluator,
    async evaluate(nodes, request) {
      const fit = nodes.filter(({ state }) => (state as unknown) !== null);
      const verdicts = [...(await evaluator.evaluate(fit, request))];
      return nodes.map(({ state }): Evaluation | Failed => {
        const failure = { failure: { kind: 'invalid', message: 'There is no state.' } } as const;
        return (state as unknown) === null ? failure : (verdicts.shift() ?? failure);
      });
    },
  };
}

const part = (name: string, evaluator: Evaluator<readonly number[], number>) => ({
  name,
  evaluator: failsAt(evaluator),
});

for (const combine of ['mean', 'min', 'max', 'product'] as const) {
  const parts = [part('asking', asking), part('reading', reading), part('local', local)];
  describeEvaluator(
    `ensemble by ${combine}`,
    { ...problem, create: () => ensemble({ parts, combine }), calls: 2 },
    runner,
  );
}

describeEvaluator(
  'ensemble of simulations',
  {
    ...problem,
    create: () =>
      ensemble({
        parts: [
          { ...part('played', withSimulation(local, played)), weight: () => 2 },
          part('x', local),
        ],
      }),
    calls: 0,
  },
  runner,
);

describeEvaluator(
  'staged by a threshold',
  {
    ...problem,
    create: () => staged({ fast: part('local', local), accurate: part('asking', asking) }),
    calls: (nodes) => nodes.filter(({ state }) => ((state?.at(-1) ?? 0) % 100) / 100 >= 0.5).length,
  },
  runner,
);

describeEvaluator(
  'every second step',
  {
    ...problem,
    create: () => everyNth(part('asking', asking).evaluator, 2),
    // For those between, the root is judged, once.
    calls: (nodes) =>
      nodes.filter(({ depth }) => depth % 2 === 0).length +
      (nodes.some(({ depth }) => depth === 1) && nodes.every(({ depth }) => depth > 0) ? 1 : 0),
  },
  runner,
);

describeEvaluator(
  'staged by rank',
  {
    ...problem,
    create: () => staged({ fast: part('local', local), accurate: part('asking', asking), best: 2 }),
    calls: (nodes) => Math.min(2, nodes.length),
    exempt: {
      'the best of a batch depends on the batch': [
        'gives in a batch what it gives one by one, in the order of the nodes',
        'lets what it cannot value fail alone',
      ],
    },
  },
  runner,
);

describeEvaluator(
  'progress',
  { ...problem, create: () => progress({ value: failsAt(reading), start: 0.2 }) },
  runner,
);
describeEvaluator(
  'progress under a prover',
  {
    ...problem,
    create: () => progress({ value: failsAt(local), prover: failsAt(local) }),
    calls: 0,
  },
  runner,
);

describeEvaluator(
  'value with a simulation',
  {
    ...problem,
    create: () => withSimulation(failsAt(reading), played, { alpha: 0.5 }),
    calls: 1,
  },
  runner,
);

const map = fitPlatt([
  { score: 0.1, correct: false },
  { score: 0.7, correct: true },
  { score: 0.9, correct: false },
]);
describeEvaluator(
  'calibrated',
  { ...problem, create: () => calibrated(failsAt(asking), map), calls: 1 },
  runner,
);

describeEvaluator(
  'gold verifier',
  {
    ...problem,
    create: () =>
      verifier(
        goldVerifier({ label: (state: readonly number[]) => ({ correct: state.length > 3 }) }),
      ),
    calls: 0,
  },
  runner,
);

describe('the contract of evaluators', () => {
  const bandit = banditTree();
  const priced = throughModel(bandit, { model });
  const fails = (claims: Partial<EvaluatorClaims<readonly number[], number>>) =>
    failuresOf((collecting) => {
      const { environment: home, policy: there } = bandit;
      const whole = { create: () => priced.evaluator, environment: home, policy: there };
      describeEvaluator('bandit', { ...whole, calls: 1, ...claims }, collecting);
    });
  const made = (evaluate: Evaluator<readonly number[], number>['evaluate']) => ({
    create: (): Evaluator<readonly number[], number> => ({ needs: 'realised', evaluate }),
  });

  test('passes one that pays for what it asks', async () => {
    expect(await fails({})).toEqual([]);
    expect(await fails({ calls: ({ length }) => length })).toEqual([]);
  });

  test('fails one that costs another number of calls than it claims', async () => {
    expect(await fails({ calls: 0 })).toContain('costs the calls that it claims');
    expect(await fails({ calls: 2 })).toContain('costs the calls that it claims');
  });

  test('fails one that goes past the budget', async () => {
    const past = made((nodes, { context, remaining }) => {
      const { signal, clock } = context;
      const generate: typeof context.generate = (asked, request) =>
        asked.generate(request, { signal, clock });
      return priced.evaluator.evaluate(nodes, {
        environment: environmentOf(),
        context: { ...context, signal, clock, generate },
        remaining,
      });
    });
    const failures = await fails(past);
    expect(failures).toContain('costs the calls that it claims');
    expect(failures).toContain(
      'stops where the budget is too small, and spends no more than it holds',
    );
  });

  test('fails one that a replay cannot repeat', async () => {
    let asked = 0;
    const counting = made((nodes, { context }) =>
      Promise.all(
        nodes.map(async () => {
          const messages = [{ role: 'user' as const, content: `${asked++}` }];
          const { completions } = await context.generate(model, { messages, maxTokens: 8 });
          return { value: Number(completions[0]?.text) };
        }),
      ),
    );
    expect(await fails(counting)).toContain(
      'gives the same values from a journal, and asks nobody',
    );
  });

  test('fails one whose simulations are out of range', async () => {
    const { evaluate } = bandit.evaluator;
    const create = (): Evaluator<readonly number[], number> => ({
      needs: 'realised',
      evaluate,
      simulate: (nodes) => nodes.map(() => ({ value: 2 })),
    });
    const failures = await fails({ create, calls: 0 });
    expect(failures).toEqual(['gives returns of simulations in [0, 1], where it has them']);
  });
});
