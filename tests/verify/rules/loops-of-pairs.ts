/** Preference pairs as their papers say, by loops over raw trees. */
import { bestOf, endsOf, type Loop, mean, pairRow, unlike, wholePath } from './loops.ts';
import { type Raw, wayTo } from './raw.ts';

const siblingsAt = (node: Raw): readonly Raw[] =>
  node.children.filter(({ twinOf }) => twinOf === undefined);

/** Whether ends of a kind stand at or below a node, or one that says the same. */
function leadsTo(node: Raw, kind: boolean): boolean {
  const twins = node.parent?.children.filter(({ text }) => text === node.text) ?? [];
  const reaches = (one: Raw): boolean => one.right === kind || one.children.some(reaches);
  return twins.some(reaches);
}

function everyTwo(
  nodes: readonly Raw[],
  scoreOf: (node: Raw) => number | undefined,
  isPair: (scores: readonly [number, number], nodes: readonly [Raw, Raw]) => boolean,
): readonly (readonly unknown[])[] {
  return nodes.flatMap((node) => {
    const siblings = siblingsAt(node);
    return siblings.flatMap((one) =>
      siblings.flatMap((other) => {
        const [better, worse] = [scoreOf(one), scoreOf(other)];
        if (better === undefined || worse === undefined || !(better > worse)) return [];
        return isPair([better, worse], [one, other]) ? [pairRow(one, other, [better, worse])] : [];
      }),
    );
  });
}

const qOf = ({ q }: Raw): number => q;
const ranked = (nodes: readonly Raw[]): readonly Raw[] => nodes.toSorted((a, b) => b.q - a.q);

/** The nodes above the best end, the root first. */
function bestWay(tree: Parameters<Loop>[0]): readonly Raw[] {
  const best = bestOf(tree);
  return best === undefined ? [] : [tree.root, ...wayTo(best)];
}

const agentQ: Loop = ({ nodes }) =>
  everyTwo(
    nodes,
    ({ q, estimate = q }) => 0.5 * q + 0.5 * estimate,
    ([a, b]) => a - b > 0.1,
  );

const mctsDpo: Loop = (tree) =>
  bestWay(tree)
    .flatMap((node) => {
      const all = ranked(siblingsAt(node));
      const [first, last] = [all[0], all.at(-1)];
      return first && last && first.q > last.q ? [[first, last] as const] : [];
    })
    .toSorted(([a, b], [c, d]) => c.q - d.q - (a.q - b.q))
    .slice(0, 8)
    .map(([one, other]) => pairRow(one, other, [one.q, other.q]));

const stepQ: Loop = (tree) => {
  const way = bestWay(tree);
  return way.flatMap((node, place) => {
    const taken = way[place + 1];
    const worst = ranked(siblingsAt(node)).at(-1);
    return taken && worst && taken.q > worst.q ? [pairRow(taken, worst, [taken.q, worst.q])] : [];
  });
};

const stepApo: Loop = ({ nodes }) => {
  const isEnd = ({ right }: Raw) => right !== undefined;
  const steps = everyTwo(nodes, qOf, ([a, b], both) => {
    return a > 0.5 && b < 0.5 && !both.some(isEnd);
  });
  const drawn = ({ q }: Raw) => 0.5 + 0.3 * (q - 0.5);
  const ends = nodes.flatMap((node) => {
    const all = ranked(siblingsAt(node).filter(isEnd));
    const [best, worst] = [all[0], all.at(-1)];
    const isPair = best !== undefined && worst !== undefined && best.q > 0.5 && worst.q < 0.5;
    return isPair ? [pairRow(best, worst, [drawn(best), drawn(worst)])] : [];
  });
  return [...steps, ...ends];
};

const hard = (node: Raw): number | undefined =>
  leadsTo(node, true) ? 1 : leadsTo(node, false) ? 0 : undefined;

const stepDpo: Loop = ({ nodes }) => everyTwo(nodes, hard, () => true);

const toolPreference: Loop = ({ nodes }) =>
  everyTwo(
    nodes,
    (node) => Number(leadsTo(node, true)),
    () => true,
  );

/** Q from a step to the end of the best continuation. */
function onward(node: Raw): number {
  const values: number[] = [];
  for (let at: Raw | undefined = node; at !== undefined; at = ranked(siblingsAt(at))[0]) {
    values.push(at.q);
  }
  return mean(values);
}

const rStarMath: Loop = ({ root }) => {
  const rows: (readonly unknown[])[] = [];
  let level: readonly Raw[] = [root];
  while (level.length > 0) {
    const split = level.filter((node) =>
      [true, false].every((kind) => sidesAt(node, kind).length > 0),
    );
    rows.push(...split.flatMap(pairsAt));
    level = split.flatMap(({ children }) => children);
  }
  return rows;
};

function sidesAt(node: Raw, kind: boolean): readonly Raw[] {
  const sides = ranked(siblingsAt(node));
  return (kind ? sides : sides.toReversed()).filter((one) => leadsTo(one, kind));
}

function pairsAt(node: Raw): readonly (readonly unknown[])[] {
  const [right, wrong] = [sidesAt(node, true), sidesAt(node, false)];
  return right.slice(0, wrong.length === 1 ? 4 : 2).flatMap((one) =>
    wrong.slice(0, right.length === 1 ? 4 : 2).flatMap((other) => {
      const isFar = one.q - other.q > 0.25 && edits(one.text.trim(), other.text.trim()) >= 20;
      return isFar && onward(one) > onward(other) ? [pairRow(one, other, [one.q, other.q])] : [];
    }),
  );
}

const trajectory: Loop = (tree) => {
  const best = bestOf(tree);
  if (best?.right !== true) return [];
  const wrong = endsOf(tree).filter(({ right }) => right === false);
  const rows = wrong.map((end) => [
    tree.root.context,
    wholePath(tree, best),
    wholePath(tree, end),
    1,
    1,
  ]);
  return unlike(rows);
};

/** First answers that are ends, with better ends behind them. */
const spar: Loop = ({ root }) =>
  siblingsAt(root)
    .filter((first) => first.right === false && first.children.length > 0)
    .map(() => ['an answer that was refined']);

/** The Levenshtein distance by its definition. */
function edits(one: string, other: string): number {
  let row = Array.from({ length: other.length + 1 }, (_, place) => place);
  for (let i = 1; i <= one.length; i++) {
    const next = [i];
    for (let j = 1; j <= other.length; j++) {
      const replaced = (row[j - 1] as number) + (one[i - 1] === other[j - 1] ? 0 : 1);
      next.push(Math.min(replaced, (row[j] as number) + 1, (next[j - 1] as number) + 1));
    }
    row = next;
  }
  return row.at(-1) as number;
}

export const pairLoops: Readonly<Record<string, Loop>> = {
  'agent-q': agentQ,
  'mcts-dpo': mctsDpo,
  'rstar-math': rStarMath,
  spar,
  'step-apo': stepApo,
  'step-dpo': stepDpo,
  'step-q': stepQ,
  'tool-preference': toolPreference,
  trajectory,
};
