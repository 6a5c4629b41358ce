/**
 * A test of the mechanism, not of any model: the model of this test obeys a lesson when it is shown one, so that what is
 * measured is whether lessons are drawn from what went wrong, kept, found again, told, and save simulations.
 */
import { expect, test } from 'vitest';
import type { Environment, Notation } from '../../src/contracts/environment.ts';
import type { Memory } from '../../src/contracts/memory.ts';
import type { SearchNode } from '../../src/contracts/node.ts';
import type { Policy } from '../../src/contracts/policy.ts';
import { contrastive, inMemoryStore, lessons, memory } from '../../src/memory/index.ts';
import { withParts } from '../../src/prompting/prompt-parts.ts';
import { mcts } from '../../src/search/algorithms/mcts.ts';
import { solved } from '../../src/search/stop-conditions.ts';
import { plainContext, type ScriptedModel, scriptedModel } from '../../src/testing/index.ts';
import type { SearchTree } from '../../src/tree/tree.ts';
import { searchOf } from '../support/search-of.ts';

/** A lock with two wheels. Whoever forces it gets into a room that looks good and leads nowhere. */
interface Lock {
  readonly colour: string;
  readonly key: readonly [number, number];
}

const colours = ['red', 'blue', 'green', 'grey'];
const family: readonly Lock[] = [0, 1, 2, 3].flatMap((first) =>
  [0, 1, 2, 3].map((second) => ({
    colour: colours[(first + second) % 4] ?? '',
    key: [first, second] as const,
  })),
);

/** A state is the actions so far; an action is `force` or the number of a notch. */
function environmentOf({ key }: Lock): Environment<string, string> {
  return {
    name: 'lock',
    reset: () => ({ state: '' }),
    step(state, action) {
      const next = state === '' ? action : `${state} ${action}`;
      const actions = next.split(' ');
      if (actions[0] === 'force') {
        return actions.length === 2 ? { state: next, terminal: true, reward: 0 } : { state: next };
      }
      const isRight = actions.every((one, place) => one === String(key[place]));
      if (!isRight) return { state: next, terminal: true, reward: 0 };
      return actions.length === 2 ? { state: next, terminal: true, reward: 1 } : { state: next };
    },
  };
}

const notationOf = ({ colour }: Lock): Notation<string, string> => ({
  prompt: (state) => [
    {
      role: 'user',
      content: `A ${colour} lock with wheels. Done so far: ${state || 'nothing yet'}.`,
    },
  ],
  format: (action) => (action === 'force' ? 'force' : `turn the wheel to notch ${action}`),
  parse: (text) => ({ action: text === 'force' ? text : text.slice(-1) }),
});

const lesson = 'A quick way in is often a dead end: work the mechanism itself.';

const turn = (notch: number) => `turn the wheel to notch ${notch % 4}`;

/** Proposes to force whatever there is first, unless it was told the lesson and heeds it. */
function character(heeds: boolean): ScriptedModel {
  return scriptedModel({
    answer({ messages }, index) {
      const text = messages.map(({ content }) => content).join('\n');
      const isTrap = text.includes('will be taken here is:\nforce');
      if (text.includes('LESSON:')) return isTrap ? `LESSON: ${lesson}` : 'Nothing to learn.';
      if (text.includes('three sentences')) return 'It opens at once.';
      return heeds && text.includes(lesson) ? turn(index) : index === 0 ? 'force' : turn(index - 1);
    },
  });
}

function policyOf(model: ScriptedModel, lock: Lock, remembering?: Memory): Policy<string, string> {
  const notation = notationOf(lock);
  const task = `open the ${lock.colour} lock`;
  const promptParts =
    remembering === undefined
      ? []
      : [lessons<string, string>({ memory: remembering, kind: 'policy', task })];
  return {
    async propose(node, request) {
      const { context, offset } = request;
      if (node.kind === 'proposed') return [];
      const about = { ...request, node };
      const messages = await withParts(notation.prompt(node.state), promptParts, about);
      const { completions } = await context.generate(model, { messages, samples: 5, offset });
      return completions.map(({ text }) => notation.parse(text, node.state));
    },
  };
}

