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
 * Lifts (pick-up, unstack) and drops (put-down, stack) take turns, so a plan with `L` lifts has `2 L + h − e` steps,
 * where `h` and `e` say whether the hand holds a block at the start and at the end. The bound counts the lifts that
 * every plan needs, and sets `e = 1` unless it can be excluded.
 *
 * A block *must move* if one of these holds, because each means that it cannot stay where it is:
 *
 * - the goal wants it somewhere else;
 * - it is on a block that the goal wants clear, or on one on which the goal wants another block;
 * - it is on a block that must move.
 *
 * It must be lifted once — or twice, if a block that must move is below it both now and in the goal: now the upper
 * block is lifted first, and dropped before the hand can lift the lower one; in the end its last drop comes after the
 * last drop of the lower one. These are two drops, hence two lifts.
 *
 * A held block needs a lift if it must be dropped somewhere other than its final place: if the goal wants it held and
 * others must move; if something is on the block that it must be on; or if a block below it in the goal must move.
 *
 * The hand can hold a block at the end only if the goal allows it, and only if the lift of that block is the last one
 * of all. The first lift of a block cannot be the last one if a block that must move is below it, or if the goal wants
 * another block on the one below it. Lifting the block once more just to hold it costs a lift and saves a drop, which
 * gains nothing; so `e = 1` is granted only if a block that must move may be lifted last and stay in the hand. A block
 * that the goal wants held is lifted at the end in any case, hence twice if its first lift cannot be the last.
 *
 * The blocks below a block in the goal are followed for at most as many steps as there are blocks, so that a goal with
 * a cycle does not cause an endless loop.
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
    mayEndHeld ||= goal.places[block] === HAND || mayStayInHand(goal, towers, block);
  }
  if (held === -1) return 2 * lifts - (mayEndHeld ? 1 : 0);
  if (lifts === 0) return goal.places[held] === HAND || mayStayInHand(goal, towers, held) ? 0 : 1;

  if (isLiftedAgain(goal, towers, held)) lifts += 1;
  mayEndHeld ||= goal.places[held] === HAND;
  return 2 * lifts + 1 - (mayEndHeld ? 1 : 0);
}

/** Properties of each block that is not held. */
interface Towers {
  /** Whether the block must move. */
  readonly moving: readonly boolean[];
  /** Whether other blocks must be lifted, or put in its place, after the block has been lifted. */
  readonly early: readonly boolean[];
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
  const early = new Array<boolean>(places.length).fill(false);
  const base = new Array<number>(places.length).fill(HAND);
  const height = new Array<number>(places.length).fill(0);
  for (let bottom = 0; bottom < places.length; bottom++) {
    if (places[bottom] !== TABLE) continue;
    let isMoving = false;
    let level = 0;
    for (let block: number | undefined = bottom; block !== undefined; block = above[block]) {
      early[block] = isMoving || isInTheWay(state, supported, block);
      isMoving ||= early[block] || isMisplaced(state, block);
      moving[block] = isMoving;
      base[block] = bottom;
      height[block] = level++;
    }
  }
  return { moving, early, base, height, above };
}

/** Whether the goal wants another block on the one below this block. */
function isInTheWay(
  { places }: BlocksworldState,
  supported: readonly (number | undefined)[],
  block: number,
): boolean {
  return (supported[places[block] ?? TABLE] ?? block) !== block;
}

/** Whether the goal wants the block somewhere else, or wants the block below it clear. */
function isMisplaced({ places, goal }: BlocksworldState, block: number): boolean {
  const place = places[block] ?? TABLE;
  const wanted = goal.places[block] ?? place;
  return wanted !== place || goal.clear.includes(place);
}

function movesTwice(goal: BlocksworldGoal, towers: Towers, block: number): boolean {
  const { moving, early, base, height } = towers;
  if (goal.places[block] === HAND) return early[block] === true;
  return wantedBelow(goal, block).some(
    (lower) =>
      moving[lower] === true &&
      base[lower] === base[block] &&
      (height[lower] ?? 0) < (height[block] ?? 0),
  );
}

/** Whether a held block must be dropped somewhere other than its final place, given that other blocks must move. */
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

/** Whether a block whose final place is open may be in the hand at the end. */
function mayStayInHand(
  { places, clear, handEmpty }: BlocksworldGoal,
  { early }: Towers,
  block: number,
): boolean {
  if (places[block] !== null || handEmpty || places.includes(HAND)) return false;
  return early[block] !== true && !clear.includes(block) && !places.includes(block);
}
