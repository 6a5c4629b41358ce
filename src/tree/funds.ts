/** What is left of one budget unit, and what continuing costs in it. */
export interface Funds {
  /** What is left. */
  readonly left: number;
  /** What there was at the start. */
  readonly whole: number;
  /** The cost of one step towards an answer; 0 while unknown. */
  readonly step: number;
  /** D̂, the number of steps to an answer. */
  readonly depth: number;
  /** The cost of the most expensive simulation so far. */
  readonly simulation: number;
  /** R, the reserve that keeps an answer affordable. */
  readonly reserve: number;
}

/** T̂(d), the cost of an answer from depth d. */
export function toAnswer({ step, depth }: Funds, from: number): number {
  return step * Math.max(1, depth - from);
}

/** E, how many answers are still affordable from a depth on. */
export function answersLeft(funds: Funds, from: number): number {
  const price = toAnswer(funds, from);
  return price === 0 ? Number.POSITIVE_INFINITY : (funds.left - funds.reserve) / price;
}

/** ρ, the share that is left. */
export function shareLeft({ left, whole }: Funds): number {
  return whole > 0 ? Math.max(0, left) / whole : 0;
}

/** Whether a simulation at depth d, and the path to an answer from there, are affordable beside `inFlight` others. */
export function canAfford(funds: Funds, from: number, inFlight = 0): boolean {
  const price = Math.max(funds.simulation, toAnswer(funds, from));
  return price === 0 || price * (inFlight + 1) <= funds.left - funds.reserve;
}

/** Whether another sibling is affordable: two answers from the start, and its own from half of what is left. */
export function canAffordSibling(funds: Funds, from: number): boolean {
  return answersLeft(funds, 0) >= 2 && toAnswer(funds, from) <= funds.left / 2;
}

/** The factor by which exploration shrinks: `min(1, √(E / E₀))`. */
export function explorationLeft(answers: number, enough: number): number {
  return Math.min(1, Math.sqrt(Math.max(0, answers) / enough));
}
