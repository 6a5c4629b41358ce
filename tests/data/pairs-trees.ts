import fc from 'fast-check';
import type { Evaluation } from '../../src/contracts/evaluation.ts';
import type { NodeId, SearchNode } from '../../src/contracts/node.ts';
import type { RowNotation, TreeRecord } from '../../src/data/record.ts';
import { SearchTree } from '../../src/tree/tree.ts';

/** A node of a tree that is written down: its numbers are set as if simulations had passed. */
export interface Plan {
  /** The action, which names the node. */
  readonly text: string;
  readonly visits?: number;
  /** Q. */
  readonly q?: number;
  /** What the evaluator said; such a node may be left without a state. */
  readonly evaluation?: Evaluation;
  /** The reward of an end. */
  readonly end?: number;
  /** The score of a complete answer that may be refined. */
  readonly answer?: number;
  /** Whether the action was never taken. */
  readonly proposed?: boolean;
  readonly below?: readonly Plan[];
}

/** States are paths such as `/a/a1`; the prompt shows the path. */
export const paths: RowNotation<string, string> = {
  prompt: (state) => [{ role: 'user', content: `So far: ${state}` }],
  format: (action) => action,
};

/** The record of a tree that is written down. */
export function planted(
  plans: readonly Plan[],
  changes: Partial<TreeRecord<string, string>> & { readonly seed?: number } = {},
): TreeRecord<string, string> {
  const tree = new SearchTree<string, string>('', {
    environment: 'paths',
    seed: changes.seed ?? 0,
  });
  const plant = (parent: SearchNode<string, string>, plan: Plan) => {
    const [node] = tree.add(parent, [{ action: plan.text, prior: 0 }]);
    if (node === undefined) throw new Error('A child was added and not returned.');
    const { evaluation, end, answer, visits = 0, q = 0 } = plan;
    if (plan.proposed !== true) {
      tree.realise(node, {
        state: `${parent.state}/${plan.text}`,
        ...(end !== undefined && { terminal: true, reward: end }),
        ...(answer !== undefined && { answer: true }),
      });
    }
    if (answer !== undefined) tree.addEvaluation(node, { value: answer });
    if (evaluation !== undefined) tree.addEvaluation(node, evaluation);
    Object.assign(tree.mutable(node.id), { visits, value: q });
    for (const below of plan.below ?? []) plant(node, below);
  };
  for (const plan of plans) plant(tree.root, plan);
  return { problem: 'p', tree, notation: paths, ...changes };
}

/** The action of a node by its id. */
export function nameIn({ tree }: TreeRecord<string, string>): (id: NodeId | undefined) => string {
  return (id) => (id === undefined ? '?' : (tree.node(id).action ?? 'root'));
}

/**
 * A tree in which right and wrong ends lie at several depths.
 *
 * | node | N | Q | |
 * |---|---|---|---|
 * | a | 6 | 0.8 | a1, a2, a3 below |
 * | a1 | 3 | 1 | right end, the best |
 * | a2 | 2 | 0.45 | x (0, wrong end) and y (0.9, right end) below, once each |
 * | a3 | 1 | 0 | wrong end |
 * | b | 3 | 0.5 | b1 (2, 0.6, wrong end), b2 (1, 0.2, open) below |
 * | c | 2 | 0.1 | c1 (1, 0, wrong end) below |
 * | d | 0 | evaluated at 0.9 | never taken |
 */
export const example: readonly Plan[] = [
  {
    text: 'a',
    visits: 6,
    q: 0.8,
    below: [
      { text: 'a1', visits: 3, q: 1, end: 1 },
      {
        text: 'a2',
        visits: 2,
        q: 0.45,
        below: [
          { text: 'x', visits: 1, q: 0, end: 0 },
          { text: 'y', visits: 1, q: 0.9, end: 1 },
        ],
      },
      { text: 'a3', visits: 1, q: 0, end: 0 },
    ],
  },
  {
    text: 'b',
    visits: 3,
    q: 0.5,
    below: [
      { text: 'b1', visits: 2, q: 0.6, end: 0 },
      { text: 'b2', visits: 1, q: 0.2 },
    ],
  },
  { text: 'c', visits: 2, q: 0.1, below: [{ text: 'c1', visits: 1, q: 0, end: 0 }] },
  { text: 'd', evaluation: { value: 0.9 }, proposed: true },
];

