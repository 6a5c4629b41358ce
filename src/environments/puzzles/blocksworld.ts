import { EspalierError } from '../../base/errors.ts';
import { expectArray, expectInteger, expectObject } from '../../base/expect.ts';
import { expectOptions } from '../../base/expect-options.ts';
import type { Random } from '../../contracts/context.ts';
import type { Transition } from '../../contracts/environment.ts';
import { blocksworldHeuristic } from './blocksworld-heuristic.ts';
import { type BlocksworldAction, readMove } from './blocksworld-move.ts';
import { blocksworldNotation } from './blocksworld-notation.ts';
import { formatProblem, parseProblem } from './blocksworld-problem.ts';
import {
  type BlocksworldState,
  blocksAbove,
  goalFacts,
  HAND,
  isGoal,
  TABLE,
} from './blocksworld-state.ts';
import type { Puzzle, PuzzleEnvironment } from './puzzle.ts';
import { replay } from './replay.ts';

/**
 * Blocksworld with one hand and four operators (pick-up, put-down, stack, unstack): rearrange towers of
 * blocks until the goal holds.
 *
 * Problems are read and written in PDDL. There are no dead ends.
 */
export const blocksworld: Puzzle<
  BlocksworldState,
  BlocksworldState,
  BlocksworldAction,
  {
    /** The number of blocks: an integer from 2 to 100. @defaultValue 4 */
    readonly blocks?: number;
  }
> = {
  name: 'blocksworld',
  title: 'Blocksworld',
  environment,
  generate,
  parse: parseProblem,
  format: formatProblem,
  check: (instance, actions) =>
    replay(environment(instance), actions, (state) => {
      const missing = goalFacts(state).find(({ holds }) => !holds);
      return missing && `Expected \`${missing.fact}\`, got \`${render(state)}\`.`;
    }),
  render,
  estimate,
  heuristic: blocksworldHeuristic,
};

function environment(
  instance: BlocksworldState,
): PuzzleEnvironment<BlocksworldState, BlocksworldAction> {
  // Only the parser knows all the rules of a problem.
  expectOptions('blocksworld', instance, 'blocks places goal');
  for (const name of ['blocks', 'places'] as const) expectArray(name, instance[name]);
  expectObject('goal', instance.goal);
  const { blocks, places, goal } = parseProblem(formatProblem(instance));
  const start = { blocks, places, goal };
  return {
    name: blocksworld.name,
    reset: () => ({ state: start, ...(isGoal(start) && { reward: 1, terminal: true }) }),
    step,
    actions,
    // The goal is the same in all states of an instance. Adding 48 turns small numbers into digits and letters.
    key: (state) => String.fromCharCode(...state.places.map((place) => place + 48 - HAND)),
    notation: blocksworldNotation,
  };
}

function actions(state: BlocksworldState): readonly BlocksworldAction[] {
  if (isGoal(state)) return [];
  const { blocks, places } = state;
  const above = blocksAbove(places);
  const held = places.indexOf(HAND);
  const legal: BlocksworldAction[] = held === -1 ? [] : [`(put-down ${blocks[held]})`];
  for (const [block, place] of places.entries()) {
    if (above[block] !== undefined || block === held) continue;
    if (held !== -1) legal.push(`(stack ${blocks[held]} ${blocks[block]})`);
    else if (place === TABLE) legal.push(`(pick-up ${blocks[block]})`);
    else legal.push(`(unstack ${blocks[block]} ${blocks[place]})`);
  }
  return legal;
}

function step(state: BlocksworldState, action: BlocksworldAction): Transition<BlocksworldState> {
  const move = readMove(state, action);
  if (typeof move === 'string') throw new EspalierError('usage', move, { scope: 'item' });
  const { blocks, places, goal } = state;
  const next = { blocks, places: places.with(move.block, move.isPut ? move.support : HAND), goal };
  return isGoal(next) ? { state: next, reward: 1, terminal: true } : { state: next };
}

function render(state: BlocksworldState): string {
  const { blocks, places } = state;
  const above = blocksAbove(places);
  const towers: string[] = [];
  for (const [bottom, place] of places.entries()) {
    if (place !== TABLE) continue;
    const tower: string[] = [];
    for (let block: number | undefined = bottom; block !== undefined; block = above[block]) {
      tower.push(blocks[block] ?? '');
    }
    towers.push(`| ${tower.join(' ')}`);
  }
  const held = places.indexOf(HAND);
  return [...towers, `hand: ${held === -1 ? 'empty' : blocks[held]}`].join('\n');
}

/** The share of the goal's facts that hold. A tower that is right only at the top counts too. */
function estimate(state: BlocksworldState): number {
  const facts = goalFacts(state);
  return facts.filter(({ holds }) => holds).length / facts.length;
}

/** A random start; the goal is the block-on-block facts of another random arrangement. */
function generate(random: Random, options: Parameters<typeof blocksworld.generate>[1] = {}) {
  expectOptions('blocksworld.generate', options, 'blocks');
  const { blocks: count = 4 } = options;
  expectInteger('blocks', count, { min: 2, max: 100 });
  const blocks = Array.from({ length: count }, (_, index) => nameOf(index, count));
  for (;;) {
    const wanted = arrange(random, count);
    const goal = {
      places: wanted.map((place) => (place === TABLE ? null : place)),
      clear: [],
      handEmpty: false,
    };
    const places = arrange(random, count);
    const hasGoal = goal.places.some((place) => place !== null);
    if (hasGoal && !isGoal({ blocks, places, goal })) return { blocks, places, goal };
  }
}

/** Puts the blocks, in random order, on the table or on a random tower, with equal probabilities. */
function arrange(random: Random, count: number): readonly number[] {
  const places = new Array<number>(count).fill(TABLE);
  const rest = [...places.keys()];
  const tops: number[] = [];
  while (rest.length > 0) {
    const block = rest.splice(random.integer(rest.length), 1)[0] ?? 0;
    const tower = random.integer(tops.length + 1);
    places[block] = tops[tower] ?? TABLE;
    tops[tower] = block;
  }
  return places;
}

function nameOf(index: number, count: number): string {
  return count <= 26 ? String.fromCharCode(97 + index) : `b${index + 1}`;
}
