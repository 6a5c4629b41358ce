/**
 * The minimum total probability of all expected answers. Below it, something else was at least nine times as likely,
 * and the shares of the answers mean nothing.
 */
export const leastMass = 0.1;
