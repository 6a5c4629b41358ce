import { seededRandom } from '../../base/random.ts';
import type { ChildNode, SearchNode } from '../../contracts/node.ts';
import { actionsTo, pathTo } from '../../tree/summary.ts';
import { type Paths, pathsIn } from '../paths.ts';
import { isEnd, isRight, type TreeRecord } from '../record.ts';

/** The beginning of a bad path, and the rest of a good one that goes on in its place. */
export interface Splice<State = unknown, Action = unknown> {
  /** The last step of the bad path that is kept: the first one judged wrong, or its end. */
  readonly bad: ChildNode<State, Action>;
  /** The end of the good path. */
  readonly good: ChildNode<State, Action>;
  /** The last node that both paths have in common. */
  readonly ancestor: SearchNode<State, Action>;
  /** The actions from `ancestor` to `good`. */
  readonly actions: readonly Action[];
  /** The score of `good`. */
  readonly goodScore: number;
  /** The score of the end of the bad path; the least, where several ends are cut at the same step. */
  readonly badScore: number;
}

/** Which paths are spliced. */
export interface SpliceOptions {
  /** α: a good path scores more than this. @defaultValue 0.5, ours */
  readonly alpha?: number;
  /** β, by how much more it scores than the bad one: more than this, from 0 up. @defaultValue 0.2, ours */
  readonly beta?: number;
  /** How many splices of one tree, by a draw: an integer from 1 up. @defaultValue 100, ours */
  readonly maxSplices?: number;
  /**
   * Whether a step is judged wrong. In the paper, the model that is trained judges its own steps.
   *
   * @defaultValue ends below it were scored, and none of them is right
   */
  readonly isWrong?: (node: ChildNode) => boolean;
}

interface Scored<State, Action> {
  readonly end: ChildNode<State, Action>;
  readonly score: number;
}

/**
 * The splices of a tree: for each two ends of which one is good, and better than the other by more than β, the bad path
 * up to its first wrong step and the good one from the last common node on. Two splices that share both are one. There
 * is none if the wrong step is also on the good path, or if the good path ends on the bad one.
 */
export function splicesOf<State, Action>(
  record: TreeRecord<State, Action>,
  options: SpliceOptions = {},
): readonly Splice<State, Action>[] {
  const { alpha = 0.5, beta = 0.2, maxSplices = 100 } = options;
  const paths = pathsIn(record);
  // On the way to an end that was scored, some end below was.
  const isWrong =
    options.isWrong ??
    ((node: ChildNode) => paths.endsAt(node as ChildNode<State, Action>).right === 0);
  const ends = paths.to(isEnd).flatMap((end): readonly Scored<State, Action>[] => {
    // How late an end is reached makes it no less good.
    const score = record.tree.score(end, 1);
    return score === undefined ? [] : [{ end, score }];
  });
  const goods = ends.filter(({ score }) => score > alpha);
  const most = goods.reduce((highest, { score }) => Math.max(highest, score), -Infinity);
  const cuts = cutsOf(ends, isWrong, { ...paths, record }).filter(
    ({ score }) => most - score > beta,
  );
  return draw(record, goods.length * cuts.length, {
    count: maxSplices,
    at(index) {
      const good = goods[Math.floor(index / cuts.length)];
      const cut = cuts[index % cuts.length];
      if (good === undefined || cut === undefined || !(good.score - cut.score > beta)) {
        return undefined;
      }
      const scores = { goodScore: good.score, badScore: cut.score };
      return spliceOf(cut.end, good.end, { ...scores, paths });
    },
  });
}

/** Where paths are cut, each place once, in the order of the ends. */
function cutsOf<State, Action>(
  ends: readonly Scored<State, Action>[],
  isWrong: (node: ChildNode) => boolean,
  {
    stepOf,
    record,
  }: Pick<Paths<State, Action>, 'stepOf'> & { readonly record: TreeRecord<State, Action> },
): readonly Scored<State, Action>[] {
  const cuts = new Map<number, Scored<State, Action>>();
  for (const { end, score } of ends) {
    const wrong = firstWrong(end, isWrong);
    // A right path without a wrong step has nothing to correct.
    if (wrong === undefined && isRight(record, end) === true) continue;
    const bad = wrong ?? end;
    const step = stepOf(bad).id;
    const known = cuts.get(step);
    cuts.set(step, { end: known?.end ?? bad, score: Math.min(known?.score ?? score, score) });
  }
  return [...cuts.values()];
}

function firstWrong<State, Action>(
  end: ChildNode<State, Action>,
  isWrong: (node: ChildNode) => boolean,
): ChildNode<State, Action> | undefined {
  for (const node of pathTo<State, Action>(end)) {
    if (node.kind !== 'root' && isWrong(node)) return node;
  }
  return undefined;
}

function spliceOf<State, Action>(
  bad: ChildNode<State, Action>,
  good: ChildNode<State, Action>,
  {
    paths: { placeOf },
    ...scores
  }: Pick<Splice, 'badScore' | 'goodScore'> & { readonly paths: Paths<State, Action> },
): Splice<State, Action> | undefined {
  const wrongWay = pathTo<State, Action>(bad);
  const rightWay = pathTo<State, Action>(good);
  const shared = wrongWay.findIndex(
    (node, place) => rightWay[place] === undefined || placeOf(node) !== placeOf(rightWay[place]),
  );
  const ancestor = rightWay[shared - 1];
  if (ancestor === undefined || ancestor === good) return undefined;
  const actions = actionsTo<State, Action>(good).slice(ancestor.depth);
  return { bad, good, ancestor, actions, ...scores };
}

/**
 * Draws this number of items from the places 0 to `size − 1` uniformly at random, in order; most places may be empty.
 * The number of pairs is the square of that of the ends: no more of them are examined than necessary.
 */
function draw<State, Action, Value>(
  { tree, problem, id = problem }: TreeRecord<State, Action>,
  size: number,
  { count, at }: { readonly count: number; readonly at: (index: number) => Value | undefined },
): readonly Value[] {
  const random = seededRandom(tree.origin.seed).split('agent-r', id);
  const moved = new Map<number, number>();
  const found: { readonly index: number; readonly value: Value }[] = [];
  for (let left = size; left > 0 && found.length < count; left--) {
    // The last index that is left takes the place of the one that is drawn.
    const place = random.integer(left);
    const index = moved.get(place) ?? place;
    moved.set(place, moved.get(left - 1) ?? left - 1);
    const value = at(index);
    if (value !== undefined) found.push({ index, value });
  }
  return found.toSorted((one, other) => one.index - other.index).map(({ value }) => value);
}
