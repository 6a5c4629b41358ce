import { describe, expect, test } from 'vitest';
import { seededRandom } from '../../src/base/random.ts';
import { memoryJournal, replayed } from '../../src/calls/journal.ts';
import type { Notation } from '../../src/contracts/environment.ts';
import type { GenerateRequest, LanguageModel } from '../../src/contracts/language-model.ts';
import type { Policy, Proposal, ProposeRequest } from '../../src/contracts/policy.ts';
import {
  type ArithmeticState,
  gameOf24,
  type Rational,
  type ReasoningEnvironment,
  type ReasoningState,
  reasoning,
} from '../../src/environments/index.ts';
import { parseRational } from '../../src/environments/puzzles/rational.ts';
import { mcts } from '../../src/index.ts';
import {
  manualClock,
  plainContext,
  type ScriptedModel,
  type ScriptedModelOptions,
  scriptedModel,
} from '../../src/testing/index.ts';
import { hashedAnswer } from '../../src/testing/through-model.ts';
import { treeToJson } from '../../src/tree/serialize.ts';
import { heuristic } from '../../src/values/heuristic.ts';
import { environmentOf } from '../support/environment-of.ts';
import { noSpend } from '../support/nodes.ts';
import { type SearchOf, searchOf } from '../support/search-of.ts';

type Answer = ScriptedModelOptions['answer'];

export const question = 'Ann has 3 apples and buys 4. How many has she?';
const { notations } = reasoning({ question });
export const continued: ReasoningEnvironment['notations']['continued'] = notations.continued;
export const restated: ReasoningEnvironment['notations']['restated'] = notations.restated;
export const json: ReasoningEnvironment['notations']['json'] = notations.json;
export const environment: ReasoningEnvironment = {
  ...reasoning({ question }),
  notation: restated,
};

export const game: ReturnType<typeof gameOf24.environment> = gameOf24.environment({
  numbers: [4, 9, 10, 13],
});

/** A model that lists the legal steps of whatever state it is shown, one a sample. */
export function knowing(): ScriptedModel {
  return scriptedModel({
    answer: ({ messages }, index) => {
      const numbers = /^Numbers: (.*)$/m.exec(messages[0]?.content ?? '')?.[1] ?? '';
      const values = numbers
        .split(' ')
        .map((text) => ({ value: parseRational(text), expression: '' }));
      const steps = game.actions({
        numbers: values as ArithmeticState<Rational>['numbers'],
        target: 24,
      });
      const step = steps[(index * index) % steps.length];
      return step === undefined ? 'I do not know.' : game.notation.format(step);
    },
  });
}

/** A request for proposals outside a search. */
export function asking<State, Action>(
  count: number,
  offset = 0,
  notation?: Notation<State, Action>,
): ProposeRequest {
  const place = notation === undefined ? environment : environmentOf(notation);
  return { environment: place, context: plainContext(), count, offset, remaining: noSpend };
}

/** The last thing that each request said. */
export function lastTexts(requests: readonly GenerateRequest[]): readonly string[] {
  return requests.map(({ messages }) => messages.at(-1)?.content ?? '');
}

/** What proposals came to: their actions, and the reasons of those that came to none. */
export function outcomes<Action>(proposals: readonly Proposal<Action>[]): readonly unknown[] {
  return proposals.map((proposal) =>
    'action' in proposal ? proposal.action : proposal.failure.message,
  );
}

/** The priors of proposals; `undefined` for those that have none. */
export function priors<Action>(
  proposals: readonly Proposal<Action>[],
): readonly (number | undefined)[] {
  return proposals.flatMap((proposal) => ('action' in proposal ? [proposal.prior] : []));
}

type Make = (model: LanguageModel) => Policy<ReasoningState, string>;

/** A step that depends on all that was asked, one of a few for each question. */
const anyStep: Answer = ({ messages }, index) => {
  const content = messages.map(({ content: text }) => text).join('\n');
  return `I try number ${hashedAnswer({ messages: [{ content: `${content} ${index % 3}` }] })}.`;
};

function run(
  make: Make,
  options: {
    readonly answer?: Answer;
    readonly seed?: number;
    readonly search?: Partial<SearchOf<ReasoningState, string>>;
  } = {},
) {
  const { answer = anyStep, seed = 0 } = options;
  const random = seededRandom('latency').split(seed);
  const model = scriptedModel({ answer, latencyMs: () => 1 + random.integer(100) });
  const journal = memoryJournal();
  const running = searchOf({
    environment,
    policy: make(model),
    evaluator: heuristic<ReasoningState>(({ steps }) =>
      Number(hashedAnswer({ messages: [{ content: steps.join(' ') }] })),
    ),
    algorithm: mcts({ width: 3 }),
    budget: { simulations: 12 },
    concurrency: 3,
    clock: manualClock({ auto: true }),
    journal,
    ...options.search,
  });
  return { running, model, journal };
}

/**
 * What every policy that asks a model owes to a search: a replay that asks nothing, the same calls in the same
 * order for the same answers, an end at the budget, at a signal, and life after calls that fail.
 */
export function describeConduct(name: string, make: Make): void {
  describe(`in a search, ${name}`, () => {
    test('makes the same calls in the same order, and is replayed without any', async () => {
      for (const seed of [1, 2, 3]) {
        const live = run(make, { seed });
        const { tree } = await live.running;
        const twin = run(make, { seed });
        await twin.running;
        expect(twin.model.requests).toEqual(live.model.requests);
        const again = run(make, { search: { journal: replayed(live.journal) } });
        expect(treeToJson((await again.running).tree)).toEqual(treeToJson(tree));
        expect(again.model.requests).toEqual([]);
        expect(tree.size).toBeGreaterThan(6);
      }
    });

    test('ends with its budget', async () => {
      const { running, model } = run(make, { search: { budget: { calls: 9 } } });
      const { spend, exceeded } = await running;
      expect(exceeded).toBe('calls');
      expect(spend.calls).toBeLessThanOrEqual(9);
      expect(model.completions).toBe(spend.calls);
    });

    test('is cancelled with the search', async () => {
      const controller = new AbortController();
      const reason = new Error('Enough.');
      const answer: Answer = (request, index) => {
        controller.abort(reason);
        return anyStep(request, index);
      };
      const { running, model } = run(make, { answer, search: { signal: controller.signal } });
      await expect(running).rejects.toBe(reason);
      expect(model.inFlight).toBe(0);
    });

    test('lives on after calls that fail and replies that cannot be read', async () => {
      let calls = 0;
      const answer: Answer = (request, index) => {
        calls++;
        if (calls % 13 === 0) throw new Error('It is gone.');
        return calls % 3 === 0 ? '…' : anyStep(request, index);
      };
      const { tree } = await run(make, { answer, search: { concurrency: 1 } }).running;
      const failed = [...tree.nodes()].map(({ failedProposals }) => failedProposals.length);
      expect(failed.some((count) => count > 0)).toBe(true);
      expect(tree.size).toBeGreaterThan(3);
    });
  });
}
