import type { NodeStatistics } from '../contracts/node.ts';

/**
 * How a selection rule counts the simulations that are under way below a node, so that simulations
 * started together spread over the tree.
 */
export interface InFlight {
  /** The name in reports. */
  readonly name: string;
  /** The visits that the exploration term counts. */
  visits(node: NodeStatistics): number;
  /** The value that the exploitation term sees in place of `qvalue`. */
  value(node: NodeStatistics, qvalue: number): number;
}

/**
 * Counts unobserved samples: N + O(s) in the exploration term, the value left as it is. It pretends
 * nothing, and where values differ much more than the exploration term it spreads nothing either: with
 * few simulations, {@link virtualLoss} is the safer choice.
 *
 * @see Liu, Chen, Yu, Zhai, Zhou, Liu, "Watch the Unobserved: A Simple Approach to Parallelizing Monte
 * Carlo Tree Search", 2020, equation 4.
 */
export const unobserved: InFlight = {
  name: 'unobserved',
  visits: (node) => node.visits + node.inFlight,
  value: (_node, qvalue) => qvalue,
};

/**
 * Counts each simulation under way as one that has returned `loss`: N + O in both terms. The default, from
 * a measurement: on 1,000 puzzles with sixteen in flight it solved more than one at a time did, with 60
 * simulations as with 400; unobserved samples solved still more with 400, and far less with 60
 * (`npm run bench:concurrency`).
 *
 * @see Chaslot, Winands, van den Herik, "Parallel Monte-Carlo Tree Search", 2008, section 3.3.
 */
export function virtualLoss({ loss = 0 }: { readonly loss?: number } = {}): InFlight {
  return {
    name: 'virtual-loss',
    visits: (node) => node.visits + node.inFlight,
    value: ({ visits, inFlight }, qvalue) =>
      inFlight === 0 ? qvalue : (visits * qvalue + inFlight * loss) / (visits + inFlight),
  };
}