/** What happens to a tree, step by step. */
interface Growth {
  readonly parent: number;
  readonly text: string;
  readonly becomes:
    | 'answer'
    | 'duplicate'
    | 'end'
    | 'failed'
    | 'open'
    | 'proposed'
    | 'unscored-end';
  readonly worth: number;
  readonly backups: number;
}

const growth: fc.Arbitrary<Growth> = fc.record({
  parent: fc.nat(30),
  // Some are equal but for space, one is nothing but space.
  text: fc.constantFrom('a', ' a', 'b', 'ab', 'abc', 'bca', 'cabbac', 'a long one', ' '),
  becomes: fc.constantFrom(
    'open',
    'open',
    'open',
    'end',
    'end',
    'answer',
    'proposed',
    'failed',
    'duplicate',
    'unscored-end',
  ),
  worth: fc.constantFrom(0, 0.25, 0.5, 0.75, 1),
  backups: fc.nat(3),
});

/** What no row may tell. */
export const canary = 'THE-GOLD-ANSWER';

/** Random trees of one problem. */
export const randomRecords: fc.Arbitrary<readonly TreeRecord<string, string>[]> = fc
  .array(
    fc.record({
      growths: fc.array(growth, { minLength: 4, maxLength: 30 }),
      correctFrom: fc.constantFrom(0.5, 1),
      seed: fc.nat(1_000),
      isShort: fc.boolean(),
    }),
    { minLength: 1, maxLength: 3 },
  )
  .map((plans) => plans.map((plan, place) => ({ ...grown(plan), id: `p-${place}` })));

function grown({
  growths,
  correctFrom,
  seed,
  isShort,
}: {
  readonly growths: readonly Growth[];
  readonly correctFrom: number;
  readonly seed: number;
  readonly isShort: boolean;
}): TreeRecord<string, string> {
  const tree = new SearchTree<string, string>('', { environment: 'paths', seed });
  const open: SearchNode<string, string>[] = [tree.root];
  for (const growth of growths) {
    const above = open[growth.parent % open.length] ?? tree.root;
    const node = sprout(tree, above, growth);
    if (node.kind === 'realised' && !node.terminal && node.status !== 'failed') open.push(node);
  }
  // A notation that shows less of the state gives equal prompts at different nodes.
  const notation: RowNotation<string, string> = isShort
    ? {
        ...paths,
        prompt: (state) => [{ role: 'user', content: `Step ${state.split('/').length}` }],
      }
    : paths;
  return { problem: 'p', tree, notation, correctFrom, answer: canary };
}

function sprout(
  tree: SearchTree<string, string>,
  above: SearchNode<string, string>,
  { text, becomes, worth, backups }: Growth,
): SearchNode<string, string> {
  const [node] = tree.add(above, [{ action: text, prior: 0.5 }]);
  if (node === undefined) throw new Error('A child was added and not returned.');
  if (becomes === 'failed') {
    tree.fail(node, { kind: 'call', message: 'It broke.' });
    return node;
  }
  if (becomes !== 'proposed') {
    tree.realise(node, {
      state: `${above.state}/${text}`,
      terminal: becomes === 'end' || becomes === 'unscored-end',
      answer: becomes === 'answer',
      ...(becomes === 'end' && { reward: worth }),
    });
  }
  if (becomes === 'unscored-end') return node;
  if (becomes === 'duplicate') {
    const [first] = above.children;
    if (first !== undefined && first !== node) tree.merge(node, first);
  }
  if (becomes !== 'end') tree.addEvaluation(node, { value: worth, parts: { worth } });
  for (let count = 0; count < backups; count++) tree.backup(node);
  return node;
}
