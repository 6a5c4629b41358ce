import { counted } from '../base/counted.ts';
import { expectation } from '../base/expect.ts';
import { readRun, type SavedRun, type TreeEntry } from '../runs/index.ts';
import { readTree } from '../runs/records.ts';
import { noTree, showing } from '../runs/run-records.ts';
import { type Task, tasks } from '../runs/tasks.ts';
import { renderTree } from '../tree/render.ts';
import { subtree } from '../tree/selection.ts';
import type { SearchTree } from '../tree/tree.ts';
import { oneLine, print, writeOut } from './output.ts';

/** What `espalier tree` was asked for. */
export interface TreeRequest {
  readonly problem?: string;
  readonly depth: number;
  readonly breadth: number;
  readonly json?: boolean;
}

/** What the columns of a drawn tree mean. */
export const legend = '★ best path · N visits · Q value (V at the root) · P prior';

/** What A* adds to them. */
const costLegend = 'g cost so far · h cost to come';

/** Runs `espalier tree`: prints the trees of a run folder. */
export function runTreeCommand(path: string, request: TreeRequest): void {
  const saved = readRun(path);
  if (saved.trees.length === 0) throw noTree(path, saved);
  const trees = treesOf(saved.trees, request.problem);
  if (request.json === true) {
    printJson(trees);
    return;
  }
  let hasCosts = false;
  for (const stored of trees) {
    const tree = readTree(stored, { path, codec: undefined });
    hasCosts ||= tree.root.notes['astar'] !== undefined;
    print(`${draw({ ...stored, tree, path }, saved, request)}\n`);
  }
  print(hasCosts ? `${legend} · ${costLegend}` : legend);
}

/** The trees of a problem, or all. */
function treesOf(trees: SavedRun['trees'], problem: string | undefined): SavedRun['trees'] {
  const chosen = trees.filter((tree) => problem === undefined || tree.problem === problem);
  if (chosen.length > 0) return chosen;
  const known = new Set(trees.map((tree) => tree.problem));
  const some = [...known].slice(0, 10).join(', ');
  const more = known.size > 10 ? ` and ${known.size - 10} more` : '';
  throw expectation('--problem', `one of ${some}${more}`, problem);
}

/** One array, a tree at a time: all of a run together may be longer than a string can be. */
function printJson(trees: SavedRun['trees']): void {
  for (const [place, { read, ...of }] of trees.entries()) {
    writeOut(`${place === 0 ? '[' : ','}\n${JSON.stringify({ ...of, tree: read() })}`);
  }
  writeOut('\n]\n');
}

/** A tree, and what it belongs to. */
interface Drawn extends Omit<TreeEntry, 'tree'> {
  /** The folder of the run. */
  readonly path: string;
  readonly tree: SearchTree<unknown, unknown>;
}

function draw(entry: Drawn, saved: SavedRun, { depth, breadth }: TreeRequest): string {
  const { tree } = entry;
  const { task, input } = puzzleOf(entry, saved);
  const format = task && showing(entry, () => actionFormat(task, input));
  // A picture shows whatever there is, but the actions of a saved tree must be those of its puzzle.
  if (format !== undefined) showing(entry, () => formatAll(tree, format));
  const picture = renderTree(tree, { depth, breadth, ...(format !== undefined && { format }) });
  return `${headingOf(entry, saved.run, task)}\n\n${picture}`;
}

/** What a tree is about, where it is a puzzle: said of each problem of a run over many, else by run.json. */
function puzzleOf({ problem }: Drawn, { run, asked }: SavedRun) {
  const own = asked.find((each) => fieldOf(each, 'id') === problem);
  const name = fieldOf(own ?? run, 'task');
  const task = Object.entries(tasks).find(([known]) => known === name)?.[1];
  return { task, input: fieldOf(own ?? run, 'input') ?? problem };
}

/** Actions in the notation of the puzzle. */
function actionFormat({ puzzle }: Task, input: string): (action: unknown) => string {
  const { notation } = puzzle.environment(puzzle.parse(input));
  return (action) => notation.format(action);
}

function formatAll({ root }: SearchTree<unknown, unknown>, format: (action: unknown) => string) {
  for (const node of subtree(root)) if (node.kind !== 'root') format(node.action);
}

function headingOf(
  { problem, attempt, step, tree }: Drawn,
  run: SavedRun['run'],
  task: Task | undefined,
): string {
  // An algorithm of one's own is named by its module.
  const algorithm = fieldOf(run, 'algorithm') ?? fieldOf(Object(run?.['algorithm']), 'module');
  return [
    task?.puzzle.title ?? tree.origin.environment,
    ...(problem.includes('\n') ? [] : [oneLine(problem)]),
    ...(algorithm === undefined ? [] : [algorithm]),
    counted(tree.simulations, 'simulation'),
    counted(tree.size, 'node'),
    ...(attempt > 0 ? [`attempt ${attempt}`] : []),
    ...(step > 0 ? [`step ${step}`] : []),
  ].join(' · ');
}

function fieldOf(fields: SavedRun['run'], name: string): string | undefined {
  const value = fields?.[name];
  return typeof value === 'string' ? value : undefined;
}
