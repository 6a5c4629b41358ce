import { describeValue } from '../../base/expect.ts';
import { isSolved, type TilesState } from './sliding-tiles-board.ts';
import { solvedMessage } from './words.ts';

/** The direction in which the blank moves. The tile next to it moves the other way. */
export type TilesAction = 'up' | 'down' | 'left' | 'right';

/** The four directions, in the order in which actions are listed. */
export const directions: readonly TilesAction[] = ['up', 'down', 'left', 'right'];

/** Where a legal action moves the blank, or what is wrong with the action in one sentence. */
export function readMove(state: TilesState, action: TilesAction): number | string {
  if (isSolved(state)) return solvedMessage(action);
  const place = blankAfter(state, state.tiles.indexOf(0), action);
  if (place !== undefined) return place;
  return `Expected one of ${openDirections(state).join(', ')}, got ${describeValue(action)}.`;
}

/** The directions in which the blank can move. */
export function openDirections(state: TilesState): readonly TilesAction[] {
  const blank = state.tiles.indexOf(0);
  return directions.filter((direction) => blankAfter(state, blank, direction) !== undefined);
}

/** The places next to the blank. */
export function neighbours(state: TilesState): readonly number[] {
  const blank = state.tiles.indexOf(0);
  return directions
    .map((direction) => blankAfter(state, blank, direction))
    .filter((place) => place !== undefined);
}

/** The board with the blank moved to a neighbouring place, and the tile from there in its place. */
export function moveBlank({ columns, tiles }: TilesState, place: number): TilesState {
  const moved = [...tiles];
  moved[tiles.indexOf(0)] = tiles[place] ?? 0;
  moved[place] = 0;
  return { columns, tiles: moved };
}

function blankAfter(
  { columns, tiles }: TilesState,
  blank: number,
  direction: TilesAction,
): number | undefined {
  switch (direction) {
    case 'up':
      return blank >= columns ? blank - columns : undefined;
    case 'down':
      return blank + columns < tiles.length ? blank + columns : undefined;
    case 'left':
      return blank % columns > 0 ? blank - 1 : undefined;
    case 'right':
      return blank % columns < columns - 1 ? blank + 1 : undefined;
    // An action from a file may be anything, whatever its type.
    default:
      return undefined;
  }
}
