import fc from 'fast-check';
import { expect } from 'vitest';
import { type BackupRule, maxBackup, tdBackup } from '../../src/tree/backup.ts';
import { descend, flat, uct } from '../../src/tree/selection.ts';
import { treeFromJson, treeToJson } from '../../src/tree/serialize.ts';
import { summarise } from '../../src/tree/summary.ts';
import { property } from '../support/property.ts';
import { grow, noRandom, plant, type WordNode, type WordTree } from '../tree/grow.ts';

/** A child to grow below one of the nodes that are there, and whether to back it up. */
interface Step {
  readonly parent: number;
  readonly reward: number | undefined;
  readonly value: number;
  readonly terminal: boolean;
  readonly visits: number;
}

const unit = fc.double({ min: 0, max: 1, noNaN: true });
const step: fc.Arbitrary<Step> = fc.record({
  parent: fc.nat(1000),
  reward: fc.option(unit, { nil: undefined }),
  value: unit,
  terminal: fc.boolean(),
  visits: fc.nat(3),
});
const steps = fc.array(step, { maxLength: 30 });

/** Grows a tree step by step; returns it with the leaf of every simulation, in order. */
function growAll(
  all: readonly Step[],
  options: { readonly rule?: BackupRule; readonly discount: number },
): { readonly tree: WordTree; readonly leaves: readonly WordNode[] } {
  const tree = plant();
  const leaves: WordNode[] = [];
  for (const { parent, reward, visits, ...rest } of all) {
    const open = [...tree.nodes()].filter((node) => !node.terminal);
    const above = open[parent % open.length] ?? tree.root;
    const child = grow(tree, above, [
      `a${tree.size}`,
      { ...rest, ...(reward !== undefined && { reward }) },
    ]);
    for (let visit = 0; visit < visits; visit++) {
      tree.backup(child, options);
      leaves.push(child);
    }
  }
  return { tree, leaves };
}

/** G of a node in the simulation that ended at `leaf`: its rewards, each discounted by the edges before. */
function returnOf(node: WordNode, leaf: WordNode, discount: number): number {
  const path: WordNode[] = [];
  for (let own: WordNode | undefined = leaf; own !== undefined; own = own.parent) {
    path.unshift(own);
    if (own === node) break;
  }
  let sum = 0;
  let factor = 1;
  for (const { parent, reward } of path) {
    if (parent === undefined) continue;
    sum += factor * (reward ?? 0);
    factor *= discount;
  }
  const isPaid = leaf.terminal && leaf.reward !== undefined;
  return sum + factor * (isPaid ? 0 : (leaf.rawValue ?? 0));
}

function isBelow(leaf: WordNode, node: WordNode): boolean {
  let own: WordNode | undefined = leaf;
  while (own !== undefined && own !== node) own = own.parent;
  return own === node;
}

property([steps, unit])('visits are conserved', (all, discount) => {
  const { tree, leaves } = growAll(all, { discount });

  for (const node of tree.nodes()) {
    const ended = leaves.filter((leaf) => leaf === node).length;
    const below = node.children.reduce((sum, child) => sum + child.visits, 0);
    expect(node.visits).toBe(ended + below);
  }
  expect(tree.root.visits).toBe(leaves.length);
});

property([steps, unit])('the mean backup is the mean of all returns', (all, discount) => {
  const { tree, leaves } = growAll(all, { discount });

  for (const node of tree.nodes()) {
    const returns = leaves
      .filter((leaf) => isBelow(leaf, node))
      .map((leaf) => returnOf(node, leaf, discount));
    const mean = returns.reduce((sum, own) => sum + own, 0) / Math.max(1, returns.length);
    expect(node.value).toBeCloseTo(mean, 10);
  }
});

property([steps, unit])('the max backup is the best return below', (all, discount) => {
  const { tree, leaves } = growAll(all, { rule: maxBackup, discount });
  const best = (node: WordNode): number => {
    const visited = node.children.filter((child) => child.visits > 0).map(best);
    const reward = node.parent === undefined ? 0 : (node.reward ?? 0);
    const factor = node.parent === undefined ? 1 : discount;
    if (visited.length > 0) return reward + factor * Math.max(...visited);
    return leaves.includes(node) ? returnOf(node, node, discount) : 0;
  };

  // A node that was a leaf once more after it had children keeps the best of its children.
  for (const node of tree.nodes()) expect(node.value).toBeCloseTo(best(node), 10);
});

property([fc.array(fc.record({ ...stepWithoutRewards() }), { maxLength: 30 }), unit])(
  'values stay in [0, 1] where only ends are rewarded',
  (all, discount) => {
    for (const rule of [undefined, maxBackup, tdBackup()]) {
      const { tree } = growAll(all, { discount, ...(rule !== undefined && { rule }) });
      for (const { value } of tree.nodes()) {
        expect(value).toBeGreaterThanOrEqual(0);
        expect(value).toBeLessThanOrEqual(1 + 1e-12);
      }
    }
  },
);

