import { basename } from 'node:path';
import { isHeldOut } from '../../backends/tiny/held-out.ts';
import { EspalierError } from '../../base/errors.ts';
import { expectOptions } from '../../base/expect-options.ts';
import { seededRandom } from '../../base/random.ts';
import { gameOf24, solvablePuzzles } from '../../environments/index.ts';
import type { BenchTask } from '../task.ts';
import { csvCells } from './csv.ts';
import type { BenchTaskEntry } from './entry.ts';
import { different, type NamedPuzzle, parsed, puzzleInstance } from './puzzle-task.ts';
import { readRequest } from './request.ts';
import { lineFault, readTaskLines, titleOf } from './task-file.ts';

/** The longest step, in tokens, such as `10 - 4 = 6 (left: 6 9 13)`. */
export const longestGameStep = 24;

/** Game of 24, drawn from the 1,362 puzzles that can be solved, or from a file. */
export const game24Entry: BenchTaskEntry = {
  name: 'game24',
  title: 'Game of 24',
  paper: 'Yao et al., Tree of Thoughts, 2023, arXiv:2305.10601',
  argument: { option: 'file', example: 'game24.csv', required: false },
  create(options = {}) {
    expectOptions('game24', options, 'file');
    return options.file === undefined ? drawnGames : gamesOf(options.file);
  },
};

const drawnGames: BenchTask = {
  name: 'game24',
  title: 'Game of 24',
  splits: ['unseen', 'all'],
  instances(request) {
    const { split, count, seed } = readRequest(this, request);
    return shuffledGames(seed, split === 'unseen')
      .slice(0, count)
      .map((numbers) => puzzleInstance(gameOf24, { instance: { numbers } }, longestGameStep));
  },
};

/** The solvable puzzles that the packaged model has not learnt from, in a random order. */
export function unseenGames(seed: number | string): readonly (readonly number[])[] {
  return shuffledGames(seed, true);
}

function shuffledGames(seed: number | string, isUnseen: boolean): readonly (readonly number[])[] {
  const random = seededRandom(seed);
  const rest = solvablePuzzles()
    .map(({ numbers }) => numbers)
    .filter((numbers) => !isUnseen || isHeldOut(gameOf24.format({ numbers })));
  const { length } = rest;
  return Array.from({ length }, () => rest.splice(random.integer(rest.length), 1)).flat(1);
}

type Game = Parameters<typeof gameOf24.environment>[0];

interface RankedGame extends NamedPuzzle<Game> {
  readonly rank: number;
}

/** Papers report on the 100 puzzles of ranks 901 to 1,000 of the published file. */
const papers = { from: 901, to: 1_000 };

function gamesOf(file: string): BenchTask {
  return {
    name: 'game24',
    title: titleOf('Game of 24', file),
    source: basename(file),
    splits: ['all', 'unseen', 'ranks-901-1000'],
    instances(request) {
      const { split, limit } = readRequest(this, request);
      const games = readGames(file).filter(({ instance, rank }) => {
        if (split === 'all') return true;
        if (split === 'unseen') return isUnseen(instance);
        return rank >= papers.from && rank <= papers.to;
      });
      if (games.length === 0) {
        const message = `There is no puzzle of the split \`${split}\` in \`${file}\`.`;
        throw new EspalierError('usage', message);
      }
      return different(gameOf24, games)
        .slice(0, limit)
        .map((game) => puzzleInstance(gameOf24, game, longestGameStep));
    },
  };
}

/** The packaged model has learnt a puzzle in whatever order its numbers stand. */
function isUnseen({ numbers, ...rest }: Game): boolean {
  const ascending = numbers.toSorted((one, other) => one - other);
  return isHeldOut(gameOf24.format({ ...rest, numbers: ascending }));
}

/**
 * The puzzles of a table with a column `Puzzles`, as in `1 1 4 6`, and maybe one `Rank`; or of a file with a puzzle on
 * each line.
 */
function readGames(file: string): readonly RankedGame[] {
  const lines = readTaskLines(file);
  const [first, ...rest] = lines;
  const heads = csvCells(first?.text ?? '').map((head) => head.toLowerCase());
  const column = heads.findIndex((head) => head === 'puzzles' || head === 'puzzle');
  if (column < 0) {
    return lines.map((line, index) => ({ instance: parsed(gameOf24, line), rank: index + 1 }));
  }
  if (first !== undefined && rest.length === 0) throw lineFault(first, 'expected puzzles below');
  const ranks = heads.indexOf('rank');
  return rest.map((line, index) => {
    const cells = csvCells(line.text);
    const puzzle = cells[column];
    if (puzzle === undefined) throw lineFault(line, `expected ${heads.length} columns`);
    const rank = ranks < 0 ? index + 1 : Number(cells[ranks]);
    if (!Number.isInteger(rank)) throw lineFault(line, 'expected a whole number as its rank');
    return { instance: parsed(gameOf24, line, puzzle), rank };
  });
}
