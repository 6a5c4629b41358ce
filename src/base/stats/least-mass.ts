/**
 * The least probability that all answers looked for must have together. Below it something else was nine times as
 * likely, and how the answers share the rest says nothing.
 */
export const leastMass = 0.1;
