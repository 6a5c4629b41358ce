import { describe, expect, test } from 'vitest';
import { memoryJournal, replayed } from '../../src/calls/index.ts';
import { type CallContext, type EffectName, type Environment, mcts } from '../../src/index.ts';
import { rollout, verifier } from '../../src/values/index.ts';
import { type SearchOf, searchOf } from '../support/search-of.ts';

type Move = 'read' | 'write 1' | 'write 2';
const moves: readonly Move[] = ['write 1', 'write 2', 'read'];

/** A file that can be written and read. Only the world knows what is in it; the state is what was seen. */
interface Seen {
  readonly steps: number;
  readonly log: readonly Move[];
  /** What the last action saw. */
  readonly seen: number | undefined;
}

type Telling = 'codec' | 'key' | 'path';

/** What is in the file after some moves: 0 until it is written. */
function truth(log: readonly Move[]): number {
  return Number(log.findLast((move) => move !== 'read')?.slice('write '.length) ?? 0);
}

/** Reads go through an effect whose input tells which file, and nothing of what was written. */
function fileWorld({
  telling = 'path',
  effect = { name: 'read', repeatable: true },
}: {
  readonly telling?: Telling;
  readonly effect?: EffectName;
} = {}) {
  let reads = 0;
  let stale = 0;
  const environment: Environment<Seen, Move> = {
    name: 'file',
    reset: () => ({ state: { steps: 0, log: [], seen: undefined } }),
    async step({ steps, log }, move, context) {
      const next = { steps: steps + 1, log: [...log, move] };
      const ends = { terminal: next.steps === 4 };
      if (move !== 'read') return { state: { ...next, seen: undefined }, ...ends };
      const seen = await context.effect(effect, { id: 'notes' }, () => {
        reads += 1;
        return Promise.resolve(truth(log));
      });
      if (seen !== truth(log)) stale += 1;
      return { state: { ...next, seen }, ...ends };
    },
    ...(telling === 'key' && { key: ({ steps, log }: Seen) => `${steps} ${truth(log)}` }),
    ...(telling === 'codec' && {
      codec: {
        encode: ({ steps, log, seen }: Seen) => [steps, log.join(), seen ?? null],
        decode: () => expect.fail('Nothing is loaded.'),
      },
    }),
  };
  return { environment, told: () => ({ reads, stale }) };
}

const policy = { propose: () => moves.map((action) => ({ action, prior: 1 / 3 })) };
const half = {
  needs: 'realised',
  evaluate: (nodes: readonly unknown[]) => nodes.map(() => ({ value: 0.5 })),
} as const;

function grow(environment: Environment<Seen, Move>, options: Partial<SearchOf<Seen, Move>> = {}) {
  const algorithm = mcts({ evaluate: 'all' });
  return searchOf({
    ...{ environment, policy, evaluator: half, algorithm },
    ...{ budget: { simulations: 200 }, ...options },
  });
}

describe('an effect acts on a state', () => {
  test.each(['path', 'key', 'codec'] as const)('which its %s tells apart', async (telling) => {
    const { environment, told } = fileWorld({ telling });
    const { tree } = await grow(environment);
    const readers = [...tree.nodes()].filter(({ action }) => action === 'read');
    expect(readers.length).toBeGreaterThan(10);
    expect(told().stale).toBe(0);
  });

  test('and equal states share it', async () => {
    const { environment, told } = fileWorld({ telling: 'key' });
    await grow(environment);
    // Before the fourth step there are 1 + 3 + 3 + 3 keys: steps and what is in the file.
    expect(told()).toEqual({ reads: 10, stale: 0 });
  });

  test('unless it is pure: then it is one wherever it is run', async () => {
    const { environment, told } = fileWorld({
      effect: { name: 'read', repeatable: true, pure: true },
    });
    await grow(environment);
    expect(told().reads).toBe(1);
    expect(told().stale).toBeGreaterThan(0);
  });

  test('also in plays from a node, which leave the tree', async () => {
    const { environment, told } = fileWorld();
    const evaluator = rollout({
      policy: {
        propose: (_node, { context }) => [{ action: moves[context.random.integer(3)] ?? 'read' }],
      },
      evaluator: half,
    });
    await grow(environment, { evaluator, budget: { simulations: 60 } });
    expect(told().reads).toBeGreaterThan(10);
    expect(told().stale).toBe(0);
  });

  test('and is found again in a journal', async () => {
    const { environment } = fileWorld();
    const journal = memoryJournal();
    const first = await grow(environment, { journal });
    const again = fileWorld();
    const second = await grow(again.environment, { journal: replayed(journal) });
    expect(again.told()).toEqual({ reads: 0, stale: 0 });
    expect(second.spend.calls).toBe(first.spend.calls);
  });
});

describe('an effect of a policy or a verifier acts on the state at hand', () => {
  /** A verifier that looks into the file: right is a 2. */
  function looking() {
    const told = { looks: 0, stale: 0 };
    const check = {
      async verify({ log }: Seen, context: CallContext) {
        const content = await context.effect('look', { id: 'notes' }, () =>
          Promise.resolve(truth(log)),
        );
        told.looks += 1;
        if (content !== truth(log)) told.stale += 1;
        return { correct: content === 2 };
      },
    };
    return { check, told };
  }

  test.each(['path', 'key', 'codec'] as const)(
    'where a verifier rewards ends, by %s',
    async (telling) => {
      const { environment } = fileWorld({ telling });
      const { check, told } = looking();
      await grow(environment, { outcome: check });
      expect(told.looks).toBeGreaterThan(10);
      expect(told.stale).toBe(0);
    },
  );

  test('where a verifier values states', async () => {
    const { environment } = fileWorld();
    const { check, told } = looking();
    await grow(environment, { evaluator: verifier(check) });
    expect(told.looks).toBeGreaterThan(10);
    expect(told.stale).toBe(0);
  });

  test('where a policy looks before it proposes', async () => {
    const { environment } = fileWorld();
    let stale = 0;
    const curious: SearchOf<Seen, Move>['policy'] = {
      async propose({ state }, { context }) {
        const own = truth(state?.log ?? []);
        const seen = await context.effect('look', { id: 'notes' }, () => Promise.resolve(own));
        if (seen !== own) stale += 1;
        return moves.map((action) => ({ action }));
      },
    };
    await grow(environment, { policy: curious });
    expect(stale).toBe(0);
  });
});
