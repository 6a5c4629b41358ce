import { expect } from 'vitest';
import { seededRandom } from '../../../src/base/random.ts';
import type { Random } from '../../../src/contracts/context.ts';
import type { ActCall, Workspace } from '../../../src/contracts/world.ts';
import type { Pool, PoolOptions } from '../../../src/environments/worlds/pool.ts';
import type { Loose } from '../../support/loose.ts';

/** How worlds of a test get from one state to another. */
export type Mode = 'fork' | 'snapshot' | 'undo' | 'reset' | 'none';

/** What is done in a model world: a word is added to what it holds. */
export interface Said {
  readonly word: string;
  /** What it held afterwards. */
  readonly held: string;
}

/** A world that holds the words that were said in it, and counts what is done to it. */
export interface ModelWorld extends Workspace {
  words: string[];
  isClosed: boolean;
}

/** Worlds of a test, and what happens to them. */
export class ModelWorlds {
  readonly mode: Mode;
  /** All that were ever opened, copies too. */
  readonly all: ModelWorld[] = [];
  /** How many acts were done again, or taken back. */
  acts = 0;
  undone = 0;
  /** Words that turn out otherwise from now on. */
  readonly drifting: Set<string> = new Set();
  readonly random: Random = seededRandom('worlds');

  constructor(mode: Mode) {
    this.mode = mode;
  }

  get open(): readonly ModelWorld[] {
    return this.all.filter(({ isClosed }) => !isClosed);
  }

  create(words: readonly string[] = []): ModelWorld {
    const { mode } = this;
    const snapshots: string[][] = [];
    const world: ModelWorld = {
      words: [...words],
      isClosed: false,
      close: () => {
        world.isClosed = true;
      },
      ...(mode === 'reset' && {
        reset: async () => {
          await this.pause();
          world.words = [];
        },
      }),
      ...(mode === 'fork' && {
        fork: async (): Promise<Loose> => {
          const copy = [...world.words];
          await this.pause();
          return this.create(copy);
        },
      }),
      ...(mode === 'snapshot' && {
        snapshot: async () => snapshots.push([...world.words]) - 1,
        restore: async (snapshot) => {
          await this.pause();
          const kept = snapshots[snapshot as number];
          if (kept === undefined) throw new Error('It was forgotten.');
          world.words = [...kept];
        },
        forget: (snapshot) => {
          delete snapshots[snapshot as number];
        },
      }),
    };
    this.all.push(world);
    return world;
  }

  /** Gives way to others now and then. */
  async pause(): Promise<void> {
    for (let turns = this.random.integer(3); turns > 0; turns--) await Promise.resolve();
  }

  async say(world: ModelWorld, word: string): Promise<Said> {
    await this.pause();
    const said = this.drifting.has(word) ? `${word}?` : word;
    world.words.push(said);
    return { word, held: world.words.join(' ') };
  }

  /** Goes one word on from a path. */
  goOn(pool: Pool<ModelWorld, Said>, path: readonly Said[], word: string): Promise<Said[]> {
    return pool.at(path, actCall(), async (world, did) => {
      expect(world.words.join(' ')).toBe(path.at(-1)?.held ?? '');
      const said = await this.say(world, word);
      did(said);
      return [...path, said];
    });
  }

  options(changes: Partial<PoolOptions<ModelWorld, Said>> = {}): PoolOptions<ModelWorld, Said> {
    return {
      create: () => this.create(),
      instances: 3,
      keyOf: ({ word, held }) => `${word} ${held}`,
      act: async (world, { word, held }) => {
        this.acts++;
        return (await this.say(world, word)).held === held;
      },
      ...(this.mode === 'undo' && {
        undo: async (world: ModelWorld) => {
          await this.pause();
          this.undone++;
          world.words.pop();
        },
      }),
      rest: 'stay',
      ...changes,
    };
  }
}

/** What surrounds an act in tests. */
export function actCall(signal: AbortSignal = new AbortController().signal): ActCall {
  return { signal, clock: { now: () => 0, sleep: () => Promise.resolve() }, id: 'test' };
}
