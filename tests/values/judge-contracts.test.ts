import { describe, expect, test } from 'vitest';
import type { Notation } from '../../src/contracts/environment.ts';
import type { LanguageModel } from '../../src/contracts/language-model.ts';
import { gameOf24 } from '../../src/environments/puzzles/game-of-24.ts';
import { uniform } from '../../src/policies/index.ts';
import {
  describeEvaluator,
  manualClock,
  plainContext,
  scriptedModel,
} from '../../src/testing/index.ts';
import { actionShare, selfConsistency } from '../../src/values/agreement/self-consistency.ts';
import { criticRanking } from '../../src/values/critic/critic-ranking.ts';
import { debate } from '../../src/values/judge/debate.ts';
import { judge } from '../../src/values/judge/judge.ts';
import type { JudgeOptions } from '../../src/values/judge/judge-options.ts';
import { pairwise } from '../../src/values/judge/pairwise.ts';
import { workCriteria } from '../../src/values/judge/rubric.ts';
import { selfEval } from '../../src/values/judge/self-eval.ts';
import { environmentOf } from '../support/environment-of.ts';
import { noSpend, rootNode } from '../support/nodes.ts';
import { told, notation as words } from './judge-fixtures.ts';

const runner = { describe, test };
const game = gameOf24.environment(gameOf24.parse('4 9 10 13'));
const policy = uniform(game.actions);
type State = ReturnType<typeof game.reset>['state'];
type Action = ReturnType<typeof game.actions>[number];

// Another object than the start that the nodes have.
const unfit: State = structuredClone(game.reset().state);
const notation: Notation<State, Action> = {
  ...game.notation,
  prompt(state) {
    if (state === unfit) throw new Error('this state cannot be shown');
    return game.notation.prompt(state);
  },
};
const environment = { ...game, notation };

/** A number that depends on the prompt alone. */
function hash(text: string): number {
  let sum = 7;
  for (const character of text) sum = (sum * 31 + (character.codePointAt(0) ?? 0)) % 100_003;
  return sum;
}

/** A model whose answers depend on what it is asked and on the index of the sample. */
function model(answer: (number: number, asked: string) => string): LanguageModel {
  return scriptedModel({
    latencyMs: 20,
    answer: (asked, index) => answer(hash(told(asked)) + 13 * index, told(asked)),
  });
}

const points = (number: number) =>
  JSON.stringify({
    scores: Object.fromEntries(
      workCriteria.map(({ name }, place) => [name, (number + place) % 11]),
    ),
  });
const judges: readonly JudgeOptions<State, Action>[] = [
  { form: 'number', model: model((number) => `Score: ${(number % 10) + 1}`) },
  { form: 'criteria', model: model(points) },
  { form: 'codes', model: model((number) => `{"status": "${'ABCDE'[number % 5]}"}`) },
  { form: 'yes-no', model: model((number) => (number % 2 === 0 ? 'yes' : 'no')) },
  {
    form: 'success',
    model: model((number) => `Success: ${number % 4 === 0 ? 'yes' : 'no'}\nOn track: yes`),
  },
];
for (const options of judges) {
  for (const about of ['state', 'action'] as const) {
    describeEvaluator(
      `judge of each ${about} by ${options.form}`,
      { environment, policy, unfit, create: () => judge({ ...options, about }) },
      runner,
    );
  }
}

const letter = model((number) => 'ABT'[number % 3] ?? '');
for (const about of ['state', 'action'] as const) {
  describeEvaluator(
    `compare each ${about}`,
    { environment, policy, create: () => pairwise({ model: letter, about }) },
    runner,
  );
  describeEvaluator(
    `self-evaluation of each ${about}`,
    { environment, policy, unfit, create: () => selfEval({ model: letter, about }) },
    runner,
  );
  describeEvaluator(
    `debate of each ${about}`,
    {
      environment,
      policy,
      unfit,
      create: () =>
        debate({
          model: model((number) => 'ABCDE'[number % 5] ?? ''),
          debaters: model((number) => `Argument ${number}.`),
          about,
        }),
    },
    runner,
  );
  describeEvaluator(
    `self-consistency of each ${about} by a policy`,
    {
      environment,
      policy,
      create: () => selfConsistency({ policy, about, samples: 6 }),
    },
    runner,
  );
}
describeEvaluator(
  'self-consistency by a model',
  {
    environment,
    policy,
    unfit,
    create: () =>
      selfConsistency({
        model: model((number) => `Answer: ${number % 3}`),
        key: (text) => text.slice(8),
      }),
  },
  runner,
);
describeEvaluator('share', { environment, policy, create: actionShare }, runner);

/** The numbers of the proposals that are shown, in their order. */
const shown = (asked: string) =>
  [...asked.matchAll(/^(\d+)\. /gm)].map(([, number]) => Number(number));
const critics = {
  list: model((number, asked) => {
    const numbers = shown(asked);
    const turn = number % numbers.length;
    return JSON.stringify({ ranking: [...numbers.slice(turn), ...numbers.slice(0, turn)] });
  }),
  'best-of-remaining': model((number, asked) => {
    const numbers = shown(asked);
    return `{"best": ${numbers[number % numbers.length]}}`;
  }),
};
for (const by of ['list', 'best-of-remaining'] as const) {
  describeEvaluator(
    `critic ranking by ${by}`,
    {
      environment,
      policy,
      create: () => criticRanking({ model: critics[by], by }),
    },
    runner,
  );
}

describe('an evaluation that is cancelled', () => {
  const create = {
    judge: (slow: LanguageModel) => judge({ model: slow, form: 'number' }),
    pairwise: (slow: LanguageModel) => pairwise({ model: slow }),
    criticRanking: (slow: LanguageModel) => criticRanking({ model: slow }),
    selfEval: (slow: LanguageModel) => selfEval({ model: slow }),
    selfConsistency: (slow: LanguageModel) => selfConsistency({ model: slow, key: (text) => text }),
    debate: (slow: LanguageModel) => debate({ model: slow }),
  };

  test.each(Object.keys(create) as (keyof typeof create)[])(
    'rejects with the reason, and asks nothing more: %s',
    async (name) => {
      const slow = scriptedModel({ latencyMs: 1000, answer: () => 'A' });
      const controller = new AbortController();
      const context = plainContext({ signal: controller.signal, clock: manualClock() });
      const root = rootNode<string, string>('s', ['a', 'b', 'c']);
      const evaluator = create[name](slow);
      const nodes = evaluator.needs === 'proposed' ? root.children : [root];
      const evaluating = evaluator.evaluate(nodes, {
        environment: environmentOf(words),
        context,
        remaining: noSpend,
      });
      for (let left = 100; left > 0 && slow.inFlight === 0; left--) await Promise.resolve();
      expect(slow.inFlight).toBeGreaterThan(0);
      const reason = new Error('changed my mind');
      controller.abort(reason);
      await expect(evaluating).rejects.toBe(reason);
      expect(slow.inFlight).toBe(0);
      expect(slow.aborted).toBe(slow.requests.length);
      expect(slow.completions).toBe(0);
    },
  );
});
