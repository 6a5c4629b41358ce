/** A question and how far its solution has come. Plain JSON. */
export interface ReasoningState {
  /** What is asked. */
  readonly question: string;
  /** The steps so far, in order. */
  readonly steps: readonly string[];
  /** The final answer that the last step states, as it is written there. Left out: none yet. */
  readonly answer?: string;
}
