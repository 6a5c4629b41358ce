/** How good a node is. */
export interface Evaluation {
  /** v(s) in [0, 1]. */
  readonly value: number;
  /** The score before it was mapped to [0, 1], and the range it came from. */
  readonly raw?: RawScore;
  /** The values from which this one was blended. */
  readonly parts?: Readonly<Record<string, number>>;
  /** Why, in words. */
  readonly rationale?: string;
  /** How many answers could not be read, and do not count. @defaultValue 0 */
  readonly unscored?: number;
}

/** A score on a scale of its own. */
export interface RawScore {
  /** The score. */
  readonly score: number;
  /** The least and the greatest score there is. */
  readonly range: readonly [number, number];
}
