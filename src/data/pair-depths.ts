/** What is known of the position of a pair and of its sides. Unknown properties are `undefined`. */
export interface PairPlace {
  /** Edges from the root to where the sides part. */
  readonly depth: number;
  /** Whether nothing follows either side. */
  readonly isLast: boolean;
  /** Whether a right end is at or below the chosen side. */
  readonly chosenRight: boolean | undefined;
  /** The same of the rejected side. */
  readonly rejectedRight: boolean | undefined;
  /** By how much the chosen side is better. */
  readonly margin: number | undefined;
}

/** The pairs that part at one depth. */
export interface PairDepth {
  /** Edges from the root to where the sides part: 0 is the first step. */
  readonly depth: number;
  /** How many pairs. */
  readonly pairs: number;
  /** The number of pairs between two last steps, of solutions of several steps. */
  readonly last: number;
  /** The number of pairs with a right chosen side and a wrong rejected one: no right end is at or below it. */
  readonly rightWrong: number;
  /** How many have two right sides. */
  readonly rightRight: number;
  /** How many have two wrong sides. */
  readonly wrongWrong: number;
  /** The number of pairs for which it is not known which sides are right. */
  readonly unknown: number;
  /** The mean margin, where margins are known. */
  readonly meanMargin: number | undefined;
}

/** Pairs that change little in what a model does. */
export interface IdlePairs {
  /** Pairs between two last steps, of solutions of several steps. */
  readonly last: number;
  /** Other pairs of two wrong sides. */
  readonly wrongWrong: number;
  /** All pairs. */
  readonly pairs: number;
}

/** Greater depths are counted here. */
const deepest = 1_000;
/** The minimum number of pairs that says something about a dataset. */
const leastPairs = 20;

/** Counts pairs by the depth at which they part. */
export function pairDepths(): {
  add(place: PairPlace): void;
  report(): readonly PairDepth[];
  /** Pairs that change little, where they are most of twenty pairs or more; else `undefined`. */
  idle(): IdlePairs | undefined;
} {
  const counts = new Map<number, ReturnType<typeof emptyCount>>();
  const all = { pairs: 0, last: 0, wrongWrong: 0 };
  return {
    add(place) {
      const depth = Math.min(deepest, place.depth);
      const count = counts.get(depth) ?? emptyCount();
      counts.set(depth, count);
      const sides = sidesOf(place);
      count.pairs += 1;
      count[sides] += 1;
      if (place.margin !== undefined) {
        count.margins += 1;
        count.sum += place.margin;
      }
      all.pairs += 1;
      // What parts at the root and ends there is a whole answer, and no last step.
      if (place.isLast && depth > 0) {
        count.last += 1;
        all.last += 1;
      } else if (sides === 'wrongWrong') all.wrongWrong += 1;
    },
    report: () =>
      [...counts]
        .toSorted(([one], [other]) => one - other)
        .map(([depth, { margins, sum, ...count }]) => ({
          depth,
          ...count,
          meanMargin: margins === 0 ? undefined : sum / margins,
        })),
    idle() {
      const { pairs, last, wrongWrong } = all;
      return pairs >= leastPairs && last + wrongWrong > pairs / 2 ? { ...all } : undefined;
    },
  };
}

/** Which of the two sides are right; `unknown` where that is not known of both, or where only the rejected one is. */
function sidesOf({
  chosenRight,
  rejectedRight,
}: PairPlace): 'rightRight' | 'rightWrong' | 'unknown' | 'wrongWrong' {
  if (chosenRight === true && rejectedRight !== undefined) {
    return rejectedRight ? 'rightRight' : 'rightWrong';
  }
  return chosenRight === false && rejectedRight === false ? 'wrongWrong' : 'unknown';
}

function emptyCount() {
  return {
    pairs: 0,
    last: 0,
    rightWrong: 0,
    rightRight: 0,
    wrongWrong: 0,
    unknown: 0,
    margins: 0,
    sum: 0,
  };
}
