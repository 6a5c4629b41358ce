/** Below this number of independent clusters no interval and no verdict can be trusted. */
export const leastClusters = 30;

/** What is too small a gain to pay, as a share: 3 points. */
export const leastGain = 0.03;

/** The greatest part of a budget that may stay unused without a word, as a share. */
export const mostUnused = 0.1;

/** Where more of the searches of a method failed through no fault of its own, as a share, its results say nothing. */
export const mostFailed = 0.05;

/** The baseline that asks once: what it leaves of a budget says nothing. */
export const greedyName = 'greedy';
