import { describe, expect, test } from 'vitest';
import { turn } from '#platform';
import { failureFrom } from '../../../src/base/failure.ts';
import { seededRandom } from '../../../src/base/random.ts';
import { Pool } from '../../../src/environments/worlds/pool.ts';
import { actCall, type Mode, ModelWorlds, type Said } from './model-world.ts';

const modes = ['fork', 'snapshot', 'undo', 'reset'] as const;

/** Forty walks at once, some of which give up or break. */
async function walkAtRandom(mode: Mode, instances: number, seed: number): Promise<void> {
  const random = seededRandom(`walk ${seed}`);
  const worlds = new ModelWorlds(mode);
  const snapshots = seed % 3 === 0 ? { snapshots: random.integer(4) } : {};
  const rest = mode === 'undo' && seed % 2 === 0 ? ('back' as const) : ('stay' as const);
  const pool = new Pool(worlds.options({ instances, rest, ...snapshots }));
  const paths: (readonly Said[])[] = [[]];
  let inUse = 0;
  const walk = async (index: number): Promise<void> => {
    for (let turns = random.integer(30); turns > 0; turns--) await Promise.resolve();
    const path = paths[random.integer(paths.length)] ?? [];
    const fate = random.integer(10);
    const signal = fate === 0 ? AbortSignal.abort(new Error('late')) : undefined;
    const using = pool.at(path, actCall(signal), async (world, did) => {
      expect(++inUse).toBeLessThanOrEqual(instances);
      expect(world.isClosed).toBe(false);
      expect(world.words.join(' ')).toBe(path.at(-1)?.held ?? '');
      const said = await worlds.say(world, `${index}${'abc'[random.integer(3)]}`);
      did(said);
      inUse--;
      if (fate === 1) throw new Error('broken');
      paths.push([...path, said]);
    });
    const outcome = await using.then(
      () => 'done',
      (error: Error) => error.message,
    );
    expect(outcome).toBe(['late', 'broken'][fate] ?? 'done');
  };
  await Promise.all(Array.from({ length: 40 }, (_, index) => walk(index)));
  expect(paths.length).toBeGreaterThan(20);
  if (rest === 'back') for (const world of worlds.open) expect(world.words).toEqual([]);
  await pool.close();
  expect(worlds.open).toEqual([]);
}

describe.each(modes)('a pool of worlds with %s', (mode: Mode) => {
  test.each([1, 2, 3, 5])('has each stand at its path, %i at a time', async (instances) => {
    for (let seed = 0; seed < 12; seed++) await walkAtRandom(mode, instances, seed);
  });

  test('fails a path that has drifted, and no other', async () => {
    const worlds = new ModelWorlds(mode);
    const pool = new Pool(worlds.options({ instances: 1, snapshots: 0 }));
    const one = await worlds.goOn(pool, [], 'one');
    const two = await worlds.goOn(pool, [], 'two');
    const deep = await worlds.goOn(pool, one, 'deep');
    await worlds.goOn(pool, two, 'deep');
    worlds.drifting.add('one');
    for (const path of [one, deep]) {
      const error: unknown = await worlds.goOn(pool, path, 'more').catch((thrown) => thrown);
      expect(failureFrom(error, 'environment')).toEqual({
        kind: 'stale',
        message:
          'Step 1 on the path to this state had another outcome than before. Continue from an earlier state.',
      });
      expect(await worlds.goOn(pool, two, 'on')).toHaveLength(2);
    }
    await pool.close();
  });
});

describe('a pool', () => {
  test('does nothing again where a world stands at the path, or a state was kept', async () => {
    for (const mode of ['fork', 'snapshot'] as const) {
      const worlds = new ModelWorlds(mode);
      const pool = new Pool(worlds.options({ instances: 1 }));
      const one = await worlds.goOn(pool, [], 'one');
      const two = await worlds.goOn(pool, one, 'two');
      await worlds.goOn(pool, [], 'other');
      await worlds.goOn(pool, two, 'three');
      await worlds.goOn(pool, one, 'four');
      expect(worlds.acts).toBe(0);
      await pool.close();
    }
  });

  test('lends the world that is nearest', async () => {
    const worlds = new ModelWorlds('reset');
    const pool = new Pool(worlds.options({ instances: 2 }));
    const [left, right] = await Promise.all([
      worlds.goOn(pool, [], 'left'),
      worlds.goOn(pool, [], 'right'),
    ]);
    const further = await worlds.goOn(pool, right, 'further');
    await worlds.goOn(pool, left, 'further');
    await worlds.goOn(pool, further, 'still');
    expect(worlds.acts).toBe(0);
    expect(worlds.all).toHaveLength(2);
    await pool.close();
  });

  test('opens no more than it needs', async () => {
    const worlds = new ModelWorlds('reset');
    const pool = new Pool(worlds.options({ instances: 8 }));
    expect(worlds.all).toHaveLength(0);
    for (let index = 0; index < 5; index++) await worlds.goOn(pool, [], `${index}`);
    expect(worlds.all).toHaveLength(1);
    await pool.close();
  });
});