/** Steps of which only terminal ones bring a reward. */
function stepWithoutRewards() {
  return {
    parent: fc.nat(1000),
    reward: fc.constant(undefined),
    value: unit,
    terminal: fc.boolean(),
    visits: fc.nat(3),
  };
}

property([steps, unit])('a fork and a saved tree are the same tree', (all, discount) => {
  const { tree } = growAll(all, { discount });
  const json = treeToJson(tree);

  expect(treeToJson(tree.fork())).toEqual(json);
  expect(treeToJson(treeFromJson(JSON.stringify(json)))).toEqual(json);
});

property([steps, unit])('the best terminal has the highest score of all', (all, discount) => {
  const { tree } = growAll(all, { discount });
  const scores = [...tree.nodes()]
    .filter((node) => node.terminal)
    .map((node) => ({ node, score: tree.score(node) ?? Number.NaN }))
    .sort((a, b) => b.score - a.score || a.node.depth - b.node.depth || a.node.id - b.node.id);

  expect(tree.bestTerminal).toBe(scores[0]?.node);
});

property([fc.array(fc.nat(1e9), { minLength: 1, maxLength: 20 }), fc.double({ min: 0, max: 5 })])(
  'action weights are a distribution in the order of the visits',
  (counts, temperature) => {
    fc.pre(!Number.isNaN(temperature) && counts.some((count) => count > 0));
    const tree = plant();
    for (const [index, visits] of counts.entries()) {
      const child = grow(tree, tree.root, [`a${index}`, {}]);
      tree.mutable(child.id).visits = visits;
    }
    const { actionWeights } = summarise(tree.root, { temperature });

    expect(actionWeights.reduce((sum, weight) => sum + weight, 0)).toBeCloseTo(1, 10);
    for (const [one, weight] of actionWeights.entries()) {
      for (const [other, otherWeight] of actionWeights.entries()) {
        if ((counts[one] ?? 0) > (counts[other] ?? 0)) {
          expect(weight).toBeGreaterThanOrEqual(otherWeight);
        }
      }
    }
  },
);

/** What happens to a tree: a child grows, or something befalls a node. */
const event = fc.record({
  node: fc.nat(1000),
  what: fc.constantFrom('grow', 'grow', 'end', 'complete', 'fail', 'prune', 'visit'),
});

/** Whether a node is done, by the words of the contract: worked out from the leaves up. */
function isDone(node: WordNode): boolean {
  if (node.status === 'failed' || node.status === 'pruned') return true;
  if (node.terminal) return node.visits > 0;
  return node.complete && node.children.every(isDone);
}

interface Event {
  readonly node: number;
  readonly what: string;
}

function live(events: readonly Event[]): WordTree {
  const tree = plant();
  for (const { node: place, what } of events) {
    const node = tree.node(place % tree.size);
    if (!node.terminal && !node.complete && node.status === 'open') develop(tree, node, what);
    if (what === 'visit' && (node.terminal || node.rawValue !== undefined)) tree.backup(node);
    if (node.parent === undefined) continue;
    if (what === 'fail') tree.fail(node, { kind: 'call', message: 'It broke.' });
    if (what === 'prune') tree.prune(node);
  }
  return tree;
}

function develop(tree: WordTree, node: WordNode, what: string): void {
  if (what === 'grow') grow(tree, node, ['a', { value: 0.5 }]);
  if (what === 'end') grow(tree, node, ['z', { reward: 1, terminal: true }]);
  if (what === 'complete') tree.complete(node);
}

property([fc.array(event, { maxLength: 60 })])(
  'a node is solved, or failed through its children, exactly when all below it is done',
  (events) => {
    for (const node of live(events).nodes()) {
      const closed =
        node.status === 'closed' ||
        node.status === 'failed' ||
        node.status === 'pruned' ||
        (node.status === 'terminal' && node.visits > 0);
      expect(closed).toBe(isDone(node));
    }
  },
);

property([fc.array(event, { maxLength: 60 })])(
  'a descent ends at an open node, and there is none only where all is done',
  (events) => {
    const tree = live(events);
    const leaf = descend(uct())(tree, noRandom);

    expect(leaf === undefined).toBe(isDone(tree.root));
    if (leaf !== undefined) {
      expect(isDone(leaf)).toBe(false);
      expect(leaf.children.every(isDone)).toBe(true);
    }
  },
);

property([fc.array(event, { maxLength: 60 })])(
  'the flat choice is the best of all open leaves',
  (events) => {
    const tree = live(events);
    const score = (node: { readonly id: number }) => (node.id * 7919) % 101;
    const open = [...tree.nodes()].filter((node) => node.children.length === 0 && !isDone(node));
    const reachable = open.map(score);

    const chosen = flat(score)(tree, noRandom);
    expect(chosen === undefined).toBe(open.length === 0);
    if (chosen !== undefined) expect(score(chosen)).toBe(Math.max(...reachable));
  },
);
