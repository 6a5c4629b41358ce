import { EspalierError } from '../base/errors.ts';
import { heuristic } from '../values/heuristic.ts';
import { listPolicy, type Problem } from './problem.ts';

/** Interesting positions: a win, a threat, a fork, a draw, a lost game. */
export const ticTacToePositions: Readonly<Record<string, string>> = {
  'the empty board is a draw': '.........',
  'a row can be completed': 'xx.oo....',
  'a row must be blocked': '..x.oo..x',
  'a fork must be prepared': 'o......x.',
  'two rows cannot both be blocked': '.xo.o..x.',
};

/**
 * Tic-tac-toe against a perfect opponent, from a position with the agent to move. An action is the cell to mark; the
 * opponent replies within the same step. The evaluator is uninformed: 0.5.
 *
 * @param start - The position: nine of `x`, `o` and `.`, row by row. It is the turn of `x`, who plays the agent's part.
 */
export function ticTacToe(start: string = '.........'): Problem<string, number> & {
  /** The result of perfect play: 1 for a win, 0.5 for a draw, 0 for a loss. */
  readonly value: number;
  /** The cells, from 0 to 8, that achieve it. */
  readonly best: readonly number[];
} {
  if (!/^[xo.]{9}$/.test(start) || outcome(start) !== undefined) {
    throw new EspalierError(
      'usage',
      `Expected \`start\` to be a game under way, got \`${start}\`.`,
    );
  }
  const value = worth(start, 'x');
  return {
    value,
    best: cellsOf(start).filter((cell) => worth(mark(start, cell, 'x'), 'o') === value),
    environment: {
      name: 'tic-tac-toe',
      reset: () => ({ state: start }),
      step(board, cell) {
        if (board[cell] !== '.') throw new EspalierError('usage', `Cell ${cell} is not free.`);
        const marked = mark(board, cell, 'x');
        const state = outcome(marked) === undefined ? answer(marked) : marked;
        const reward = outcome(state);
        return reward === undefined ? { state } : { state, reward, terminal: true };
      },
      key: (board) => board,
      answer: (board) => (outcome(board) === undefined ? undefined : board),
    },
    policy: listPolicy((board) => legalCells(board).map((action) => ({ action }))),
    evaluator: heuristic(() => 0.5),
  };
}

type Player = 'x' | 'o';

const lines: readonly (readonly [number, number, number])[] = [
  [0, 1, 2],
  [3, 4, 5],
  [6, 7, 8],
  [0, 3, 6],
  [1, 4, 7],
  [2, 5, 8],
  [0, 4, 8],
  [2, 4, 6],
];

/** The result of a finished game for `x`. */
function outcome(board: string): number | undefined {
  for (const [a, b, c] of lines) {
    const player = board[a];
    if (player !== '.' && player === board[b] && player === board[c]) return player === 'x' ? 1 : 0;
  }
  return board.includes('.') ? undefined : 0.5;
}

/** The legal cells; none after a row of three. */
function legalCells(board: string): readonly number[] {
  return outcome(board) === undefined ? cellsOf(board) : [];
}

function cellsOf(board: string): readonly number[] {
  return [...board].flatMap((player, cell) => (player === '.' ? [cell] : []));
}

function mark(board: string, cell: number, player: Player): string {
  return `${board.slice(0, cell)}${player}${board.slice(cell + 1)}`;
}

/** The first of the opponent's best replies. */
function answer(board: string): string {
  const replies = cellsOf(board).map((cell) => mark(board, cell, 'o'));
  return replies.reduce((best, reply) => (worth(reply, 'x') < worth(best, 'x') ? reply : best));
}

const known = new Map<string, number>();

/** Minimax: the result for `x` if `turn` is to move and both play perfectly. */
function worth(board: string, turn: Player): number {
  const key = board + turn;
  const before = known.get(key);
  if (before !== undefined) return before;
  const other = turn === 'x' ? 'o' : 'x';
  const after = () => cellsOf(board).map((cell) => worth(mark(board, cell, turn), other));
  const value = outcome(board) ?? (turn === 'x' ? Math.max(...after()) : Math.min(...after()));
  known.set(key, value);
  return value;
}
