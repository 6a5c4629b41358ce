import type { Notation } from '../../src/contracts/environment.ts';
import type { NodeStatus, SearchNode } from '../../src/contracts/node.ts';
import { proposedNode, realisedNode, rootNode } from '../support/nodes.ts';

/** One step of a path in a test. */
export interface PathStep {
  readonly action: string;
  /** Q. */
  readonly value: number;
  /** V, as evaluated; `undefined` where it was not. */
  readonly rawValue?: number | undefined;
  readonly rationale?: string;
  readonly visits?: number;
  readonly status?: NodeStatus;
  readonly proposed?: boolean;
}

/** The nodes of a path, the root first: ids in order, a state is the actions so far. */
export function path(steps: readonly PathStep[]): readonly SearchNode<string, string>[] {
  const nodes: SearchNode<string, string>[] = [rootNode<string, string>('')];
  for (const [place, step] of steps.entries()) {
    const parent = nodes.at(-1) ?? rootNode<string, string>('');
    const { action, value, rawValue, rationale, visits = 2, status = 'open' } = step;
    const evaluations =
      rawValue === undefined
        ? []
        : [{ value: rawValue, ...(rationale !== undefined && { rationale }) }];
    const numbers = {
      id: place + 1,
      depth: place + 1,
      value,
      rawValue,
      visits,
      status,
      evaluations,
    };
    nodes.push(
      step.proposed === true
        ? { ...proposedNode('', action), ...numbers, parent }
        : realisedNode(action, `${parent.state ?? ''}${action}`, { ...numbers, parent }),
    );
  }
  return nodes;
}

/** A state as a question about it. */
export const notation: Notation<string, string> = {
  prompt: (state) => [
    { role: 'system', content: 'You open doors.' },
    { role: 'user', content: `Done so far: ${state === '' ? 'nothing' : [...state].join(', ')}.` },
  ],
  format: (action) => `do ${action}`,
  parse: (text) => ({ action: text.replace('do ', '') }),
};
