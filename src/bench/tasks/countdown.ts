import { expectOptions } from '../../base/expect-options.ts';
import { countdown } from '../../environments/index.ts';
import type { BenchTaskEntry } from './entry.ts';
import { puzzleTask } from './puzzle-task.ts';

/** Rounds of Countdown with four numbers, none to two of them large. */
export const countdownEntry: BenchTaskEntry = {
  name: 'countdown',
  title: 'Countdown',
  argument: { option: 'file', example: 'rounds.txt', required: false },
  create(options = {}) {
    expectOptions('countdown', options, 'file');
    return puzzleTask({
      puzzle: countdown,
      draw: (random) => countdown.generate(random, { numbers: 4, large: random.integer(3) }),
      file: options.file,
    });
  },
};
