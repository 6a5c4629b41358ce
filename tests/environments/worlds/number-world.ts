import type { MaybePromise } from '../../../src/contracts/json.ts';
import type { Seen, World } from '../../../src/contracts/world.ts';
import type { WorldState } from '../../../src/environments/index.ts';
import type { Loose } from '../../support/loose.ts';

export type Move = 'add 1' | 'double' | 'triple';
export type NumberState = WorldState<Move, string>;
export const moves: readonly Move[] = ['add 1', 'double', 'triple'];

/** How a number world gets back, besides from its start. */
export type Return = 'fork' | 'snapshot' | 'undo' | 'reset';

/** Worlds that hold a number, which starts at 1 and is to become 28; and what was done to them. */
export class NumberWorlds {
  readonly by: Return;
  open = 0;
  opened = 0;
  /** Every act, also those that are done again. */
  readonly acts: Move[] = [];
  /** Acts that end otherwise from now on. */
  drift: Move | undefined;
  /** Told before each act. */
  before: (move: Move) => MaybePromise<void> = () => {};
  readonly more: Partial<World<Move, string>>;

  constructor(by: Return, more: Partial<World<Move, string>> = {}) {
    this.by = by;
    this.more = more;
  }

  readonly create = (): World<Move, string> => this.#world(Number.NaN);

  #world(start: number): World<Move, string> {
    this.open++;
    this.opened++;
    let held = start;
    const numbers: number[] = [];
    const kept: number[] = [];
    const seen = (): Seen<string> => ({
      observation: `The number is ${held}.`,
      ...(held >= 28 && { terminal: true, reward: held === 28 ? 1 : 0 }),
    });
    return {
      reset: async () => {
        await Promise.resolve();
        held = 1;
        return seen();
      },
      act: async (move) => {
        await this.before(move);
        this.acts.push(move);
        numbers.push(held);
        if (Number.isNaN(held)) throw new Error('It was never started.');
        held = { 'add 1': held + 1, double: held * 2, triple: held * 3 }[move];
        if (move === this.drift) held += 100;
        return seen();
      },
      close: () => {
        this.open--;
      },
      ...(this.by === 'fork' && { fork: (): Loose => this.#world(held) }),
      ...(this.by === 'snapshot' && {
        snapshot: () => kept.push(held) - 1,
        restore: (index: unknown) => {
          held = kept[index as number] ?? Number.NaN;
        },
      }),
      ...(this.by === 'undo' && {
        undo: () => {
          held = numbers.pop() ?? Number.NaN;
        },
      }),
      ...this.more,
    };
  }
}

/** What may be done in a state. */
export function movesIn({ start, steps }: NumberState): readonly Move[] {
  const { observation } = steps.at(-1) ?? start;
  return Number(/\d+/.exec(observation)?.[0]) >= 28 ? [] : moves;
}
