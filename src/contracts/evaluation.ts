/** How good a node is. */
export interface Evaluation {
  /** v(s), or Q(s, a) if it is about the action; in [0, 1]. */
  readonly value: number;
  /**
   * What was valued. About the `state`, the value is v(s): rewards on the path are added to it, and it scores an end
   * without a reward. About the `action`, it is Q(s, a), an estimate made before the action was taken: it replaces r +
   * γ · v(s′), and never scores an end.
   *
   * @defaultValue `'state'`
   */
  readonly about?: 'action' | 'state';
  /** The score before it was mapped to [0, 1], and the range it came from. */
  readonly raw?: {
    /** The score. */
    readonly score: number;
    /** The minimum and maximum possible score. */
    readonly range: readonly [number, number];
  };
  /** The values that were blended into this one. */
  readonly parts?: Readonly<Record<string, number>>;
  /** Why, in words. */
  readonly rationale?: string;
  /** The number of answers that could not be parsed, and are ignored. @defaultValue 0 */
  readonly unscored?: number;
}
