import { describe, expect, it } from 'vitest';
import { seededRandom } from '../../src/base/random.ts';
import type { Random } from '../../src/contracts/context.ts';
import { type BlocksworldState, blocksworld } from '../../src/environments/index.ts';

type Goal = BlocksworldState['goal'];
type Places = readonly number[];

const table = -1;
const hand = -2;

describe('the Blocksworld heuristic', () => {
  it('is what was worked out by hand', () => {
    const blocks = ['a', 'b', 'c'];
    const towards = (goal: Partial<Goal>, places: Places) =>
      blocksworld.heuristic({
        blocks,
        places,
        goal: { places: [null, null, null], clear: [], handEmpty: false, ...goal },
      });
    // One block to move: a lift and a drop.
    expect(towards({ places: [1, null, null] }, [table, table, table])).toBe(2);
    // c is in the way, and may stay in the hand only where nothing else is to be done.
    expect(towards({ clear: [0] }, [table, table, 0])).toBe(1);
    expect(towards({ clear: [0], handEmpty: true }, [table, table, 0])).toBe(2);
    // The tower turned around: each of its blocks is lifted and dropped once.
    expect(towards({ places: [1, 2, null] }, [table, 0, 1])).toBe(6);
    // a on b on c, and a and b have to be in this order on the table: a moves twice.
    expect(towards({ places: [1, table, null] }, [1, 2, table])).toBe(6);
    // A held block is dropped once.
    expect(towards({ places: [1, null, null] }, [hand, table, table])).toBe(1);
    // b is covered, so that a has to be put aside and lifted again.
    expect(towards({ places: [1, null, null] }, [hand, table, 1])).toBe(5);
    // a on b, and the goal wants a held and b on c: a is lifted twice.
    expect(towards({ places: [hand, 2, null] }, [1, table, table])).toBe(5);
    // Nothing to do.
    expect(towards({ places: [1, null, null] }, [1, table, table])).toBe(0);
  });

  it('never exceeds the truth by breadth-first search, and is 0 only at the goal', () => {
    const random = seededRandom('blocksworld truth');
    let checked = 0;
    let exact = 0;
    for (let round = 0; round < 150; round++) {
      const count = 2 + (round % 4);
      const goal = randomGoal(random.split(round), count);
      const blocks = Array.from({ length: count }, (_, index) => `b${index}`);
      for (const [key, truth] of distances(count, goal)) {
        const places = key.split(' ').map(Number);
        const claimed = blocksworld.heuristic({ blocks, places, goal });
        if (claimed > truth || (claimed === 0) !== (truth === 0)) {
          expect.fail(`${key} towards ${JSON.stringify(goal)}: claims ${claimed}, truth ${truth}`);
        }
        checked += 1;
        exact += claimed === truth ? 1 : 0;
      }
    }
    expect(checked).toBeGreaterThan(20_000);
    expect(exact / checked).toBeGreaterThan(0.6);
  });
});

/** A part of what holds in a random arrangement, so that it can be reached. */
function randomGoal(random: Random, count: number): Goal {
  const places = Array.from({ length: count }, () => table);
  for (let block = 1; block < count; block++) {
    const below = random.integer(block + 1) - 1;
    if (!places.includes(below)) places[block] = below;
  }
  const top = places.findIndex((_, block) => !places.includes(block));
  if (random.next() < 0.3) places[top] = hand;
  const clear = [...places.keys()].filter(
    (block) => !places.includes(block) && places[block] !== hand && random.next() < 0.4,
  );
  return {
    places: places.map((place) => (random.next() < 0.6 ? place : null)),
    clear,
    handEmpty: !places.includes(hand) && random.next() < 0.4,
  };
}

/** The steps from every state to the goal. Steps can be taken back, so the search starts at the goal. */
function distances(count: number, goal: Goal): ReadonlyMap<string, number> {
  const all = reachable(Array.from({ length: count }, () => table));
  const found = new Map<string, number>();
  let layer = all.filter((places) => holds(goal, places));
  for (const places of layer) found.set(places.join(' '), 0);
  for (let distance = 1; layer.length > 0; distance++) {
    const next = layer.flatMap(successors).filter((places) => {
      const key = places.join(' ');
      return !found.has(key) && found.set(key, distance);
    });
    layer = next;
  }
  return found;
}

function reachable(start: Places): readonly Places[] {
  const found = new Map([[start.join(' '), start]]);
  for (const places of found.values()) {
    for (const next of successors(places)) found.set(next.join(' '), next);
  }
  return [...found.values()];
}

function successors(places: Places): readonly Places[] {
  const held = places.indexOf(hand);
  const clear = [...places.keys()].filter((block) => block !== held && !places.includes(block));
  const move = (block: number, to: number) => places.with(block, to);
  if (held === -1) return clear.map((block) => move(block, hand));
  return [move(held, table), ...clear.map((block) => move(held, block))];
}

function holds({ places: wanted, clear, handEmpty }: Goal, places: Places): boolean {
  const isClear = (block: number) => !places.includes(block) && places[block] !== hand;
  return (
    wanted.every((place, block) => place === null || place === places[block]) &&
    clear.every(isClear) &&
    !(handEmpty && places.includes(hand))
  );
}
