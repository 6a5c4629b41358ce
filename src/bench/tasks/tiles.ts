import { expectOptions } from '../../base/expect-options.ts';
import { slidingTiles } from '../../environments/index.ts';
import type { BenchTaskEntry } from './entry.ts';
import { puzzleTask } from './puzzle-task.ts';

/** Boards of three by three, at most 4 to 16 moves from their solutions: a random one takes 22. */
export const tilesEntry: BenchTaskEntry = {
  name: 'tiles',
  title: 'Sliding tiles',
  argument: { option: 'file', example: 'boards.txt', required: false },
  create(options = {}) {
    expectOptions('tiles', options, 'file');
    return puzzleTask({
      puzzle: slidingTiles,
      draw: (random) => slidingTiles.generate(random, { moves: 4 + random.integer(13) }),
      file: options.file,
    });
  },
};
