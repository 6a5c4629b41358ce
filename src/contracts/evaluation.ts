/** How good a node is. */
export interface Evaluation {
  /** v(s), or Q(s, a) where it is about the action; in [0, 1]. */
  readonly value: number;
  /**
   * What was valued. A value about the `state` is v(s): rewards on the way are added to it, and it is the score of an end
   * that was not rewarded. A value about the `action` is Q(s, a), an opinion given before the action was taken: it stands
   * in for r + γ · v(s′), and is never the score of an end.
   *
   * @defaultValue `'state'`
   */
  readonly about?: 'action' | 'state';
  /** The score before it was mapped to [0, 1], and the range it came from. */
  readonly raw?: {
    /** The score. */
    readonly score: number;
    /** The least and the greatest score there is. */
    readonly range: readonly [number, number];
  };
  /** The values from which this one was blended. */
  readonly parts?: Readonly<Record<string, number>>;
  /** Why, in words. */
  readonly rationale?: string;
  /** How many answers could not be read, and do not count. @defaultValue 0 */
  readonly unscored?: number;
}
