/** A question and the progress of its solution. Plain JSON. */
export interface ReasoningState {
  /** The question. */
  readonly question: string;
  /** The steps so far, in order. */
  readonly steps: readonly string[];
  /** The final answer that the last step states, as written there; absent if there is none yet. */
  readonly answer?: string;
}