/** The way to the first dead end behind the trap. */
function failedPath(tree: SearchTree<string, string>): readonly SearchNode<string, string>[] {
  const isDeadEnd = ({ terminal, visits, state }: SearchNode<string, string>) =>
    terminal && visits > 0 && state?.startsWith('force') === true;
  let node: SearchNode<string, string> | undefined = [...tree.nodes()].find(isDeadEnd);
  const path: SearchNode<string, string>[] = [];
  for (; node !== undefined; node = node.parent) path.unshift(node);
  return path;
}

/** How many simulations each lock of the family takes, in order. */
async function simulationsOf(heeds: boolean, remembering?: Memory): Promise<readonly number[]> {
  const model = character(heeds);
  const counts: number[] = [];
  for (const [seed, lock] of family.entries()) {
    const environment = environmentOf(lock);
    const { spend, tree, stopReason } = await searchOf({
      ...{ environment: { ...environment, notation: notationOf(lock) } },
      ...{ seed, stopWhen: solved(), budget: { simulations: 400 } },
      policy: policyOf(model, lock, remembering),
      evaluator: {
        needs: 'realised',
        evaluate: (nodes) =>
          nodes.map(({ state }) => ({ value: state?.startsWith('force') === true ? 0.9 : 0.3 })),
      },
      algorithm: mcts(),
    });
    expect(stopReason).toBe('solved');
    counts.push(spend.simulations);
    if (remembering === undefined) continue;
    const { reflect } = contrastive<string, string>({
      ...{ model, memory: remembering },
      task: `open the ${lock.colour} lock`,
      // Judges are not asked here.
      value: { most: 0 },
    });
    await reflect(failedPath(tree), {
      environment: { ...environment, name: 'lock', notation: notationOf(lock) },
      context: plainContext(),
    });
  }
  return counts;
}

/** The mean and the half width of its 95 % interval, by Student's t with 15 degrees of freedom. */
function meanOf(differences: readonly number[]): { mean: number; half: number } {
  const { length } = differences;
  const mean = differences.reduce((sum, one) => sum + one, 0) / length;
  const squares = differences.reduce((sum, one) => sum + (one - mean) ** 2, 0);
  return { mean, half: 2.131 * Math.sqrt(squares / (length - 1) / length) };
}

test('MECHANISM: lessons that are heeded lower the simulations to solve a family of puzzles that share a trap', async () => {
  const store = inMemoryStore();
  const without = await simulationsOf(true);
  const with_ = await simulationsOf(true, memory({ store }));
  expect(without).toHaveLength(16);
  // Nothing is known before the first one.
  expect(with_[0]).toBe(without[0]);
  const { mean, half } = meanOf(without.map((count, place) => count - (with_[place] ?? 0)));
  process.stdout.write(
    `mechanism: simulations to solve, 16 locks: ${meanOf(without).mean} without memory, ${meanOf(with_).mean} with; paired difference ${mean.toFixed(2)} ± ${half.toFixed(2)} (95 %)\n`,
  );
  expect(mean - half).toBeGreaterThan(0);
  const [first] = await store.all();
  expect(first).toMatchObject({
    kind: 'policy',
    action: 'force',
    lesson,
    situation: expect.stringContaining('nothing yet') as unknown,
  });
});

test('MECHANISM: a model that does not heed them gains nothing', async () => {
  const store = inMemoryStore();
  const without = await simulationsOf(false);
  expect(await simulationsOf(false, memory({ store }))).toEqual(without);
  expect((await store.all()).length).toBeGreaterThan(0);
});

test('MECHANISM: lessons that are not recalled change nothing', async () => {
  const without = await simulationsOf(true);
  const silent = memory({ store: inMemoryStore(), k: { policy: 0 } });
  expect(await simulationsOf(true, silent)).toEqual(without);
});
