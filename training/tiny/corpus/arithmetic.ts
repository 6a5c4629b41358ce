import type { Parsed, Random } from 'espalier';
import type { PuzzleEnvironment } from 'espalier/environments';
import { type Label, type Outlook, type Position, pick } from './example.ts';

/** The exact truth about the states of number puzzles, worked out once for each. */
export class Truth<State extends { readonly numbers: readonly unknown[] }, Action> {
  readonly #environment: PuzzleEnvironment<State, Action>;
  readonly #solvable = new Map<string, boolean>();
  readonly #outlooks = new Map<string, Outlook>();

  constructor(environment: PuzzleEnvironment<State, Action>) {
    this.#environment = environment;
  }

  /** Whether the goal can be reached. */
  solvable(state: State): boolean {
    const key = this.#environment.key(state);
    const known = this.#solvable.get(key);
    if (known !== undefined) return known;
    const { actions, step } = this.#environment;
    const found = actions(state).some((action) => this.#keeps(step(state, action)));
    this.#solvable.set(key, found);
    return found;
  }

  /** What can be done in a state, and how good that is. */
  outlook(state: State): Outlook {
    const key = this.#environment.key(state);
    const known = this.#outlooks.get(key);
    if (known !== undefined) return known;
    const { actions, step, notation } = this.#environment;
    const all = actions(state).map((action) => ({
      text: notation.format(action),
      keeps: this.#keeps(step(state, action)),
    }));
    const legal = all.map(({ text }) => text);
    const good = all.filter(({ keeps }) => keeps).map(({ text }) => text);
    const outlook = { legal, good, label: labelOf(state, legal.length, good.length) };
    this.#outlooks.set(key, outlook);
    return outlook;
  }

  /** A state some steps after `start`: most steps on the way are good ones, where there are any. */
  walk(random: Random, start: State, depth: number): Position<State, Action> | undefined {
    const { step, notation } = this.#environment;
    let state = start;
    for (let taken = 0; taken < depth; taken++) {
      const { legal, good } = this.outlook(state);
      const text = pick(random, good.length > 0 && random.next() < 0.6 ? good : legal);
      const action = readAction(notation.parse(text, state));
      const next = step(state, action);
      if (next.terminal === true) return undefined;
      state = next.state;
    }
    return this.position(state);
  }

  /** A state with what is true of it. */
  position(state: State): Position<State, Action> {
    return { notation: this.#environment.notation, state, outlook: this.outlook(state) };
  }

  /** What is true after a step; `undefined` where the step ends the puzzle. */
  after({ state }: Position<State, Action>, step: string): Position<State, Action> | undefined {
    const { notation, step: take } = this.#environment;
    const next = take(state, readAction(notation.parse(step, state)));
    return next.terminal === true ? undefined : this.position(next.state);
  }

  #keeps(next: { readonly state: State; readonly reward?: number; readonly terminal?: boolean }) {
    return next.terminal === true ? next.reward === 1 : this.solvable(next.state);
  }
}

/** Steps that the puzzle lists can be read. */
function readAction<Action>(parsed: Parsed<Action>): Action {
  if ('failure' in parsed) throw new Error(parsed.failure.message);
  return parsed.action;
}

/** `sure` where one step is left, or where many a step is a good one. */
function labelOf(
  { numbers }: { readonly numbers: readonly unknown[] },
  legal: number,
  good: number,
): Label {
  if (good === 0) return 'impossible';
  return numbers.length === 2 || good / legal >= 0.15 ? 'sure' : 'likely';
}
