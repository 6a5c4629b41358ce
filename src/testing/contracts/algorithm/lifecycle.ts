import assert from 'node:assert/strict';
import { memoryJournal, replayed } from '../../../calls/journal.ts';
import { treeFromJson, treeToJson } from '../../../tree/serialize.ts';
import { banditTree } from '../../bandit-tree.ts';
import { syntheticTree } from '../../synthetic-tree.ts';
import { ticTacToe } from '../../tic-tac-toe.ts';
import type { AlgorithmSubject } from './claims.ts';
import { asked, concurrencies, grow, textOf, unevenModel } from './growing.ts';

/** A tree too deep to be searched completely here. */
const endless = syntheticTree({ branching: 3, depth: 10 });

/** All state of an algorithm is in the tree, and results depend only on the seed and the order of results. */
export function describeLifecycle(subject: AlgorithmSubject): void {
  describeSaving(subject);
  describeRepetition(subject);
  describeReplay(subject);
}

function describeSaving({ claims, runner }: AlgorithmSubject): void {
  runner.test('grows trees that are saved and loaded without loss', async () => {
    for (const problem of [asked(endless), asked(banditTree()), asked(ticTacToe())]) {
      const { environment } = problem as typeof endless;
      const { tree } = await grow(problem as typeof endless, claims.create(), {
        budget: { simulations: 100 },
        concurrency: concurrencies(claims.create()).at(-1) ?? 1,
      });
      const text = JSON.stringify(treeToJson(tree, environment));
      const again = treeFromJson(text, environment);
      assert.equal(JSON.stringify(treeToJson(again, environment)), text);
      assert.equal(again.best.id, tree.best.id);
    }
  });

  runner.test('goes on with a saved tree as with the one in memory', async () => {
    const settings = { budget: { simulations: 40 } };
    const first = await grow(endless, claims.create(), settings);
    const loaded = treeFromJson<typeof first.tree.root.state, number>(
      textOf(first.tree, endless),
      endless.environment,
    );
    await first.resume();
    await grow(endless, claims.create(), { ...settings, tree: loaded });
    assertSame(
      textOf(loaded, endless),
      textOf(first.tree, endless),
      'a search that continues from a saved tree to grow the tree of one that was never saved: keep state in `notesOf`, not in the algorithm',
    );
  });

  runner.test('reaches with 50 + 50 simulations what it reaches with 100', async () => {
    // Deep enough that nothing is concluded in the first half.
    const problem = syntheticTree({ branching: 3, depth: 30 });
    const half = await grow(asked(problem), claims.create(), { budget: { simulations: 50 } });
    const resumed = await half.resume();
    const whole = await grow(asked(problem), claims.create(), { budget: { simulations: 100 } });
    assertSame(
      textOf(resumed.tree, problem),
      textOf(whole.tree, problem),
      '50 + 50 simulations to grow the tree of 100: keep state in `notesOf`, not in the algorithm',
    );
  });
}

function describeRepetition({ claims, runner }: AlgorithmSubject): void {
  runner.test('grows the same tree from the same seed', async () => {
    for (const seed of [0, 'a word', 2 ** 40]) {
      const settings = { seed, budget: { simulations: 60 } };
      const one = await grow(endless, claims.create(), settings);
      const other = await grow(endless, claims.create(), settings);
      assertSame(
        textOf(one.tree, endless),
        textOf(other.tree, endless),
        'two searches with one seed to grow the same tree: take random numbers from `context.random`',
      );
    }
  });

  runner.test('carries nothing from one problem to the next', async () => {
    const budget = { simulations: 60 };
    const used = claims.create();
    await grow(banditTree({ seed: 1 }), used, { budget });
    for (const problem of [banditTree({ seed: 2 }), banditTree({ seed: 3, arms: 2, depth: 5 })]) {
      const after = await grow(problem, used, { budget });
      const fresh = await grow(problem, claims.create(), { budget });
      assertSame(
        textOf(after.tree, problem),
        textOf(fresh.tree, problem),
        'an algorithm that was used before to grow the tree of a new one: keep no state in it',
      );
    }
  });

  runner.test('keeps two searches at the same time apart', async () => {
    const budget = { simulations: 60 };
    const shared = claims.create();
    const problems = [banditTree({ seed: 4 }), banditTree({ seed: 5 })];
    const together = await Promise.all(
      problems.map((problem) => grow(asked(problem), shared, { budget })),
    );
    for (const [index, problem] of problems.entries()) {
      const alone = await grow(asked(problem), claims.create(), { budget });
      const tree = together[index]?.tree ?? assert.fail();
      assertSame(
        textOf(tree, problem),
        textOf(alone.tree, problem),
        'two searches with one algorithm at the same time to grow the trees of two alone: keep no state in it',
      );
    }
  });
}

function describeReplay({ claims, runner }: AlgorithmSubject): void {
  runner.test('repeats a concurrent run from its journal, byte for byte', async () => {
    for (const concurrency of concurrencies(claims.create())) {
      const journal = memoryJournal();
      const settings = { budget: { simulations: 80 }, concurrency };
      const live = await grow(asked(endless, unevenModel(concurrency)), claims.create(), {
        ...settings,
        journal,
      });
      const model = unevenModel();
      const again = await grow(asked(endless, model), claims.create(), {
        ...settings,
        journal: replayed(journal),
      });
      assertSame(
        textOf(again.tree, endless),
        textOf(live.tree, endless),
        'a replay to grow the tree of its journal: depend on nothing but the results',
      );
      assert.equal(model.requests.length, 0);
      assert.deepEqual(again.coverage.unrecorded, 0);
    }
  });

  runner.test('does not depend on latencies where results are applied as issued', async () => {
    for (const concurrency of concurrencies(claims.create())) {
      const settings = { budget: { simulations: 80 }, concurrency, order: 'issued' } as const;
      const texts = new Set<string>();
      for (let seed = 0; seed < 3; seed++) {
        const { tree } = await grow(asked(endless, unevenModel(seed)), claims.create(), {
          ...settings,
        });
        texts.add(textOf(tree, endless));
      }
      assert.equal(texts.size, 1);
    }
  });
}

/** Trees as text differ in thousands of characters: what matters is what was expected of them. */
function assertSame(one: string, other: string, expected: string): void {
  let at = 0;
  while (at < one.length && one[at] === other[at]) at++;
  const around = (text: string) => `\`${text.slice(Math.max(0, at - 40), at + 20)}\``;
  assert.ok(
    one === other,
    `Expected ${expected}. They differ first at ${around(one)} and ${around(other)}.`,
  );
}
