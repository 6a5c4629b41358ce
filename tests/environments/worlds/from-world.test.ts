import { describe, expect, test } from 'vitest';
import { memoryJournal, replayed } from '../../../src/calls/index.ts';
import type { World } from '../../../src/contracts/world.ts';
import { fromWorld } from '../../../src/environments/index.ts';
import { actionsTo, mcts, treeToJson } from '../../../src/index.ts';
import { describeEnvironment, plainContext } from '../../../src/testing/index.ts';
import { type SearchOf, searchOf } from '../../support/search-of.ts';
import { type Move, moves, movesIn, type NumberState, NumberWorlds } from './number-world.ts';

const ways = ['fork', 'snapshot', 'undo', 'reset'] as const;

function environmentOf(worlds: NumberWorlds, instances = 2) {
  return fromWorld(worlds.create, { name: 'numbers', instances });
}

function grow(
  environment: ReturnType<typeof environmentOf>,
  options: Partial<SearchOf<NumberState, Move>> = {},
) {
  return searchOf<NumberState, Move>({
    environment,
    policy: { propose: () => moves.map((action) => ({ action, prior: 1 / 3 })) },
    evaluator: ({ depth }) => 1 / (depth + 2),
    algorithm: mcts({ evaluate: 'all' }),
    budget: { simulations: 30 },
    order: 'issued',
    ...options,
  });
}

for (const by of ways) {
  const create = () => environmentOf(new NumberWorlds(by));
  describeEnvironment(
    `from a world with ${by}`,
    { create, actions: movesIn, walks: 3, maxDepth: 6 },
    { describe, test },
  );
}

describe.each(ways)('a search in a world with %s', (by) => {
  test('comes to the same with any number of instances, and any number of steps at a time', async () => {
    for (const concurrency of [1, 4, 8]) {
      const trees = new Set<string>();
      for (const instances of [1, 3, 8]) {
        const worlds = new NumberWorlds(by);
        const environment = environmentOf(worlds, instances);
        const { tree, best } = await grow(environment, { concurrency });
        expect(actionsTo(best)).toContain('triple');
        trees.add(JSON.stringify(treeToJson(tree)));
        await environment.close();
        expect(worlds.open).toBe(0);
      }
      expect(trees.size).toBe(1);
    }
  });

  test('is replayed without a world, and goes on from any line of its journal', async () => {
    const journal = memoryJournal();
    const environment = environmentOf(new NumberWorlds(by));
    const { tree } = await grow(environment, { journal });
    await environment.close();
    const whole = JSON.stringify(treeToJson(tree));

    const none = fromWorld<Move, string>(() => expect.fail('A world was opened.'), {
      ...{ name: 'numbers', instances: 1 },
    });
    const again = await grow(none, { journal: replayed(journal) });
    expect(JSON.stringify(treeToJson(again.tree))).toBe(whole);

    for (let cut = 3; cut < journal.lines.length; cut += 7) {
      const begun = memoryJournal(journal.lines.slice(0, cut));
      const worlds = new NumberWorlds(by);
      const resumed = environmentOf(worlds);
      const { tree: other } = await grow(resumed, { journal: begun });
      expect(JSON.stringify(treeToJson(other))).toBe(whole);
      await resumed.close();
      expect(worlds.open).toBe(0);
    }
  });
});

