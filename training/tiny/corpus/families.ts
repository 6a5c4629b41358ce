import type { Random } from 'espalier';
import {
  type ArithmeticInstance,
  type ArithmeticState,
  blocksworld,
  countdown,
  gameOf24,
  type Rational,
} from 'espalier/environments';
// What is held out is a fact of the model, so the library has it.
import { isHeldOut } from '../../../src/backends/tiny/held-out.ts';
import { Truth } from './arithmetic.ts';
import { BlocksworldMap } from './blocks.ts';
import { type Label, type Position, pick } from './example.ts';

/** The puzzles that are learnt from, or those that are kept for measuring. */
export type Side = 'heldOut' | 'train';

/** A source of positions of one puzzle. */
export interface Family {
  readonly name: string;
  /** A position to take a step from. */
  step(): Position<unknown, unknown>;
  /** A position of which a judgement holds, or any where none with it was found. */
  judged(label: Label): Position<unknown, unknown>;
  /** The position after a step; `undefined` where it ends the puzzle. */
  after(position: Position<unknown, unknown>, step: string): Position<unknown, unknown> | undefined;
}

/** All ways to draw four numbers from 1 to 13, solvable or not, of one side. */
export function gamesOf24(side: Side): readonly (readonly number[])[] {
  const games: number[][] = [];
  for (let a = 1; a <= 13; a++)
    for (let b = a; b <= 13; b++)
      for (let c = b; c <= 13; c++) for (let d = c; d <= 13; d++) games.push([a, b, c, d]);
  return games.filter(
    (numbers) => isHeldOut(gameOf24.format({ numbers })) === (side === 'heldOut'),
  );
}

/** Game of 24. Steps start from puzzles that can be solved, judgements also from others. */
export function gameOf24Family(random: Random, side: Side): Family {
  const truth = new Truth<ArithmeticState<Rational>, unknown>(
    gameOf24.environment({ numbers: [1, 2, 3, 4] }),
  );
  const starts = gamesOf24(side).map((numbers) => gameOf24.environment({ numbers }).reset().state);
  const solvable = starts.filter((start) => truth.solvable(start));
  const walk = (from: readonly ArithmeticState<Rational>[], depths: readonly number[]) => {
    for (;;) {
      const position = truth.walk(random, pick(random, from), pick(random, depths));
      if (position !== undefined) return position;
    }
  };
  return arithmeticFamily('game24', {
    step: () => walk(solvable, [0, 0, 0, 0, 1, 1, 1, 1, 2, 2]),
    // The root is judged too, but seldom: a search has one of it and many of the others.
    any: () => walk(starts, [0, 1, 1, 1, 2]),
    after: (position, step) => truth.after(position, step),
  });
}

/** Countdown with four numbers, at most two of them large. */
export function countdownFamily(random: Random, side: Side): Family {
  let uses = 0;
  let start: ArithmeticState<number> | undefined;
  let truth: Truth<ArithmeticState<number>, unknown> | undefined;
  const walk = (depths: readonly number[]): Position<ArithmeticState<number>, unknown> => {
    for (;;) {
      if (start === undefined || truth === undefined || uses++ % 24 === 0) {
        const environment = countdown.environment(roundOf(random, side));
        start = environment.reset().state;
        truth = new Truth(environment);
      }
      const position = truth.walk(random, start, pick(random, depths));
      if (position !== undefined && position.outlook.legal.length > 0) return position;
    }
  };
  return arithmeticFamily('countdown', {
    step: () => walk([0, 0, 1, 1, 2]),
    any: () => walk([0, 1, 1, 2]),
    after: (position, step) => truth?.after(position, step),
  });
}

function roundOf(random: Random, side: Side): Required<ArithmeticInstance> {
  for (;;) {
    const round = countdown.generate(random, { numbers: 4, large: random.integer(3) });
    if (isHeldOut(countdown.format(round)) === (side === 'heldOut')) return round;
  }
}

interface Source<State> {
  step(): Position<State, unknown>;
  any(): Position<State, unknown>;
  after(position: Position<State, unknown>, step: string): Position<State, unknown> | undefined;
}

function arithmeticFamily<State>(name: string, source: Source<State>): Family {
  return {
    name,
    step: source.step,
    judged: (label) => search(source.any, label),
    after: (position, step) => source.after(position as Position<State, unknown>, step),
  };
}

function search<State>(
  draw: () => Position<State, unknown>,
  label: Label,
): Position<State, unknown> {
  let position = draw();
  for (let attempt = 0; attempt < 60 && position.outlook.label !== label; attempt++) {
    position = draw();
  }
  return position;
}

/** Blocksworld with three to five blocks. */
export function blocksworldFamily(random: Random, side: Side): Family {
  let uses = 0;
  let map: BlocksworldMap | undefined;
  const walk = (): Position<unknown, unknown> => {
    for (;;) {
      if (map === undefined || uses++ % 16 === 0) map = mapOf(random, side);
      const position = map.walk(random, random.integer(9));
      if (position !== undefined) return position;
    }
  };
  return {
    name: 'blocksworld',
    step: walk,
    judged: (label) => search(walk, label === 'impossible' ? 'likely' : label),
    after: (position, step) => map?.after(position, step),
  };
}

function mapOf(random: Random, side: Side): BlocksworldMap {
  for (;;) {
    const instance = blocksworld.generate(random, { blocks: pick(random, [3, 4, 4, 4, 5]) });
    if (isHeldOut(blocksworld.format(instance)) === (side === 'heldOut')) {
      return new BlocksworldMap(instance);
    }
  }
}
