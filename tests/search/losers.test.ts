import { describe, expect, test } from 'vitest';
import { memoryJournal, replayed } from '../../src/calls/journal.ts';
import {
  bestOfN,
  type CallContext,
  type Environment,
  gumbel,
  mcts,
  type Policy,
  type SearchAlgorithm,
  solved,
  withReflection,
} from '../../src/index.ts';
import { manualClock } from '../../src/testing/index.ts';
import { treeToJson } from '../../src/tree/serialize.ts';
import { type SearchOf, searchOf } from '../support/search-of.ts';

/** From the start one way is slow, and one leads to the goal. */
const environment: Environment<string, string> = {
  name: 'two-ways',
  reset: () => ({ state: 'start' }),
  step: (_, action) => ({
    state: action,
    ...(action === 'goal' && { terminal: true, reward: 1 }),
  }),
};

const slowMs = 10_000;
const fastMs = 50;

async function sleep(context: CallContext, name: string, ms: number): Promise<void> {
  await context.effect({ name, repeatable: true }, name, async (call) => {
    await call.clock.sleep(ms, call.signal);
    return null;
  });
}

const policy: Policy<string, string> = {
  async propose({ state }, { context, offset, count }) {
    if (state === 'start') {
      const ways = ['slow', 'fast'].map((action) => ({ action, prior: 0.5 }));
      return count === 1 ? ways.slice(offset % 2, (offset % 2) + 1) : ways;
    }
    await sleep(context, state ?? '', state === 'slow' ? slowMs : fastMs);
    return [{ action: state === 'fast' ? 'goal' : 'slow', prior: 1 }];
  },
};

function race(algorithm: SearchAlgorithm, options: Partial<SearchOf<string, string>> = {}) {
  return searchOf({
    ...{ environment, policy, algorithm, evaluator: { needs: 'realised', evaluate } },
    ...{ stopWhen: solved(), budget: { simulations: 40 }, concurrency: 4 },
    clock: manualClock({ auto: true }),
    ...options,
  });
}

const evaluate = (nodes: readonly unknown[]) => nodes.map(() => ({ value: 0.5 }));

const algorithms: Readonly<Record<string, SearchAlgorithm>> = {
  'mcts()': mcts(),
  "mcts({ evaluate: 'all' })": mcts({ evaluate: 'all' }),
  'gumbel()': gumbel(),
  'bestOfN()': bestOfN(),
};

describe.each(Object.entries(algorithms))('%s, solved while a slow call is under way,', (_, by) => {
  test('ends at once, and is charged for the call', async () => {
    const { spend, stopReason, solved: isSolved, tree } = await race(by);
    expect({ stopReason, isSolved }).toEqual({ stopReason: 'solved', isSolved: true });
    expect(spend.ms).toBe(fastMs);
    expect(spend.calls).toBe(2);
    for (const node of tree.nodes()) expect(node.inFlight).toBe(0);
  });

  test.each(['arrival', 'issued'] as const)('is replayed, in the order %s', async (order) => {
    const journal = memoryJournal();
    const live = await race(by, { journal, order });
    const again = await race(by, { journal: replayed(journal), order });
    expect(treeToJson(again.tree)).toEqual(treeToJson(live.tree));
    expect(again.spend.calls).toBe(live.spend.calls);
    expect(again.coverage).toMatchObject({ unrecorded: 0, differsAt: undefined });
  });

  test('may go on', async () => {
    const { resume } = await race(by);
    const { stopReason } = await resume({ stopWhen: [], budget: { simulations: 6 } });
    expect(stopReason).not.toBe('failed');
  });
});

test('what follows a search that was solved may still make calls', async () => {
  const lessons: string[] = [];
  const algorithm = withReflection(mcts(), {
    reflect: async (path, { context }) => {
      await sleep(context, 'reflection', 7);
      lessons.push(path.at(-1)?.state as string);
      expect(context.signal.aborted).toBe(false);
    },
  });
  const { spend, stopReason } = await race(algorithm);
  expect(lessons).toEqual(['goal']);
  expect(stopReason).toBe('solved');
  expect(spend).toMatchObject({ ms: fastMs + 7, calls: 3 });
});

test('what ignores that it was given up delays nothing, and changes nothing', async () => {
  let finish = () => {};
  const deaf: Policy<string, string> = {
    propose: async (node, request) => {
      if (node.state !== 'slow') return policy.propose(node, request);
      await new Promise<void>((resolve) => {
        finish = resolve;
      });
      return [{ action: 'late', prior: 1 }];
    },
  };
  const { spend, stopReason, tree } = await race(mcts(), { policy: deaf });
  expect({ stopReason, ms: spend.ms }).toEqual({ stopReason: 'solved', ms: fastMs });
  const before = JSON.stringify(treeToJson(tree));
  finish();
  await new Promise((resolve) => setTimeout(resolve, 5));
  expect(JSON.stringify(treeToJson(tree))).toBe(before);
});

test('a solved part of a search ends at once, and the search goes on', async () => {
  const clock = manualClock({ auto: true });
  const parts: (readonly [string, number])[] = [];
  const outer: SearchAlgorithm = {
    name: 'outer',
    concurrency: 'any',
    laws: [],
    async run(_, context) {
      const part = await context.search(environment, {
        ...{ policy, evaluator: { needs: 'realised', evaluate }, algorithm: mcts() },
        ...{ stopWhen: solved(), concurrency: 4, share: 0.5, clock },
      });
      parts.push([part.stopReason, part.spend.ms]);
      await sleep(context, 'after', 5);
    },
  };
  const { spend } = await race(outer, { budget: { simulations: 100 }, clock });
  expect(parts).toEqual([['solved', fastMs]]);
  expect(spend.ms).toBe(fastMs + 5);
});
