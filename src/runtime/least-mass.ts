/**
 * The least probability that all answers looked for must have together. Below it something else was nine times
 * likelier, and how the answers share the rest says nothing.
 */
export const leastMass = 0.1;
