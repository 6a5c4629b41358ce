import { describeValue, expectFunction, expectMethods } from '../base/expect.ts';
import { expectOptions } from '../base/expect-options.ts';
import { visible } from '../base/visible.ts';
import type { JsonValue } from '../contracts/json.ts';
import type { SearchNode } from '../contracts/node.ts';
import { pathTo } from './summary.ts';
import type { SearchTree } from './tree.ts';

/**
 * A tree as text for a terminal: visits, value and prior of each node, the best path marked with `★`.
 *
 * Actions may come from a model: control characters in them are shown as text and not sent to the terminal.
 */
export function renderTree<State, Action>(
  tree: SearchTree<State, Action>,
  options: {
    /** An action as text. If it throws or returns no text, its JSON is shown. @defaultValue its JSON */
    readonly format?: (action: Action) => string;
    /** The number of levels below the root. The best path is always shown in full. @defaultValue 3 */
    readonly depth?: number;
    /** The number of children per node, most visited first. @defaultValue 4 */
    readonly breadth?: number;
    /** The maximum length of an action, in characters. @defaultValue 60 */
    readonly width?: number;
  } = {},
): string {
  expectMethods('tree', tree, ['backup']);
  expectOptions('renderTree', options, 'format depth breadth width');
  const { format = jsonOf, depth = 3, breadth = 4, width = 60 } = options;
  expectFunction('format', format);
  const best = new Set(pathTo(tree.best));
  const isVisited = tree.root.visits > 0;
  const label = (node: SearchNode<State, Action>): string =>
    node.kind === 'root'
      ? '●'
      : clip(
          visible(labelOf(node.action, format)).replaceAll('\n', '⏎').replaceAll('\t', ' '),
          width,
        );
  const lines: Line[] = [];
  // An explicit stack: paths may be longer than the call stack is deep.
  const stack: Entry<State, Action>[] = [{ node: tree.root, indent: '', branch: '' }];
  for (let entry = stack.pop(); entry !== undefined; entry = stack.pop()) {
    const { node, indent, branch } = entry;
    if (typeof node === 'number') {
      lines.push({ label: `${indent}${branch}… ${node} more`, numbers: '' });
      continue;
    }
    const mark = best.has(node) ? '★ ' : '';
    lines.push({
      label: `${indent}${branch}${mark}${label(node)}`,
      numbers: numbers(node, isVisited),
    });
    const isDeepest = branch === '' || indent.length >= deepest;
    const below = isDeepest ? indent : `${indent}${branch === last ? '   ' : '│  '}`;
    const ranked = node.children.toSorted((a, b) => b.visits - a.visits || b.value - a.value);
    const shown = ranked.filter((child, rank) => {
      return best.has(child) || (node.depth < depth && rank < breadth);
    });
    const entries = entriesOf(shown, ranked.length - shown.length, below);
    for (const child of entries.reverse()) stack.push(child);
  }

  const column = lines.reduce((most, line) => Math.max(most, line.label.length), 0);
  return lines
    .map(({ label: text, numbers: row }) => `${text.padEnd(column)}  ${row}`.trimEnd())
    .join('\n');
}

/** An action as text, whatever it is: one bad label must not cost the picture. */
function labelOf<Action>(action: Action, format: (action: Action) => unknown): string {
  for (const write of [format, jsonOf]) {
    try {
      const text = write(action);
      if (typeof text === 'string') return text;
    } catch {
      // The next way is tried.
    }
  }
  return describeValue(action).replaceAll('`', '');
}

function jsonOf(action: unknown): string {
  return JSON.stringify(action, (_key, part: unknown) =>
    typeof part === 'bigint' ? String(part) : part,
  );
}

/** The maximum indentation of a line, in characters: beyond it, paths are drawn straight down. */
const deepest = 120;

/** The branch of the last child. */
const last = '└─ ';

/** A node to draw, or the number of nodes left out, and its position. */
interface Entry<State, Action> {
  readonly node: SearchNode<State, Action> | number;
  readonly indent: string;
  readonly branch: string;
}

function entriesOf<State, Action>(
  shown: readonly SearchNode<State, Action>[],
  hidden: number,
  indent: string,
): Entry<State, Action>[] {
  const entries = hidden > 0 ? [...shown, hidden] : shown;
  return entries.map((node, index) => ({
    node,
    indent,
    branch: index === entries.length - 1 ? last : '├─ ',
  }));
}

interface Line {
  readonly label: string;
  readonly numbers: string;
}

/** Visits are left out for trees that were grown without any. */
function numbers(node: SearchNode, isVisited: boolean): string {
  const { visits, value, prior, depth, reward, status, notes } = node;
  const { g, h } = Object(notes['astar']) as Partial<Record<'g' | 'h', JsonValue>>;
  return [
    ...(isVisited ? [`N ${visits}`.padEnd(7)] : []),
    ...(visits > 0 ? [`${depth === 0 ? 'V' : 'Q'} ${value.toFixed(3)}`] : []),
    ...(depth > 0 ? [`P ${prior.toFixed(3)}`] : []),
    ...(typeof g === 'number' ? [`g ${round(g)}`] : []),
    ...(typeof h === 'number' ? [`h ${round(h)}`] : []),
    ...(reward === undefined ? [] : [`r ${round(reward)}`]),
    ...(status === 'open' ? [] : [status]),
  ].join('  ');
}

function round(value: number): string {
  return String(Math.round(value * 1000) / 1000);
}

/** Cuts a text without splitting a surrogate pair. */
function clip(text: string, width: number): string {
  return text.length > width
    ? `${text.slice(0, width - 1).replace(/[\uD800-\uDBFF]$/, '')}…`
    : text;
}
