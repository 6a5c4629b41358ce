/** Supervised, unpaired and reinforcement rows as their papers say, by loops over raw trees. */
import { named, near } from './found.ts';
import {
  bestOf,
  endsBehind,
  endsOf,
  type Loop,
  mean,
  unlike,
  wholePath,
  zScores,
} from './loops.ts';
import { once, placeKey, type Raw, type RawTree, stepKey, type Turn, wayTo } from './raw.ts';
import { walk } from './walk.ts';

const rewardOf = ({ right }: Raw): number => Number(right);
const byText = ([prompt, completion]: readonly unknown[]) => [prompt, completion];

const bestTrajectories: Loop = (tree) => {
  const right = endsOf(tree).filter((end) => end.right === true);
  const valued = right.map((end) => ({ end, values: wayTo(end).map(({ q }) => q) }));
  const best = valued.toSorted(
    (a, b) => mean(b.values) - mean(a.values) || Math.min(...b.values) - Math.min(...a.values),
  );
  const rows = best.map(({ end, values }) => [
    tree.root.context,
    wholePath(tree, end),
    near(mean(values)),
    true,
  ]);
  return unlike(rows, byText).slice(0, 2);
};

/** The bad path to its first wrong step, the thought `T`, and the good path from where they part. */
const agentR: Loop = (tree) => {
  const ends = endsOf(tree);
  const isLost = (node: Raw) => endsBehind(tree, node).every((end) => end.right !== true);
  const goods = ends.filter((end) => end.right === true);
  const bads = ends.filter((end) => end.right === false);
  const rows = goods.flatMap((good) =>
    bads.flatMap((end) => {
      const bad = wayTo(end).find(isLost) ?? end;
      const [wrong, right] = [wayTo(bad), wayTo(good)];
      const parting = wrong.findIndex(
        (node, place) =>
          node !== right[place] &&
          JSON.stringify(node.context) !== JSON.stringify(right[place]?.context),
      );
      const from = parting === 0 ? tree.root : right[parting - 1];
      if (parting < 0 || from === undefined || from === good) return [];
      const rest = wholePath(tree, good, from);
      const spoken: readonly Turn[] = tree.isWhole
        ? [['assistant', 'T', []], ['user', 'OK.', []], ...rest]
        : [['assistant', ['T', ...rest.map(([, content]) => content)].join(tree.parted), []]];
      return [[bad.context, spoken, 1, true]];
    }),
  );
  return unlike(rows, byText);
};

/** With `c` for a critique of everything. */
const refiner: Loop = (tree) => {
  const worthOf = ({ right, estimate, q }: Raw) =>
    right === undefined ? (estimate ?? q) : Number(right);
  const rows = tree.nodes.flatMap((node) => {
    const { parent, twinOf, right } = node;
    if (parent === undefined || twinOf !== undefined || parent.right === true) return [];
    if (right !== true && !(worthOf(node) > worthOf(parent))) return [];
    const last = parent.context.at(-1) as Turn;
    const words = 'c\n\nAgain.';
    const prompt: readonly Turn[] =
      last[0] === 'user'
        ? [...parent.context.slice(0, -1), ['user', `${last[1]}\n\n${words}`, []]]
        : [...parent.context, ['user', words, []]];
    return [[prompt, [node.turn], near(worthOf(node)), right !== undefined]];
  });
  return unlike(rows, byText);
};

const unpairedEnds: Loop = (tree) =>
  unlike(
    endsOf(tree).map((end) => [tree.root.context, wholePath(tree, end), rewardOf(end), end.right]),
    byText,
  );

const unpairedSiblings: Loop = ({ nodes }) =>
  unlike(
    nodes
      .filter(({ parent, twinOf, n }) => parent !== undefined && twinOf === undefined && n > 0)
      .filter(({ q }) => q >= 0.75 || q <= 0.25)
      .map(({ parent, turn, q }) => [parent?.context, [turn], near(q), q >= 0.75]),
    byText,
  );

const prompts: Loop = (tree) => {
  const ends = endsOf(tree);
  const solved = ends.filter((end) => end.right === true).length / Math.max(1, ends.length);
  const rate = tree.isWhole ? solved : (tree.root.estimate ?? 0);
  return [[tree.root.context, tree.answer, near(tree.root.q), near(rate)]];
};

/** The mean reward of the distinct ends behind a step. */
function valueAt(tree: RawTree, node: Raw): number {
  const ends = endsBehind(tree, node);
  return ends.length === 0 ? 0 : mean(ends.map(rewardOf));
}

