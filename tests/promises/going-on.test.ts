import { describe, expect, test } from 'vitest';
import { BudgetPool, memoryJournal, replayed } from '../../src/calls/index.ts';
import {
  type Environment,
  type LanguageModel,
  ModelCallError,
  mcts,
  treeToJson,
} from '../../src/index.ts';
import { heuristic } from '../../src/values/index.ts';
import { type SearchOf, searchOf } from '../support/search-of.ts';
import { TurningClock } from './fuzz-scenario.ts';
import { type AnyLine, paidBy } from './paid-by.ts';

type Options = SearchOf<string, string>;

/** Words of four letters, each proposed by a model; a step may do something outside. */
function words(
  model: LanguageModel,
  { start = '', step }: { start?: string; step?: Environment<string, string>['step'] } = {},
): Required<Pick<Options, 'environment' | 'policy' | 'evaluator' | 'algorithm'>> {
  const grown = (state: string) => ({ state, ...(state.length > 3 && { terminal: true }) });
  return {
    environment: {
      name: 'words',
      reset: () => ({ state: start }),
      step: step ?? ((state, action) => grown(state + action)),
    },
    policy: {
      async propose({ state = '' }, { context }) {
        const messages = [{ role: 'user' as const, content: `after ${state}` }];
        const { completions } = await context.generate(model, { messages, maxTokens: 4 });
        return completions.map(({ text }) => ({ action: text }));
      },
    },
    evaluator: heuristic((state) => state.length / 9),
    algorithm: mcts({ width: 1 }),
  };
}

function modelOf(wait: () => Promise<void> = async () => {}): LanguageModel & { asked: number } {
  const model = {
    ...{ provider: 'test', modelId: 'm', capabilities: {}, asked: 0 },
    async generate() {
      model.asked += 1;
      await wait();
      return { completions: [{ text: 'a' }], usage: { inputTokens: 9, outputTokens: 1 } };
    },
  };
  return model;
}

function paid(journal: { readonly lines: Iterable<unknown> }): number {
  return paidBy(journal.lines as Iterable<AnyLine>).calls;
}

describe('a result that is resumed', () => {
  test('belongs to the deadline that ended it, and not to that of the search before', async () => {
    const journal = memoryJournal();
    const program = async (on: Options['journal']) => {
      const clock = new TurningClock();
      const model = modelOf(() => clock.turn(1));
      const options = { ...words(model), clock, ...(on && { journal: on }) };
      const first = await searchOf({ ...options, budget: { simulations: 2, ms: 50 } });
      const policy = words(modelOf(() => clock.turn(30))).policy;
      const next = await first.resume({ budget: { simulations: 9, ms: 50 }, policy });
      return [first, next].map(({ exceeded, tree }) => [
        exceeded,
        JSON.stringify(treeToJson(tree)),
      ]);
    };
    const live = await program(journal);
    expect(live.map(([exceeded]) => exceeded)).toEqual(['simulations', 'ms']);
    expect(await program(replayed(journal))).toEqual(live);
  });

  test('charges a call once that a kill cut off from its deadline', async () => {
    const journal = memoryJournal();
    const program = async (on: Options['journal']) => {
      const clock = new TurningClock();
      const options = {
        ...words(modelOf(() => clock.turn(99))),
        clock,
        ...(on && { journal: on }),
      };
      const first = await searchOf({ ...options, budget: { simulations: 9, ms: 20 } });
      return [first, await first.resume()];
    };
    await program(journal);
    const end = journal.lines.findIndex(({ type }) => type === 'deadline');
    const killed = memoryJournal(journal.lines.slice(0, end + 1));
    const results = await program(killed);
    expect(results.reduce((sum, { spend }) => sum + spend.calls, 0)).toBe(paid(killed));
  });

  test('is charged to its pool once, when the program runs again', async () => {
    const journal = memoryJournal();
    const program = async () => {
      const pool = new BudgetPool({ calls: 50 });
      const options = { ...words(modelOf()), budget: { simulations: 2 }, pool, journal };
      await (await searchOf(options)).resume();
      return pool.spend.calls;
    };
    const spent = await program();
    expect(spent).toBe(paid(journal));
    expect(await program()).toBe(spent);
  });
});