describe('a step in a live world', () => {
  test('fails as stale where the world has changed, and its siblings live', async () => {
    const worlds = new NumberWorlds('reset');
    const environment = environmentOf(worlds, 1);
    const policy = {
      propose: ({ depth }: { depth: number }) => {
        if (depth === 1) worlds.drift = 'double';
        return moves.map((action) => ({ action, prior: 1 / 3 }));
      },
    };
    const journal = memoryJournal();
    const { tree } = await grow(environment, { policy, journal, budget: { simulations: 6 } });
    const failed = [...tree.nodes()].filter(({ failure }) => failure?.kind === 'stale');
    expect(failed.length).toBeGreaterThan(0);
    for (const node of failed) {
      expect(actionsTo(node)).toContain('double');
    }
    const alive = [...tree.nodes()].filter(({ depth, status }) => depth === 2 && status === 'open');
    expect(alive.length).toBeGreaterThan(0);
    // A replay fails the same, without a world.
    const none = fromWorld<Move, string>(() => expect.fail('A world was opened.'), {
      ...{ name: 'numbers', instances: 1 },
    });
    const again = await grow(none, { journal: replayed(journal), budget: { simulations: 6 } });
    expect(JSON.stringify(treeToJson(again.tree))).toBe(JSON.stringify(treeToJson(tree)));
    await environment.close();
  });

  test('fails where the world throws or is late, and another world takes its place', async () => {
    for (const fault of ['throws', 'hangs'] as const) {
      const worlds = new NumberWorlds('reset');
      worlds.before = (move) => {
        if (move !== 'double') return undefined;
        if (fault === 'throws') throw new Error('The tab crashed.');
        return new Promise(() => {});
      };
      const environment = fromWorld(worlds.create, {
        ...{ name: 'numbers', instances: 1, timeoutMs: 20 },
      });
      const { tree } = await grow(environment, { budget: { simulations: 3 } });
      const failed = [...tree.nodes()].filter(({ status }) => status === 'failed');
      expect(failed.length).toBeGreaterThan(0);
      const message =
        fault === 'throws'
          ? 'The tab crashed.'
          : 'The world of `numbers` took longer than 20 ms to `act`, and was abandoned.';
      for (const { action, failure } of failed) {
        expect(action).toBe('double');
        expect(failure).toEqual({ kind: 'environment', message });
      }
      expect(worlds.opened).toBeGreaterThan(1);
      expect(worlds.open).toBe(1);
      await environment.close();
    }
  });

  test('counts as one call, whatever is done again for it', async () => {
    const worlds = new NumberWorlds('reset');
    const environment = environmentOf(worlds, 1);
    const { spend, tree } = await grow(environment);
    const steps = [...tree.nodes()].filter(({ kind }) => kind === 'realised').length;
    expect(spend.calls).toBe(steps + 1);
    expect(worlds.acts.length).toBeGreaterThan(steps);
    await environment.close();
  });

  test('does no more than is new where every state was kept', async () => {
    for (const by of ['fork', 'snapshot'] as const) {
      const worlds = new NumberWorlds(by);
      const options = { name: 'numbers', instances: 1, snapshots: 1_000 };
      const environment = fromWorld(worlds.create, options);
      const { spend } = await grow(environment);
      expect(worlds.acts).toHaveLength(spend.calls - 1);
      await environment.close();
    }
  });
});

const context = plainContext();

const silent = (): Promise<never> => new Promise(() => {});
const told = (what: string) =>
  `The world of \`numbers\` took longer than 30 ms to \`${what}\`, and was abandoned.`;

describe('a silent world', () => {
  test.each([
    ['reset', 'reset'],
    ['snapshot', 'snapshot'],
    ['fork', 'fork'],
    ['fingerprint', 'reset'],
  ] as const)(
    'that is silent on `%s` fails what was asked, and another takes its place',
    async (what, by) => {
      let isSilent = true;
      const worlds = new NumberWorlds(by);
      const create = (): World<Move, string> => {
        const world = worlds.create();
        return isSilent ? { ...world, [what]: silent } : world;
      };
      await using environment = fromWorld(create, { name: 'numbers', instances: 1, timeoutMs: 30 });
      await expect(environment.reset(context)).rejects.toThrow(told(what));
      isSilent = false;
      const { state } = await environment.reset(context);
      expect(state.start.observation).toBe('The number is 1.');
    },
  );

  test.each([
    ['restore', 'snapshot'],
    ['forget', 'snapshot'],
    ['undo', 'undo'],
  ] as const)('that is silent on `%s` fails the step, and no other', async (what, by) => {
    const worlds = new NumberWorlds(by, { [what]: silent });
    const options = { name: 'numbers', instances: 1, timeoutMs: 30, snapshots: 2 };
    const environment = fromWorld(worlds.create, options);
    const { state } = await environment.reset(context);
    const outcomes: string[] = [];
    for (const move of [...moves, ...moves]) {
      try {
        await environment.step(state, move, context);
        outcomes.push('done');
      } catch (error) {
        outcomes.push((error as Error).message);
      }
    }
    expect(outcomes).toContain(told(what));
    expect(outcomes).toContain('done');
    await environment.close();
    expect(worlds.open).toBe(0);
  });

  test('that is silent on `create` is told of, and closed where it comes all the same', async () => {
    const worlds = new NumberWorlds('reset');
    let arrive = () => {};
    let wanted: AbortSignal | undefined;
    const create = async (signal: AbortSignal): Promise<World<Move, string>> => {
      wanted = signal;
      await new Promise<void>((resolve) => {
        arrive = resolve;
      });
      return worlds.create();
    };
    await using environment = fromWorld(create, { name: 'numbers', instances: 1, timeoutMs: 30 });
    await expect(environment.reset(context)).rejects.toThrow(told('create'));
    expect(wanted?.aborted).toBe(true);
    arrive();
    await expect.poll(() => [worlds.opened, worlds.open]).toEqual([1, 0]);
  });

  test('that is silent on `close` does not hold up whoever closes it', async () => {
    const worlds = new NumberWorlds('reset', { close: silent });
    const options = { name: 'numbers', instances: 1, timeoutMs: 30 };
    const environment = fromWorld(worlds.create, options);
    await environment.reset(context);
    await environment.close();
  });
});

