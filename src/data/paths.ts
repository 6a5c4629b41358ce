import type { ChildNode, SearchNode } from '../contracts/node.ts';
import { pathTo } from '../tree/summary.ts';
import { isEnd, isPart, isRight, promptAt, type TreeRecord } from './record.ts';

/** Right and wrong ends at a node and below it. */
export type EndCounts = Readonly<Record<'right' | 'wrong', number>>;

/**
 * The definition of a path for all rules. A path leads from the root over nodes that have not failed, duplicates among
 * them: the nodes below one were reached. Siblings of equal text, surrounding space aside, are one step, and the nodes
 * found below any of them were found after that step. They continue as one if the prompts after them are equal, which
 * they are not if a tool answered the same call in two ways. Two paths with the same steps are one.
 */
export interface Paths<State, Action> {
  /** All nodes on paths, in the order of their ids. */
  readonly nodes: readonly ChildNode<State, Action>[];
  /** The first node that is the same step as this one: the same object for equal steps. */
  stepOf(node: SearchNode<State, Action>): SearchNode<State, Action>;
  /** The first node behind whose step the prompt is that of this one: the same object for nodes that share it. */
  placeOf(node: SearchNode<State, Action>): SearchNode<State, Action>;
  /** The children of a node, and of all that share its place, in the order of their ids. */
  below(node: SearchNode<State, Action>): readonly ChildNode<State, Action>[];
  /**
   * One node of each step that has a node as wanted: of several a scored end, then an end, then one that is no
   * duplicate, then the most visited, then the first.
   */
  to(isWanted: (node: ChildNode<State, Action>) => boolean): readonly ChildNode<State, Action>[];
  /** The ends at and below the step of a node, each path once. Ends without a score do not count. */
  endsAt(node: SearchNode<State, Action>): EndCounts;
}

type PathSource<State, Action> = Pick<
  TreeRecord<State, Action>,
  'correctFrom' | 'notation' | 'tree'
>;

/** Reads the paths of a tree in its current state. */
export function pathsIn<State, Action>(record: PathSource<State, Action>): Paths<State, Action> {
  const { tree } = record;
  const nodes = nodesOnPaths(record);
  const { steps, places } = equalSteps(record, nodes);
  const stepOf = (node: SearchNode<State, Action>) => steps[node.id] ?? node;
  // A duplicate whose text differs from its original's says what the original represents.
  const isOwn = (node: ChildNode<State, Action>) =>
    node.duplicateOf === undefined || stepOf(node) === stepOf(tree.original(node));
  const to = (isWanted: (node: ChildNode<State, Action>) => boolean) =>
    oneOfEach(
      nodes.filter((node) => isOwn(node) && isWanted(node)),
      stepOf,
      (node) => [
        Number(isEnd(node) && tree.score(node) !== undefined),
        Number(isEnd(node)),
        Number(isPart(node)),
        node.visits,
      ],
    );
  const placeOf = (node: SearchNode<State, Action>) => places[node.id] ?? node;
  let families: ReadonlyMap<unknown, readonly ChildNode<State, Action>[]> | undefined;
  let counts: readonly EndCounts[] | undefined;
  return {
    nodes,
    stepOf,
    placeOf,
    below(node) {
      families ??= byPlace(nodes, placeOf);
      return families.get(placeOf(node)) ?? [];
    },
    to,
    endsAt(node) {
      counts ??= countEnds(record, to(isEnd), stepOf);
      return counts[stepOf(node).id] ?? none;
    },
  };
}

/** The nodes of which rows may be made, with all above them on a path. Duplicates make none of their own. */
export function partsOf<State, Action>(
  record: Pick<TreeRecord<State, Action>, 'tree'>,
): readonly ChildNode<State, Action>[] {
  return nodesOnPaths(record).filter(isPart);
}

const none: EndCounts = { right: 0, wrong: 0 };

function nodesOnPaths<State, Action>({
  tree,
}: Pick<TreeRecord<State, Action>, 'tree'>): readonly ChildNode<State, Action>[] {
  const isOut: boolean[] = [];
  const nodes: ChildNode<State, Action>[] = [];
  for (const node of tree.nodes()) {
    if (node.kind === 'root') continue;
    const out = node.status === 'failed' || isOut[node.parent.id] === true;
    isOut[node.id] = out;
    if (!out) nodes.push(node);
  }
  return nodes;
}

