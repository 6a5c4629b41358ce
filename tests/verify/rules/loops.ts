/** What loops over raw trees need, for all rules. */
import { near } from './found.ts';
import { once, type Raw, type RawTree, stepKey, type Turn, wayTo } from './raw.ts';

export type Loop = (tree: RawTree) => readonly (readonly unknown[])[];

/** The ends, each path once: of equal ones the one that more leaves count for, then the first. */
export const endsOf: (tree: RawTree) => readonly Raw[] = once(
  ({ nodes }: RawTree): readonly Raw[] =>
    distinctSteps(nodes.filter(({ right }) => right !== undefined)),
);

export function distinctSteps(nodes: readonly Raw[]): readonly Raw[] {
  return nodes.filter((node) => {
    const same = nodes.filter((other) => stepKey(other) === stepKey(node));
    const most = Math.max(...same.map(({ n }) => n));
    return node === same.find(({ n }) => n === most);
  });
}

/** The distinct ends at a step or behind it, whichever of its nodes they stand below. */
export function endsBehind(tree: RawTree, node: Raw): readonly Raw[] {
  return behind(tree)(node);
}

const behind = once((tree: RawTree) =>
  once((node: Raw): readonly Raw[] =>
    endsOf(tree).filter(
      (end) =>
        node.parent === undefined || wayTo(end).some((step) => stepKey(step) === stepKey(node)),
    ),
  ),
);

/** The share of right continuations: the recorded estimate, or that of the ends. */
export function shareAt(tree: RawTree, node: Raw): number | undefined {
  if (!tree.isWhole) return node.estimate;
  const ends = endsBehind(tree, node);
  const right = ends.filter((end) => end.right === true);
  return ends.length === 0 ? undefined : right.length / ends.length;
}

/** The best end: right before wrong, then the shallowest, then the first. */
export function bestOf({ nodes }: RawTree): Raw | undefined {
  const ends = nodes.filter(({ right, twinOf }) => right !== undefined && twinOf === undefined);
  return ends.toSorted(
    (a, b) => Number(b.right) - Number(a.right) || wayTo(a).length - wayTo(b).length,
  )[0];
}

/** A whole path as what a model says to the question. */
export function wholePath(tree: RawTree, end: Raw, from: Raw = tree.root): readonly Turn[] {
  const way = wayTo(end).slice(wayTo(from).length);
  if (tree.isWhole) return [...(end.parent?.context ?? []).slice(from.context.length), end.turn];
  const joined = way.map(({ text }) => text).join(tree.parted);
  return [['assistant', from === tree.root ? joined : joined.trimStart(), []]];
}

export function mean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}

export function zScores(values: readonly number[]): readonly number[] {
  if (new Set(values).size <= 1) return values.map(() => 0);
  const centre = mean(values);
  const deviation = Math.sqrt(mean(values.map((value) => (value - centre) ** 2)));
  return values.map((value) => (value - centre) / (deviation + 1e-6));
}

/** Rows of which no two say the same. */
export function unlike(
  rows: readonly (readonly unknown[])[],
  keyOf: (row: readonly unknown[]) => unknown = (row) => row,
): readonly (readonly unknown[])[] {
  const seen = new Set<string>();
  return rows.filter((row) => {
    const key = JSON.stringify(keyOf(row));
    const isNew = !seen.has(key);
    seen.add(key);
    return isNew;
  });
}

export function pairRow(
  one: Raw,
  other: Raw,
  scores: readonly [number, number],
): readonly unknown[] {
  const [chosen, rejected] = scores;
  return [one.parent?.context, [one.turn], [other.turn], near(chosen), near(chosen - rejected)];
}