describe('a world', () => {
  test('that knows a shorter way is brought back by that', async () => {
    const acts: string[] = [];
    let at = '';
    const browser: World<string, string> = {
      reset: () => {
        at = 'home';
        return { observation: at };
      },
      act(action) {
        acts.push(action);
        at = action.replace('open ', '');
        return { observation: at };
      },
      shorten: (actions) => actions.slice(-1),
    };
    const environment = fromWorld(() => browser, { name: 'browser', instances: 1 });
    let { state } = await environment.reset(context);
    for (const action of ['open a', 'open b', 'open c']) {
      ({ state } = await environment.step(state, action, context));
    }
    expect(acts).toEqual(['open a', 'open b', 'open c']);
    expect(state.steps.map(({ observation }) => observation)).toEqual(['a', 'b', 'c']);
    const home = await environment.reset(context);
    await environment.step(home.state, 'open d', context);
    acts.length = 0;
    await environment.step(state, 'open e', context);
    expect(acts).toEqual(['open c', 'open e']);
  });

  test('is told actions as they have to be done now', async () => {
    let loads = 0;
    const page: World<string, string> = {
      reset: () => ({ observation: `button-${++loads}` }),
      act: (action) => {
        if (action !== `click button-${loads}`) throw new Error(`There is no ${action}.`);
        return { observation: 'clicked' };
      },
      fingerprint: () => 'page',
      rebind: (action, before) => action.replace(before, `button-${loads}`),
    };
    const environment = fromWorld(() => page, { name: 'page', instances: 1 });
    const { state } = await environment.reset(context);
    await environment.step(state, 'click button-1', context);
    const again = await environment.step(state, 'click button-1', context);
    expect(again.state.steps).toMatchObject([{ action: 'click button-1', fingerprint: 'page' }]);
    expect(loads).toBe(2);
  });

  test('tells its states apart by its fingerprints', async () => {
    let number = 1;
    const counter: World<string, string> = {
      reset: () => {
        number = 1;
        return { observation: 'now 1' };
      },
      act: (action) => {
        number += Number(action);
        return { observation: `came by ${action}` };
      },
      fingerprint: () => String(number),
    };
    const environment = fromWorld(() => counter, { name: 'counter', instances: 1 });
    const { state } = await environment.reset(context);
    const [one, other] = [
      await environment.step(state, '4', context),
      await environment.step(state, '4.0', context),
    ];
    expect(environment.key?.(one.state)).toBe(environment.key?.(other.state));
    expect(environment.key?.(one.state)).not.toBe(environment.key?.(state));
  });
});

describe('a live environment', () => {
  test('that cannot be brought back is searched as it stands, and the tree says so', async () => {
    const log: string[] = [];
    const chat: World<Move, string> = {
      reset: () => ({ observation: 'Hello.' }),
      act: (action) => ({ observation: `Heard ${log.push(action)}.` }),
    };
    const options = { name: 'chat', instances: 4, restores: false };
    const environment = fromWorld(() => chat, options);
    const { tree } = await grow(environment, { budget: { simulations: 5 }, concurrency: 4 });
    expect([...tree.stamps]).toEqual(['not-restored']);
    expect([...tree.nodes()].filter(({ kind }) => kind === 'realised')).toHaveLength(log.length);
    await environment.close();
  });

  test('refuses what is not JSON, and options that nobody knows', async () => {
    const odd: World<string, unknown> = {
      reset: () => ({ observation: 1 }),
      act: () => ({ observation: new Map() }),
    };
    const environment = fromWorld(() => odd, { name: 'odd', instances: 1 });
    const { state } = await environment.reset(context);
    await expect(environment.step(state, 'look', context)).rejects.toThrow('to be JSON, got a Map');
    const slips = { name: 'odd', instance: 1 } as never;
    expect(() => fromWorld(() => odd, slips)).toThrow('Did you mean `instances`?');
    expect(() => fromWorld(() => odd, { name: 'odd', instances: 0 })).toThrow('from 1 up');
  });

  test('is closed at the end of the block, and opened anew when it is stepped again', async () => {
    const worlds = new NumberWorlds('reset');
    const open = async () => {
      await using environment = environmentOf(worlds);
      await environment.reset(context);
      expect(worlds.open).toBe(1);
      return environment;
    };
    const environment = await open();
    expect(worlds.open).toBe(0);
    await environment.reset(context);
    expect(worlds.open).toBe(1);
    await environment.close();
    expect(worlds.open).toBe(0);
  });
});
