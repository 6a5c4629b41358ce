import { EspalierError } from '../base/errors.ts';
import { expectNumber } from '../base/expect.ts';
import type { Environment } from '../contracts/environment.ts';
import type { SearchNode } from '../contracts/node.ts';
import { type Conclusion, tally } from '../tree/conclusion.ts';
import type { SearchTree } from '../tree/tree.ts';

/** What a vote of nodes comes to; `undefined` where none of them has an answer. */
export function elected<State, Action>(
  tree: SearchTree<State, Action>,
  environment: Environment<State, Action>,
  votes: readonly { readonly node: SearchNode<State, Action>; readonly weight?: number }[],
): Conclusion<State, Action> | undefined {
  if (environment.answer === undefined) {
    throw new EspalierError(
      'usage',
      `Expected the environment ${environment.name} to have an \`answer\`, because answers are voted on.`,
    );
  }
  const ballots = votes.flatMap(({ node, weight = 1 }) => {
    expectNumber('weight', weight, { min: 0 });
    const answer = node.kind === 'proposed' ? undefined : environment.answer?.(node.state);
    return answer === undefined ? [] : [{ node: node.id, answer, weight }];
  });
  const shares = tally(ballots);
  const winner = shares[0]?.nodes[0];
  return winner === undefined ? undefined : { node: tree.node(winner), optimal: false, shares };
}