test.each(['a', 'b'])(
  'what was broken off, or done, by the time is not done twice: %s',
  async (effect) => {
    const done: string[] = [];
    const clock = new TurningClock();
    const step: Environment<string, string>['step'] = async (state, action, context) => {
      const next = state + action;
      await context.effect('send', next, async () => {
        done.push(next);
        // In this order, nothing that is done after it takes effect before it.
        await clock.turn(next === 'a' ? 99 : 5);
      });
      return { state: next };
    };
    const first = await searchOf({
      ...words(modelOf(), { step }),
      policy: { propose: () => ['a', 'b', 'c'].map((action) => ({ action })) },
      algorithm: mcts(),
      ...{ clock, order: 'issued', concurrency: 3, budget: { simulations: 9, ms: 40 } },
    });
    expect(first.exceeded).toBe('ms');
    await first.resume();
    expect(done.filter((what) => what === effect)).toEqual([effect]);
  },
);

test('a deadline comes in a replay where it came, also between an attempt and its result', async () => {
  const clock = new TurningClock();
  const journal = memoryJournal();
  let asked = 0;
  const model: LanguageModel = {
    ...{ provider: 'test', modelId: 'm', capabilities: {} },
    async generate(_request, call) {
      if (asked++ > 0) {
        await clock.turn(5);
        await call.retry?.({ message: 'The connection broke.', charged: true });
        // Its result is written, and the time is up before it takes effect.
        while (clock.now() < 19) await clock.turn(1);
        void clock.turn(1);
      }
      return { completions: [{ text: 'a' }], usage: { inputTokens: 9, outputTokens: 1 } };
    },
  };
  const options = { ...words(model), clock, budget: { simulations: 9, ms: 20 } };
  const live = await searchOf({ ...options, journal });
  const again = await searchOf({ ...options, journal: replayed(journal) });
  expect(live.exceeded).toBe('ms');
  expect(JSON.stringify(treeToJson(again.tree))).toBe(JSON.stringify(treeToJson(live.tree)));
});

test('a search repeats all of its journal, though its pool holds less than its calls may need', async () => {
  const journals = [memoryJournal(), memoryJournal()] as const;
  const program = (tokens: number) => {
    const pool = new BudgetPool({ tokens });
    const running = journals.map((journal, at) =>
      searchOf({
        ...words(modelOf(), { start: `${at}` }),
        ...{ budget: { simulations: 2 }, pool, journal },
      }),
    );
    return Promise.all(running);
  };
  const first = await program(1_000);
  const tokens = first.reduce((sum, { spend }) => sum + spend.tokens, 0);
  const again = await program(tokens);
  for (const [at, { spend }] of again.entries()) {
    expect(spend.calls).toBe(paid(journals[at] as (typeof journals)[0]));
  }
});

test('searches under one pool, one after the other, spend no more than it holds when they go on', async () => {
  const journals = [memoryJournal(), memoryJournal()] as const;
  let isBusy = true;
  const model = modelOf();
  const moody: LanguageModel = {
    ...model,
    generate(request, call) {
      if (isBusy && request.messages[0]?.content === 'after aa') {
        throw new ModelCallError({ kind: 'overloaded', message: 'Busy.' });
      }
      return model.generate(request, call);
    },
  };
  const program = async () => {
    const pool = new BudgetPool({ calls: 6 });
    // What the second has paid before is known before the first one asks again.
    pool.prepay(...journals);
    for (const [at, journal] of journals.entries()) {
      const start = at === 0 ? '' : 'b';
      await searchOf({ ...words(moody, { start }), budget: { simulations: 20 }, pool, journal });
    }
    return pool.spend.calls;
  };
  expect(await program()).toBe(6);
  isBusy = false;
  expect(await program()).toBe(6);
  expect(paid(journals[0]) + paid(journals[1])).toBe(6);
});
