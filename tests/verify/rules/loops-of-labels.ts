/** Step labels as their papers say, by loops over raw trees. */
import { near } from './found.ts';
import { distinctSteps, endsBehind, endsOf, type Loop, shareAt, unlike } from './loops.ts';
import { placeKey, type Raw, type RawTree, stepKey, wayTo } from './raw.ts';

type Label = readonly [value: number, label: boolean, rating: number];
type Labels = (tree: RawTree, node: Raw) => Label | undefined;

function byShare(share: number | undefined): Label | undefined {
  return share === undefined ? undefined : [share, share > 0, share > 0 ? 1 : -1];
}

const monteCarlo: Labels = (tree, node) => byShare(shareAt(tree, node));

const pav: Labels = (tree, node) => {
  const after = shareAt(tree, node);
  const before = node.parent && shareAt(tree, node.parent);
  if (after === undefined || before === undefined) return undefined;
  const progress = 1 - (1 - after) ** 4 - (1 - (1 - before) ** 4);
  const label = progress > 0 || after === 1;
  return [after + 0.5 * progress, label, label ? 1 : progress < 0 ? -1 : 0];
};

const prm800k: Labels = (tree, node) => {
  const share = shareAt(tree, node);
  if (share === undefined) return undefined;
  return [share, share >= 0.5, share <= 0 ? -1 : share >= 0.5 ? 1 : 0];
};

/** Steps from a node to the nearest right end behind it, both counted. */
function distance(tree: RawTree, node: Raw): number | undefined {
  const right = endsBehind(tree, node).filter((end) => end.right === true);
  const depth = wayTo(node).length;
  if (right.length === 0) return undefined;
  return Math.min(...right.map((end) => wayTo(end).length - depth + 1));
}

const restMcts: Labels = (tree, node) => {
  if (distance(tree, tree.root) === undefined || shareAt(tree, node) === undefined)
    return undefined;
  let value = 0;
  let last = Number.NaN;
  let isOnWay = true;
  for (const step of wayTo(node)) {
    const own = distance(tree, step);
    isOnWay = own !== undefined;
    last = own ?? (Number.isNaN(last) ? (distance(tree, tree.root) as number) : last);
    value = Math.max(0, value + ((1 - value) * (isOnWay ? 1 : -1)) / last);
  }
  return [value, isOnWay, isOnWay ? 1 : -1];
};

/** All that was proposed where a step was, each text once. */
function proposedBeside(tree: RawTree, labels: Labels, node: Raw): readonly string[] {
  const all = tree.nodes.filter(
    (other) =>
      placeKey(other) === placeKey(node) &&
      (other.twinOf === undefined || other.children.length > 0) &&
      labels(tree, other) !== undefined,
  );
  const first = all.filter(
    (other) => other === all.find((same) => stepKey(same) === stepKey(other)),
  );
  return first.map((other) => (stepKey(other) === stepKey(node) ? node.shown : other.shown));
}

function rowsOf(
  labels: Labels,
  {
    paths,
    untilError = false,
  }: { readonly paths: 'ends' | 'leaves'; readonly untilError?: boolean },
): Loop {
  return (tree) => {
    const isWithLeaves = paths === 'leaves' || !tree.isWhole;
    const builtOn = new Set(
      tree.nodes.filter(({ children }) => children.length > 0).map((node) => stepKey(node)),
    );
    const leaves = tree.nodes.filter(
      (node) =>
        node.right !== undefined ||
        (node.parent !== undefined && node.twinOf === undefined && !builtOn.has(stepKey(node))),
    );
    const rows = (isWithLeaves ? distinctSteps(leaves) : endsOf(tree)).flatMap((end) => {
      const all = wayTo(end).map((node) => ({ node, label: labels(tree, node) }));
      const unknown = all.findIndex(({ label }) => label === undefined);
      const known = (unknown < 0 ? all : all.slice(0, unknown)) as { node: Raw; label: Label }[];
      const error = untilError ? known.findIndex(({ label }) => label[2] === -1) : -1;
      const kept = error < 0 ? known : known.slice(0, error + 1);
      if (kept.length === 0) return [];
      return [
        [
          [['user', tree.question, []]],
          kept.map(({ node, label: [value, label, rating] }) => [
            node.shown,
            near(value),
            label,
            rating,
          ]),
          kept.map(({ node }) => proposedBeside(tree, labels, node)),
          kept.at(-1)?.node.right ?? null,
        ],
      ];
    });
    return unlike(rows, ([prompt, steps]) => [
      prompt,
      (steps as unknown[][]).map(([text]) => text),
    ]);
  };
}

export const labelLoops: Readonly<Record<string, Loop>> = {
  'math-shepherd': rowsOf(monteCarlo, { paths: 'ends' }),
  'omega-prm': rowsOf(monteCarlo, { paths: 'leaves' }),
  pav: rowsOf(pav, { paths: 'ends' }),
  prm800k: rowsOf(prm800k, { paths: 'ends', untilError: true }),
  'rest-mcts': rowsOf(restMcts, { paths: 'ends' }),
};
