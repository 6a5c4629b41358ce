import { expectOptions } from '../../base/expect-options.ts';
import { seededRandom } from '../../base/random.ts';
import type { Random } from '../../contracts/context.ts';
import type { BenchTask } from '../task.ts';
import type { BenchTaskOptions } from './entry.ts';
import { type KnownQuestion, questionInstance } from './question-instances.ts';
import { readRequest } from './request.ts';

/** How many steps an answer takes at least and at most, by split. */
const lengths: Readonly<Record<string, readonly [least: number, most: number]>> = {
  mixed: [2, 8],
  short: [2, 3],
  long: [6, 8],
};

/**
 * Questions that are drawn, with answers that are computed, as a task: no answer is known but to the oracle.
 *
 * @param draw - A question whose answer takes `steps` steps.
 */
export function drawnQuestions(
  about: Pick<BenchTask, 'name' | 'title'>,
  options: BenchTaskOptions,
  draw: (random: Random, steps: number) => Omit<KnownQuestion, 'id'>,
): BenchTask {
  expectOptions(about.name, options, '');
  return {
    ...about,
    splits: Object.keys(lengths),
    instances(request) {
      const { split = '', count, seed } = readRequest(this, request);
      const [least, most] = lengths[split] ?? [2, 8];
      const random = seededRandom(seed).split(about.name, split);
      return Array.from({ length: count }, (_, index) => {
        const own = random.split(index);
        const steps = least + own.integer(most - least + 1);
        const asked = { id: `${index + 1}-of-${steps}-steps`, ...draw(own, steps) };
        return questionInstance(asked);
      });
    },
  };
}

/** One of some things. */
export function oneOf<Item>(random: Random, items: readonly [Item, ...Item[]]): Item {
  return items[random.integer(items.length)] ?? items[0];
}

/** Things in a random order. */
export function shuffled<Item>(random: Random, items: readonly Item[]): readonly Item[] {
  const rest = [...items];
  return items.flatMap(() => rest.splice(random.integer(rest.length), 1));
}
