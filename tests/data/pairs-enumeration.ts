import type { ChildNode, SearchNode } from '../../src/contracts/node.ts';
import type { PairRule } from '../../src/data/pairs/pair-rule.ts';
import type { TreeRecord } from '../../src/data/record.ts';

type Node = SearchNode<string, string>;

/** All children of a node that have one text. */
export interface Bundle {
  readonly node: ChildNode<string, string>;
  readonly text: string;
  readonly score: number;
  readonly right: number;
  readonly wrong: number;
  readonly holdsPath: boolean;
}

/** Two bundles of one node. */
export interface BundlePair {
  readonly parent: Node;
  readonly chosen: Bundle;
  readonly rejected: Bundle;
}

/**
 * All pairs of a rule, without caps, by trying every two children of every node. Of `best-vs-random` all that may
 * be drawn. Written for its plainness, and with none of the code it checks.
 */
export function enumeratePairs(
  record: TreeRecord<string, string>,
  rule: PairRule,
): readonly BundlePair[] {
  const parents = [...record.tree.nodes()].filter(({ children }) => children.length > 0);
  const first = parents.filter(
    (node) => node === parents.find((other) => placeKey(record, other) === placeKey(record, node)),
  );
  return first.flatMap((parent) => {
    const bundles = isAsked(record, rule, parent) ? bundlesOf(record, rule, parent) : [];
    return bundles.flatMap((chosen) =>
      bundles
        .filter((rejected) => rejected !== chosen)
        .filter((rejected) => isMatched(rule, bundles, [chosen, rejected]))
        .filter((rejected) => isAllowed(rule, chosen, rejected))
        .map((rejected) => ({ parent, chosen, rejected })),
    );
  });
}

/** The same for nodes behind equal steps at which the model is shown the same. */
export function placeKey(record: TreeRecord<string, string>, node: Node): string {
  if (node.kind === 'root') return 'root';
  return JSON.stringify([stepKey(record, node), record.notation.prompt(node.state ?? '')]);
}

/** The same for equal steps from one place. */
function stepKey(record: TreeRecord<string, string>, node: ChildNode<string, string>): string {
  return JSON.stringify([placeKey(record, node.parent), node.action.trim()]);
}

function isAsked(record: TreeRecord<string, string>, { nodes }: PairRule, node: Node): boolean {
  const { best } = record.tree;
  const isOnWayTo = (end: Node) =>
    upFrom(end)
      .slice(1)
      .some((above) => placeKey(record, above) === placeKey(record, node));
  if (nodes === 'all') return true;
  if (nodes === 'success-path') {
    return endsOf(record).some((end) => outcome(record, end) === true && isOnWayTo(end));
  }
  if (nodes === 'right-path' && outcome(record, best) !== true) return false;
  return isOnWayTo(best);
}

function upFrom(node: Node): readonly Node[] {
  return node.parent === undefined ? [node] : [node, ...upFrom(node.parent)];
}

/** The scored ends, one of each step: an original, then the most visited, then the first. */
function endsOf(record: TreeRecord<string, string>): readonly ChildNode<string, string>[] {
  const ends = [...record.tree.nodes()].filter(
    (node): node is ChildNode<string, string> =>
      node.kind !== 'root' && outcome(record, node) !== undefined,
  );
  return ends.filter((end) => {
    const same = ends.filter((other) => stepKey(record, other) === stepKey(record, end));
    const kept = same.some((other) => !isDuplicate(other))
      ? same.filter((other) => !isDuplicate(other))
      : same;
    const most = Math.max(...kept.map(({ visits }) => visits));
    return end === kept.find(({ visits }) => visits === most);
  });
}

function outcome(record: TreeRecord<string, string>, node: Node): boolean | undefined {
  if (node.status === 'failed' || !(node.terminal || node.answer)) return undefined;
  const score = record.tree.score(node);
  return score === undefined ? undefined : score >= (record.correctFrom ?? 1);
}

function isDuplicate({ duplicateOf }: Node): boolean {
  return duplicateOf !== undefined;
}

