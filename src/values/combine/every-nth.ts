import { expectInteger } from '../../base/expect.ts';
import type { Evaluation } from '../../contracts/evaluation.ts';
import type { Evaluator } from '../../contracts/evaluator.ts';
import type { Failed } from '../../contracts/failure.ts';
import type { SearchNode } from '../../contracts/node.ts';
import { askEvaluator, expectEvaluator } from '../ask-evaluator.ts';
import { madeOf, type NamedEvaluator, nameless, type Round } from '../evaluator-parts.ts';
import type { Waiting } from '../settle.ts';

/**
 * Judges only every n-th step: nodes whose depth is a multiple of n, complete answers, and ends without a reward. Other
 * nodes inherit the value of the last judged node on their path, marked by `parts.inherited`; if that was not judged
 * yet, as the root never is, it is judged then: a model is asked once, other evaluators each time.
 *
 * VG-Search also draws a single step between two checks, and branches only before one. `beam` with such a policy
 * reproduces its cycle: see the guide on values.
 *
 * @param evaluator - The judge.
 * @param n - The number of steps between judgements, g in the paper: an integer from 1 up. With 1, every step is
 * judged.
 * @see Chen et al., "Rethinking Optimal Verification Granularity for Compute-Efficient Test-Time Scaling", 2025.
 * @throws EspalierError `usage` if `n` is out of range, or for an oracle.
 */
export function everyNth<State, Action>(
  evaluator: Evaluator<State, Action>,
  n: number,
): Evaluator<State, Action> {
  expectEvaluator('evaluator', evaluator);
  expectInteger('n', n, { min: 1 });
  const judged = { name: 'judged', evaluator };
  return madeOf([judged], (round) => judgeSome(judged, n, round));
}

type Verdict = Evaluation | Failed;

function* judgeSome<State, Action>(
  judged: NamedEvaluator<State, Action>,
  n: number,
  { method, nodes, request }: Round<State, Action>,
): Waiting<readonly Verdict[]> {
  const isDue = ({ depth, terminal, answer }: SearchNode) => terminal || answer || depth % n === 0;
  const standIn = (node: SearchNode<State, Action>): SearchNode<State, Action> => {
    let { parent: at = node } = node;
    // Nodes in between have inherited the value of the last judged node.
    while (at.parent !== undefined && at.depth % n !== 0 && at.rawValue === undefined)
      at = at.parent;
    return at;
  };
  const due = nodes.filter(isDue);
  const verdicts = yield* askEvaluator({ ...judged, method, nodes: due }, request);
  const others = nodes.filter((node) => !isDue(node)).map(standIn);
  const unjudged = [...new Set(others)].filter(({ rawValue }) => rawValue === undefined);
  const roots = yield* askEvaluator({ ...judged, method: 'evaluate', nodes: unjudged }, request);
  let [verdict, other] = [0, 0];
  return nodes.map((node) => {
    if (isDue(node)) return verdicts[verdict++] ?? nameless;
    const ancestor = others[other++] ?? node;
    return inherited(ancestor, roots[unjudged.indexOf(ancestor)] ?? nameless);
  });
}

function inherited({ rawValue, about }: SearchNode, verdict: Verdict): Verdict {
  const known: Verdict = rawValue === undefined ? verdict : { value: rawValue, about };
  if ('failure' in known) return known;
  const { value } = known;
  return { value, ...(known.about === 'action' && { about }), parts: { inherited: value } };
}
