import { expectation, expectInteger } from '../base/expect.ts';
import { isPlainObject } from '../base/json.ts';
import { seededRandom } from '../base/random.ts';
import type { ChildNode, SearchNode } from '../contracts/node.ts';
import { type Paths, pathsIn } from './paths.ts';
import { isEnd, isPart, isRight, type TreeRecord } from './record.ts';

/** Which paths of the trees of a problem become rows. */
export type PathChoice = 'balanced' | 'ends' | 'leaves' | Readonly<Record<'best', number>>;

/** A path from the root of a tree to a node. */
export interface TreePath<State, Action> {
  readonly record: TreeRecord<State, Action>;
  readonly end: ChildNode<State, Action>;
}

/** Throws a usage error unless `value` says which paths become rows. */
export function expectPathChoice(name: string, value: unknown): void {
  if (isPlainObject(value) && 'best' in value) {
    expectInteger(`${name}.best`, value['best'], { min: 1 });
  } else if (!['balanced', 'ends', 'leaves'].includes(value as string)) {
    throw expectation(name, "'ends', 'balanced', 'leaves' or { best }", value);
  }
}

/** The paths of a problem, by tree and then in the order of the ids of their ends. */
export function choosePaths<State, Action>(
  trees: readonly TreeRecord<State, Action>[],
  choice: PathChoice,
): readonly TreePath<State, Action>[] {
  const paths = trees.flatMap((record) => {
    const own = pathsIn(record);
    const ends = own.to(choice === 'leaves' ? leafOrEnd(own) : isEnd);
    return ends.map((end): TreePath<State, Action> => ({ record, end }));
  });
  if (choice === 'balanced') return balanced(paths);
  return typeof choice === 'string' ? paths : best(paths, choice.best);
}

/** Whether a node is an end, or nothing was built on its step, whichever of its nodes one asks. */
function leafOrEnd<State, Action>({
  nodes,
  stepOf,
}: Paths<State, Action>): (node: SearchNode<State, Action>) => boolean {
  const builtOn = new Set(nodes.filter(isPart).map(({ parent }) => stepOf(parent)));
  return (node) => isEnd(node) || (isPart(node) && !builtOn.has(stepOf(node)));
}

function best<State, Action>(
  paths: readonly TreePath<State, Action>[],
  count: number,
): readonly TreePath<State, Action>[] {
  const scoreOf = ({ record, end }: TreePath<State, Action>) => record.tree.score(end);
  return paths
    .filter((path) => scoreOf(path) !== undefined)
    .toSorted((one, other) => (scoreOf(other) ?? 0) - (scoreOf(one) ?? 0))
    .slice(0, count);
}

function balanced<State, Action>(
  paths: readonly TreePath<State, Action>[],
): readonly TreePath<State, Action>[] {
  const kindOf = ({ record, end }: TreePath<State, Action>) => isRight(record, end);
  const kinds = [true, false].map((right) => paths.filter((path) => kindOf(path) === right));
  const count = Math.min(...kinds.map(({ length }) => length));
  const taken = new Set(kinds.flatMap((kind) => draw(kind, count)));
  return paths.filter((path) => taken.has(path));
}

/** Chooses this number of paths uniformly at random. A path keeps its number whatever other paths there are. */
function draw<State, Action>(
  paths: readonly TreePath<State, Action>[],
  count: number,
): readonly TreePath<State, Action>[] {
  const numbers = new Map(
    paths.map((path) => {
      const { tree, id = path.record.problem } = path.record;
      const random = seededRandom(tree.origin.seed).split('balanced', id, path.end.id);
      return [path, random.next()] as const;
    }),
  );
  return paths
    .toSorted((one, other) => (numbers.get(one) ?? 0) - (numbers.get(other) ?? 0))
    .slice(0, count);
}
