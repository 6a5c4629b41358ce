import type { PruneReason } from '../contracts/node.ts';

/** Every reason for which a node is pruned. */
export const pruneReasons: readonly PruneReason[] = [
  ...(['beam', 'dominated', 'duplicate', 'hopeless', 'other'] as const),
];