type OfPath = (tree: RawTree, end: Raw) => number;
type OfSteps = (tree: RawTree, end: Raw) => readonly number[];

const credits = once((tree: RawTree) => zScores(endsOf(tree).map(rewardOf)));

const grpo: OfPath = (tree, end) => {
  return credits(tree)[endsOf(tree).indexOf(end)] as number;
};

function treePo(isWeighted: boolean): OfPath {
  return (tree, end) => {
    const groups = [tree.root, ...wayTo(end)].map((node) => endsBehind(tree, node).map(rewardOf));
    const counted = groups.filter((group, depth) => depth === 0 || group.length > 1);
    const weights = counted.map((group) => (isWeighted ? group.length : 1));
    const terms = counted.map(
      (group, place) => (weights[place] as number) * (rewardOf(end) - mean(group)),
    );
    return terms.reduce((sum, term) => sum + term, 0) / weights.reduce((sum, one) => sum + one, 0);
  };
}

const each =
  (advantage: (tree: RawTree, node: Raw) => number): OfSteps =>
  (tree, end) =>
    wayTo(end).map((node) => advantage(tree, node));

const local = (tree: RawTree, node: Raw) => valueAt(tree, node) - valueAt(tree, node.parent as Raw);
const global = (tree: RawTree, node: Raw) => valueAt(tree, node) - valueAt(tree, tree.root);

const sibling = (tree: RawTree, node: Raw): number => {
  const beside = tree.nodes.filter(
    (other) => placeKey(other) === placeKey(node) && endsBehind(tree, other).length > 0,
  );
  const keys = [...new Set(beside.map(stepKey))];
  const first = keys.map((key) => beside.find((other) => stepKey(other) === key) as Raw);
  return zScores(first.map((other) => valueAt(tree, other)))[keys.indexOf(stepKey(node))] as number;
};

/** The mean of the path's own credit over all paths that take the same step in the same state. */
const salt = (tree: RawTree, node: Raw): number => {
  const sharing = endsOf(tree).filter((end) =>
    wayTo(end).some((step) => stepKey(step) === stepKey(node)),
  );
  return mean(sharing.map((end) => grpo(tree, end)));
};

const gigpoStep: OfSteps = (tree, end) => {
  const returnAt = (of: Raw, place: number) =>
    0.95 ** (wayTo(of).length - 1 - place) * rewardOf(of);
  return wayTo(end).map((node, place) => {
    const from = endsOf(tree).flatMap((other) =>
      wayTo(other).flatMap((step, at) =>
        placeKey(step) === placeKey(node) ? [{ other, at }] : [],
      ),
    );
    const scores = zScores(from.map(({ other, at }) => returnAt(other, at)));
    return scores[from.findIndex(({ other, at }) => other === end && at === place)] as number;
  });
};

const ofPaths: Readonly<Record<string, OfPath>> = {
  grpo,
  'tree-grpo': (tree, end) => 2 * grpo(tree, end),
  'tree-po': treePo(false),
  'tree-po-weighted': treePo(true),
};

const ofSteps: Readonly<Record<string, OfSteps>> = {
  value: each(valueAt),
  local: each(local),
  global: each(global),
  'tree-rl': each(
    (tree, node) =>
      (local(tree, node) + global(tree, node)) / Math.sqrt(endsBehind(tree, node).length),
  ),
  sibling: each(sibling),
  salt: each(salt),
  'gigpo-step': gigpoStep,
  gigpo: (tree, end) => gigpoStep(tree, end).map((one) => one + grpo(tree, end)),
};

function rollouts(paths: readonly string[], steps: readonly string[]): Loop {
  return (tree) =>
    endsOf(tree).map((end) => [
      tree.root.context,
      wholePath(tree, end),
      rewardOf(end),
      wayTo(end).map(({ text }) => text),
      ...named(
        paths.map((name) => [name, near((ofPaths[name] as OfPath)(tree, end))] as const),
        steps.map((name) => [name, (ofSteps[name] as OfSteps)(tree, end).map(near)] as const),
      ),
    ]);
}

export const pathLoops: Readonly<Record<string, Loop>> = {
  'agent-r': agentR,
  'best-trajectories': bestTrajectories,
  groups: rollouts(['grpo'], []),
  // The files hold no critiques that a judge could learn.
  judge: () => [],
  prompts,
  refiner,
  traversals: (tree) => (bestOf(tree)?.right === true ? walk(tree) : []),
  'tree-advantages': rollouts(Object.keys(ofPaths), Object.keys(ofSteps)),
  'unpaired-ends': unpairedEnds,
  'unpaired-siblings': unpairedSiblings,
};
