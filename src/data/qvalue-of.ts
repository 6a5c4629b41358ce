import type { NodeStatistics } from '../spec/node.ts';

/** Q of a node; of one that was never visited its evaluation, else 0. */
export function qvalueOf({ visits, value, rawValue = 0 }: NodeStatistics): number {
  return visits > 0 ? value : rawValue;
}
