import {
  type BlocksworldGoal,
  type BlocksworldState,
  blocksAbove,
  HAND,
  TABLE,
} from './blocksworld-state.ts';

/**
 * A lower bound on the steps still needed.
 *
 * Lifts (pick-up, unstack) and drops (put-down, stack) take turns, so a plan with `L` lifts has
 * `2 L + h − e` steps, where `h` and `e` say whether the hand holds a block at the start and at the end.
 * The bound counts the lifts that no plan can do without, and sets `e = 1` wherever it cannot be excluded.
 *
 * A block *must move* where one of these holds, because each says that it cannot stay where it is:
 *
 * - the goal wants it somewhere else;
 * - it is on a block that the goal wants clear, or on one on which the goal wants another block;
 * - it is on a block that must move.
 *
 * It must be lifted once — or twice, where a block that must move is below it both now and in the goal:
 * now the upper block is lifted first, and dropped before the hand can lift the lower one; in the end its
 * last drop comes after the last drop of the lower one. These are two drops, hence two lifts.
 *
 * A held block needs a lift where it has to be dropped on something that is not its last place: where
 * the goal wants it held and others must move; where something is on the block that it has to be on; or
 * where a block below it in the goal must move.
 *
 * The hand can hold a block in the end only where the goal does not say otherwise. Lifting for that
 * purpose a block that need not be lifted costs a lift and saves a drop, which is no gain; so `e = 1` is
 * granted only where a block that is lifted anyway, or held and never dropped, may stay in the hand.
 *
 * The blocks below a block in the goal are followed for at most as many steps as there are blocks, so
 * that a goal with a cycle is no endless loop.
 */
export function blocksworldHeuristic(state: BlocksworldState): number {
  const { places, goal } = state;
  const towers = readTowers(state);
  const held = places.indexOf(HAND);

  let lifts = 0;
  let mayEndHeld = false;
  for (let block = 0; block < places.length; block++) {
    if (towers.moving[block] !== true) continue;
    lifts += movesTwice(goal, towers, block) ? 2 : 1;
    mayEndHeld ||= mayStayInHand(goal, block);
  }
  if (held === -1) return 2 * lifts - (mayEndHeld ? 1 : 0);
  if (lifts === 0) return mayStayInHand(goal, held) ? 0 : 1;

  if (isLiftedAgain(goal, towers, held)) {
    lifts += 1;
    mayEndHeld ||= mayStayInHand(goal, held);
  }
  return 2 * lifts + 1 - (mayEndHeld ? 1 : 0);
}

/** What is known of each block that is not held. */
interface Towers {
  /** Whether the block must move. */
  readonly moving: readonly boolean[];
  /** The lowest block of its tower. */
  readonly base: readonly number[];
  /** How many blocks are below it. */
  readonly height: readonly number[];
  /** The block on it. */
  readonly above: readonly (number | undefined)[];
}

function readTowers(state: BlocksworldState): Towers {
  const { places } = state;
  const above = blocksAbove(places);
  const supported = blocksAbove(state.goal.places);
  const moving = new Array<boolean>(places.length).fill(false);
  const base = new Array<number>(places.length).fill(HAND);
  const height = new Array<number>(places.length).fill(0);
  for (let bottom = 0; bottom < places.length; bottom++) {
    if (places[bottom] !== TABLE) continue;
    let isMoving = false;
    let level = 0;
    for (let block: number | undefined = bottom; block !== undefined; block = above[block]) {
      isMoving ||= isMisplaced(state, supported, block);
      moving[block] = isMoving;
      base[block] = bottom;
      height[block] = level++;
    }
  }
  return { moving, base, height, above };
}

/** Whether the goal alone says that the block cannot stay where it is. */
function isMisplaced(
  { places, goal }: BlocksworldState,
  supported: readonly (number | undefined)[],
  block: number,
): boolean {
  const place = places[block] ?? TABLE;
  const wanted = goal.places[block] ?? place;
  if (wanted !== place) return true;
  if (place === TABLE) return false;
  return goal.clear.includes(place) || (supported[place] ?? block) !== block;
}

function movesTwice(goal: BlocksworldGoal, towers: Towers, block: number): boolean {
  const { moving, base, height } = towers;
  return wantedBelow(goal, block).some(
    (lower) =>
      moving[lower] === true &&
      base[lower] === base[block] &&
      (height[lower] ?? 0) < (height[block] ?? 0),
  );
}

/** Whether a held block has to be dropped off its last place, given that other blocks must move. */
function isLiftedAgain(goal: BlocksworldGoal, towers: Towers, held: number): boolean {
  const wanted = goal.places[held] ?? TABLE;
  if (wanted === TABLE) return false;
  if (wanted === HAND || towers.above[wanted] !== undefined) return true;
  return wantedBelow(goal, held).some((lower) => towers.moving[lower] === true);
}

/** The blocks that the goal wants below a block, from the top. */
function wantedBelow({ places }: BlocksworldGoal, block: number): readonly number[] {
  const below: number[] = [];
  for (
    let lower = places[block] ?? TABLE;
    lower >= 0 && below.length < places.length;
    lower = places[lower] ?? TABLE
  ) {
    below.push(lower);
  }
  return below;
}

function mayStayInHand({ places, clear, handEmpty }: BlocksworldGoal, block: number): boolean {
  if (places[block] === HAND) return true;
  if (places[block] !== null || handEmpty || places.includes(HAND)) return false;
  return !clear.includes(block) && !places.includes(block);
}