describe('the line in front of a pool', () => {
  test('serves in the order of asking, and lets go of those who give up', async () => {
    const worlds = new ModelWorlds('reset');
    const pool = new Pool(worlds.options({ instances: 1 }));
    const order: number[] = [];
    const gaveUp = new AbortController();
    const all = Array.from({ length: 6 }, (_, index) =>
      pool.at([], actCall(index === 3 ? gaveUp.signal : undefined), async () => {
        await turn();
        order.push(index);
      }),
    );
    gaveUp.abort(new Error('given up'));
    await expect(all[3]).rejects.toThrow('given up');
    await Promise.allSettled(all);
    expect(order).toEqual([0, 1, 2, 4, 5]);
    await pool.close();
  });

  test('keeps lent what does not settle, and lends the others', async () => {
    const worlds = new ModelWorlds('reset');
    const pool = new Pool(worlds.options({ instances: 2 }));
    void pool.at([], actCall(), () => new Promise(() => {}));
    await turn();
    for (let index = 0; index < 3; index++) await worlds.goOn(pool, [], `${index}`);
    expect(worlds.all).toHaveLength(2);
    await pool.close();
    expect(worlds.open).toEqual([]);
  });

  test('opens another world in the place of one that threw, and closes that', async () => {
    const worlds = new ModelWorlds('reset');
    const pool = new Pool(worlds.options({ instances: 1 }));
    const broken = pool.at([], actCall(), () => Promise.reject(new Error('It broke.')));
    await expect(broken).rejects.toThrow('It broke.');
    await worlds.goOn(pool, [], 'on');
    expect(worlds.all.map(({ isClosed }) => isClosed)).toEqual([true, false]);
    await pool.close();
  });

  test('goes on after a world could not be opened', async () => {
    const worlds = new ModelWorlds('reset');
    let tries = 0;
    const create = () => {
      if (++tries < 3) throw new Error('no room');
      return worlds.create();
    };
    const pool = new Pool(worlds.options({ instances: 1, create }));
    const all = ['a', 'b', 'c', 'd'].map((word) => worlds.goOn(pool, [], word));
    const settled = await Promise.allSettled(all);
    expect(settled.map(({ status }) => status)).toEqual([
      'rejected',
      'rejected',
      'fulfilled',
      'fulfilled',
    ]);
    await pool.close();
  });
});

describe('the rest of a pool', () => {
  test('takes back what was done when nobody waits, also after a failure', async () => {
    const worlds = new ModelWorlds('undo');
    const pool = new Pool(worlds.options({ instances: 1, rest: 'back' }));
    const one = await worlds.goOn(pool, [], 'one');
    expect(worlds.open[0]?.words).toEqual([]);
    const failed = pool.at(one, actCall(), async (world, did) => {
      did(await worlds.say(world, 'two'));
      throw new Error('It broke.');
    });
    await expect(failed).rejects.toThrow('It broke.');
    expect(worlds.all[0]?.words).toEqual([]);
    // Handed from one to the next it stays where it is.
    worlds.undone = 0;
    await Promise.all(['a', 'b', 'c'].map((word) => worlds.goOn(pool, one, word)));
    expect(worlds.undone).toBe(4);
    expect(worlds.open[0]?.words).toEqual([]);
    await pool.close();
  });

  test('lends what cannot be brought back as it stands', async () => {
    const worlds = new ModelWorlds('none');
    const pool = new Pool(worlds.options({ instances: 1 }));
    const say = (word: string) =>
      pool.at([], actCall(), async (world, did) => did(await worlds.say(world, word)));
    await say('one');
    await say('two');
    expect(worlds.open[0]?.words).toEqual(['one', 'two']);
    await pool.close();
  });

  test('refuses those who wait when it is closed, and opens anew when asked again', async () => {
    const worlds = new ModelWorlds('reset');
    const pool = new Pool(worlds.options({ instances: 1 }));
    void pool.at([], actCall(), () => new Promise(() => {}));
    const waiting = worlds.goOn(pool, [], 'late');
    const refused = expect(waiting).rejects.toThrow('closed while a step was in progress');
    await turn();
    await pool.close();
    await refused;
    expect(worlds.open).toEqual([]);
    expect(await worlds.goOn(pool, [], 'again')).toHaveLength(1);
    await pool.close();
  });
});
