/** Below this number of independent clusters no interval and no verdict can be trusted. */
export const leastClusters = 30;

/** The share below which a gain is too small to pay: 3 points. */
export const leastGain = 0.03;

/** The greatest part of a budget that may stay unused without a word, as a share. */
export const mostUnused = 0.1;

/** If a larger share of a method's searches failed through no fault of its own, its results say nothing. */
export const mostFailed = 0.05;

/** The baseline that samples once: the part of a budget that it leaves says nothing. */
export const greedyName = 'greedy';