/** By node id, for nodes that are not the first of their step, or of their prompt: which one is. */
interface EqualSteps<State, Action> {
  readonly steps: readonly (SearchNode<State, Action> | undefined)[];
  readonly places: readonly (SearchNode<State, Action> | undefined)[];
}

function equalSteps<State, Action>(
  record: PathSource<State, Action>,
  nodes: readonly ChildNode<State, Action>[],
): EqualSteps<State, Action> {
  const steps: SearchNode<State, Action>[] = [];
  const places: SearchNode<State, Action>[] = [];
  const families = new Map<SearchNode<State, Action>, Map<string, ChildNode<State, Action>>>();
  const placeBehind = placesBehind(record);
  for (const node of nodes) {
    const above = places[node.parent.id] ?? node.parent;
    const family = families.get(above) ?? new Map<string, ChildNode<State, Action>>();
    families.set(above, family);
    const text = record.notation.format(node.action).trim();
    const step = family.get(text);
    if (step === undefined) family.set(text, node);
    else {
      steps[node.id] = step;
      // No other code asks where a step without children led.
      if (node.children.length > 0) places[node.id] = placeBehind(step, node);
    }
  }
  return { steps, places };
}

/** Finds the first node of a step behind which the prompt is that of another node of it. */
function placesBehind<State, Action>(
  record: PathSource<State, Action>,
): (step: ChildNode<State, Action>, node: ChildNode<State, Action>) => ChildNode<State, Action> {
  const known = new Map<SearchNode<State, Action>, Map<string, ChildNode<State, Action>>>();
  // Only a state that was reached has a prompt.
  const promptOf = (node: ChildNode<State, Action>) =>
    node.kind === 'realised' ? JSON.stringify(promptAt(record, node)) : `node ${node.id}`;
  return (step, node) => {
    const behind = known.get(step) ?? new Map([[promptOf(step), step]]);
    known.set(step, behind);
    const prompt = promptOf(node);
    const first = behind.get(prompt) ?? node;
    behind.set(prompt, first);
    return first;
  };
}

function byPlace<State, Action>(
  nodes: readonly ChildNode<State, Action>[],
  placeOf: Paths<State, Action>['placeOf'],
): ReadonlyMap<SearchNode<State, Action>, readonly ChildNode<State, Action>[]> {
  const families = new Map<SearchNode<State, Action>, ChildNode<State, Action>[]>();
  for (const node of nodes) {
    const place = placeOf(node.parent);
    const family = families.get(place);
    if (family === undefined) families.set(place, [node]);
    else family.push(node);
  }
  return families;
}

function oneOfEach<State, Action>(
  nodes: readonly ChildNode<State, Action>[],
  stepOf: Paths<State, Action>['stepOf'],
  ranksOf: (node: ChildNode<State, Action>) => readonly number[],
): readonly ChildNode<State, Action>[] {
  const chosen = new Map<SearchNode<State, Action>, ChildNode<State, Action>>();
  for (const node of nodes) {
    const step = stepOf(node);
    const known = chosen.get(step);
    if (known === undefined || ranksBefore(ranksOf(node), ranksOf(known))) chosen.set(step, node);
  }
  return [...chosen.values()].toSorted((one, other) => one.id - other.id);
}

/** Whether the first rank in which they differ is the higher one. */
function ranksBefore(one: readonly number[], other: readonly number[]): boolean {
  const place = one.findIndex((rank, index) => rank !== other[index]);
  return place >= 0 && (one[place] ?? 0) > (other[place] ?? 0);
}

function countEnds<State, Action>(
  record: PathSource<State, Action>,
  ends: readonly ChildNode<State, Action>[],
  stepOf: Paths<State, Action>['stepOf'],
): readonly EndCounts[] {
  const counts = Array.from({ length: record.tree.size }, () => ({ right: 0, wrong: 0 }));
  for (const end of ends) {
    const right = isRight(record, end);
    if (right === undefined) continue;
    for (const node of pathTo<State, Action>(end)) {
      const count = counts[stepOf(node).id];
      if (count !== undefined) count[right ? 'right' : 'wrong'] += 1;
    }
  }
  return counts;
}
