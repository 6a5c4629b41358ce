/** The place of a block on the table. */
export const TABLE = -1;

/** The place of the block that the hand holds. */
export const HAND = -2;

/** Where every block is, and the goal. A problem is its state at the start. */
export interface BlocksworldState {
  /**
   * The names of the blocks: different words of lower-case letters, digits, `-` and `_`. Everywhere else a block is its
   * index in this list.
   */
  readonly blocks: readonly string[];
  /** The place of each block: the index of the block below it, −1 on the table or −2 in the hand. */
  readonly places: readonly number[];
  /** The goal, all of which must hold at the end. The same object in all states of a search. */
  readonly goal: {
    /** The required place of each block, or `null` if it does not matter. */
    readonly places: readonly (number | null)[];
    /** The blocks that must be clear, in ascending order. A held block is not clear either. */
    readonly clear: readonly number[];
    /** Whether the hand must be empty. */
    readonly handEmpty: boolean;
  };
}

export type BlocksworldGoal = BlocksworldState['goal'];

/** The block on each block; `undefined` for a clear one. */
export function blocksAbove(places: readonly (number | null)[]): readonly (number | undefined)[] {
  const above = new Array<number | undefined>(places.length).fill(undefined);
  for (let block = 0; block < places.length; block++) {
    const place = places[block];
    if (typeof place === 'number' && place >= 0) above[place] = block;
  }
  return above;
}

/** The facts of a goal, each with whether it holds in `state`. */
export function goalFacts(
  state: BlocksworldState,
): readonly { readonly fact: string; readonly holds: boolean }[] {
  const { blocks, places, goal } = state;
  const above = blocksAbove(places);
  const facts = goal.places.flatMap((wanted, block) =>
    wanted === null
      ? []
      : [{ fact: placeFact(blocks, block, wanted), holds: places[block] === wanted }],
  );
  for (const block of goal.clear) {
    const holds = above[block] === undefined && places[block] !== HAND;
    facts.push({ fact: `(clear ${blocks[block]})`, holds });
  }
  if (goal.handEmpty) facts.push({ fact: '(handempty)', holds: !places.includes(HAND) });
  return facts;
}

/** The fact that a block is at a place, in PDDL. */
export function placeFact(blocks: readonly string[], block: number, place: number): string {
  if (place === TABLE) return `(ontable ${blocks[block]})`;
  if (place === HAND) return `(holding ${blocks[block]})`;
  return `(on ${blocks[block]} ${blocks[place]})`;
}

/** All facts that hold for these places, in PDDL. */
export function stateFacts(
  blocks: readonly string[],
  places: readonly number[],
): readonly string[] {
  const above = blocksAbove(places);
  const clear = blocks.filter(
    (_name, block) => above[block] === undefined && places[block] !== HAND,
  );
  return [
    ...(places.includes(HAND) ? [] : ['(handempty)']),
    ...places.map((place, block) => placeFact(blocks, block, place)),
    ...clear.map((name) => `(clear ${name})`),
  ];
}

/** Whether the whole goal holds. */
export function isGoal(state: BlocksworldState): boolean {
  const { places, goal } = state;
  for (let block = 0; block < places.length; block++) {
    const wanted = goal.places[block];
    if (wanted !== null && wanted !== places[block]) return false;
  }
  if (goal.handEmpty && places.includes(HAND)) return false;
  return goal.clear.every((block) => places[block] !== HAND && !places.includes(block));
}