function bundlesOf(
  record: TreeRecord<string, string>,
  { score, minVisits = 1 }: PairRule,
  parent: Node,
): readonly Bundle[] {
  const place = placeKey(record, parent);
  const ends = endsOf(record);
  const alive = [...record.tree.nodes()].filter(
    (node): node is ChildNode<string, string> =>
      node.kind !== 'root' &&
      node.status !== 'failed' &&
      node.action.trim() !== '' &&
      placeKey(record, node.parent) === place,
  );
  const texts = [...new Set(alive.map(({ action }) => action.trim()))];
  return texts.flatMap((text) => {
    const same = alive.filter(({ action }) => action.trim() === text);
    const proper = same.filter((child) => !isDuplicate(child));
    const most = Math.max(...proper.map(({ visits }) => visits));
    const node = proper.find(({ visits }) => visits === most);
    const behind = ends.filter((end) =>
      upFrom(end).some(
        (one) =>
          one.kind !== 'root' &&
          same.some((child) => stepKey(record, one) === stepKey(record, child)),
      ),
    );
    const right = behind.filter((end) => outcome(record, end) === true).length;
    const wrong = behind.length - right;
    const own = node && score(node, { right, wrong });
    if (node === undefined || own === undefined || node.visits < minVisits) return [];
    const holdsPath = same.some((child) => upFrom(record.tree.best).includes(child));
    return [{ node, text, score: own, right, wrong, holdsPath }];
  });
}

/** Whether the rule matches these two of all bundles, filters aside. */
function isMatched(
  { siblings }: PairRule,
  bundles: readonly Bundle[],
  [chosen, rejected]: readonly [Bundle, Bundle],
): boolean {
  const scores = bundles.map(({ score }) => score);
  const isBest = chosen === bundles.find(({ score }) => score === Math.max(...scores));
  const isWorst = rejected === bundles.findLast(({ score }) => score === Math.min(...scores));
  switch (siblings) {
    case 'best-vs-worst':
      return isBest && isWorst;
    case 'best-vs-second': {
      const others = bundles.filter((bundle) => bundle !== chosen);
      const second = Math.max(...others.map(({ score }) => score));
      return isBest && rejected === others.find(({ score }) => score === second);
    }
    case 'best-vs-all':
    case 'best-vs-random':
      return isBest;
    case 'all-ordered':
    case 'all-above-below':
      return true;
    case 'path-vs-all':
      return chosen.holdsPath;
    case 'path-vs-worst':
      return chosen.holdsPath && isWorst;
    case 'success-path-vs-siblings':
      return chosen.right > 0 && rejected.right === 0;
  }
}

function isAllowed(rule: PairRule, chosen: Bundle, rejected: Bundle): boolean {
  const threshold = rule.threshold ?? (rule.siblings === 'all-above-below' ? 0.5 : undefined);
  const short = Math.min(chosen.text.length, rejected.text.length);
  const long = Math.max(chosen.text.length, rejected.text.length);
  const needsRight = rule.requireRight === true || rule.requireMixedOutcome === true;
  const conditions = [
    chosen.score > rejected.score,
    chosen.score - rejected.score > (rule.minMargin ?? 0),
    threshold === undefined || (chosen.score > threshold && threshold > rejected.score),
    !needsRight || chosen.right > 0,
    rule.requireMixedOutcome !== true || rejected.wrong > 0,
    long / short <= (rule.maxLengthRatio ?? Number.POSITIVE_INFINITY),
    edits(chosen.text, rejected.text) >= (rule.minEditDistance ?? 0),
  ];
  return conditions.every((condition) => condition);
}

/** The Levenshtein distance by its definition; the texts are short. */
function edits(one: string, other: string): number {
  let row = Array.from({ length: other.length + 1 }, (_, place) => place);
  for (let i = 1; i <= one.length; i++) {
    const next = [i];
    for (let j = 1; j <= other.length; j++) {
      const replace = (row[j - 1] ?? 0) + (one[i - 1] === other[j - 1] ? 0 : 1);
      next.push(Math.min(replace, (row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1));
    }
    row = next;
  }
  return row.at(-1) ?? 0;
}
