import { expectJson } from '../base/canonical-json.ts';
import { EspalierError } from '../base/errors.ts';
import { expectArray, expectNode, expectNumber } from '../base/expect.ts';
import { expectOptions } from '../base/expect-options.ts';
import { failureFrom } from '../base/failure.ts';
import type { Environment } from '../contracts/environment.ts';
import type { JsonValue } from '../contracts/json.ts';
import type { SearchNode } from '../contracts/node.ts';
import { type Conclusion, tally } from '../tree/conclusion.ts';
import { isOut } from '../tree/selection.ts';
import type { SearchTree } from '../tree/tree.ts';

/** The result of a vote of nodes; `undefined` if none of them has an answer. */
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
  expectArray('votes', votes);
  const ballots = votes.flatMap((vote) => {
    expectOptions('votes', vote, 'node weight');
    const { node, weight = 1 } = vote;
    expectNode('node', node);
    expectNumber('weight', weight, { min: 0 });
    if (tree.node(node.id) !== node) throw foreign(node);
    const answer = answerOf(node, environment, tree);
    return answer === undefined ? [] : [{ node: node.id, answer, weight }];
  });
  const shares = tally(ballots);
  const winner = shares[0]?.nodes[0];
  return winner === undefined ? undefined : { node: tree.node(winner), optimal: false, shares };
}

function foreign({ id }: SearchNode): EspalierError {
  const message = `Expected \`votes\` to be of nodes of this tree, got node ${id} of another one.`;
  return new EspalierError('usage', message);
}

/**
 * The answer of a node that can vote. If reading it fails, the failure is noted at the node, which only loses its vote.
 */
export function answerOf<State, Action>(
  node: SearchNode<State, Action>,
  environment: Environment<State, Action>,
  tree: SearchTree<State, Action>,
): JsonValue | undefined {
  if (node.kind === 'proposed' || isOut(node)) return undefined;
  try {
    const answer: unknown = environment.answer?.(node.state);
    return answer === undefined ? undefined : expectJson('answer', answer);
  } catch (error) {
    tree.noteFailures(node, { failure: failureFrom(error, 'environment') });
    return undefined;
  }
}
