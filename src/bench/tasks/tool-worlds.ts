import { expectOptions } from '../../base/expect-options.ts';
import { seededRandom } from '../../base/random.ts';
import type { Random } from '../../contracts/context.ts';
import type { BenchTask } from '../task.ts';
import type { BenchTaskEntry } from './entry.ts';
import { merge } from './merge-world.ts';
import { refund } from './refund-world.ts';
import { readRequest } from './request.ts';
import { shop } from './shop-world.ts';
import { type ToolTask, withoutAnswer, worldOf } from './tool-task.ts';

type Kind = (random: Random, hasTraps: boolean) => ToolTask;

const shops: readonly Kind[] = [shop('stock'), shop('voucher'), shop('carts')];
const databases: readonly Kind[] = [refund, merge];

/** Orders of three things for the least money, by tools. Every third round has traps, from which there is no way back. */
export const shopEntry: BenchTaskEntry = {
  name: 'shop',
  title: 'orders in a shop, by tools',
  create(options = {}) {
    expectOptions('shop', options, '');
    return toolWorlds({ name: 'shop', title: 'Shop' }, shops);
  },
};

/** Refunds and merged accounts in a database, by tools. Every third round has traps, from which there is no way back. */
export const databaseEntry: BenchTaskEntry = {
  name: 'database',
  title: 'changes to a database of customers, by tools',
  create(options = {}) {
    expectOptions('database', options, '');
    return toolWorlds({ name: 'database', title: 'Database' }, databases);
  },
};

function toolWorlds(about: Pick<BenchTask, 'name' | 'title'>, kinds: readonly Kind[]): BenchTask {
  return {
    ...about,
    instances(request) {
      const { count, seed } = readRequest(this, request);
      return drawn(kinds, String(seed), count).map((task, place) => ({
        id: `${place + 1}-${task.kind}${task.hasTraps ? '-with-traps' : ''}`,
        environment: withoutAnswer(worldOf(task)),
      }));
    },
  };
}

/** As many tasks, of five kinds in turn; every third round of them has traps. */
export function toolTasks(seed: string, count: number): readonly ToolTask[] {
  return drawn([...shops, ...databases], seed, count);
}

function drawn(kinds: readonly Kind[], seed: string, count: number): readonly ToolTask[] {
  return Array.from({ length: count }, (_, place) => {
    const make = kinds[place % kinds.length] ?? refund;
    return make(seededRandom(`${seed}/${place}`), Math.floor(place / kinds.length) % 3 === 2);
  });
}
