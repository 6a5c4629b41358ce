// What the trees say each row is, told without the code that makes rows' texts: nodes, notation, and the worlds.

import type { JsonValue } from '../../src/contracts/json.ts';
import type { Message } from '../../src/contracts/language-model.ts';
import type { SearchNode } from '../../src/contracts/node.ts';
import type { TreeRecord } from '../../src/data/record.ts';
import type { TrainingRow } from '../../src/data/rows.ts';
import { pathTo } from '../../src/tree/summary.ts';
import type { World } from './worlds.ts';

/** A turn as it should reach a model. */
interface Turn {
  readonly role: string;
  readonly content: string;
  readonly calls: readonly { readonly name: string; readonly input: JsonValue }[];
}

/** What a row should say, in words and as turns. */
export interface Expected {
  /** Finds the row of a file. */
  readonly key: string;
  readonly prompt: readonly Turn[];
  /** The completions, by the side or as `completion`. */
  readonly sides: Readonly<Record<string, readonly Turn[]>>;
  /** Whether nothing follows. */
  readonly ends: Readonly<Record<string, boolean>>;
  /** The prompt as text without a template, where it has no calls. */
  readonly text: string;
  /** The completions as text. */
  readonly texts: Readonly<Record<string, string>>;
  readonly steps: readonly string[];
  /** Whether a right end stands at or below each step. */
  readonly labels: readonly boolean[];
  readonly tools: readonly string[];
  readonly problem: string;
  readonly answer: string;
  readonly label: boolean;
  readonly margin: number;
}

/** A reward model is shown the rules and the question in one turn, and nothing that the model has said. */
function questionIn(shown: readonly Message[]): Message {
  const told = ['system', 'user'].flatMap((who) => shown.filter(({ role }) => role === who));
  return { role: 'user', content: told.map(({ content }) => content).join('\n\n') };
}

/** What the tree says of a row, by the nodes that it comes from. */
export function expectedOf(world: World, row: TrainingRow): Expected {
  const { tree: id, nodes: ids, problem } = row.provenance;
  const record = world.records.find((own) => (own.id ?? own.problem) === id);
  if (record === undefined) throw new Error(`The row comes from no tree: ${id}.`);
  const nodes = ids.map((node) => record.tree.node(node));
  const [from, ...others] = nodes;
  const last = nodes.at(-1);
  if (from === undefined || last === undefined) throw new Error('The row comes from no node.');
  const ends: Readonly<Record<string, SearchNode>> = sidesOf(row, last, others);
  const start = row.kind === 'unpaired' ? unpairedStart(row, nodes) : from;
  const shown = record.notation.prompt(start.state);
  const prompt = row.kind === 'stepwise' ? [questionIn(shown)] : shown;
  const sides = mapValues(ends, (end) => completion(world, record, [start, end]));
  const isPartial = prompt.at(-1)?.role === 'assistant';
  const path = row.kind === 'stepwise' || row.kind === 'rollout' ? others : [];
  return {
    key: `${id}|${ids.join(',')}`,
    prompt: prompt.map(turn),
    sides: mapValues(sides, (turns) => turns.map(turn)),
    ends: mapValues(ends, (node) => node.terminal),
    text: prompt.map(({ content }) => content).join('\n\n') + (isPartial ? '' : '\n'),
    texts: mapValues(sides, (turns) => (isPartial ? ' ' : '') + (turns[0]?.content ?? '')),
    steps: path.map((node) => formatted(record, node)),
    labels: path.map(hasRightEnd),
    tools: (record.tools ?? []).map(({ name }) => name),
    problem,
    answer: record.answer ?? '',
    label: row.kind === 'unpaired' && row.label,
    margin: row.kind === 'preference' ? difference(record, others) : 0,
  };
}

function sidesOf(
  row: TrainingRow,
  last: SearchNode,
  [one, other]: readonly SearchNode[],
): Readonly<Record<string, SearchNode>> {
  if (row.kind === 'prompt' || row.kind === 'stepwise') return {};
  if (row.kind !== 'preference') return { completion: last };
  if (one === undefined || other === undefined) throw new Error('A pair comes from three nodes.');
  return { chosen: one, rejected: other };
}

/** A single step starts at its parent. */
function unpairedStart({ kind }: TrainingRow, nodes: readonly SearchNode[]): SearchNode {
  const start = nodes.length > 1 ? nodes[0] : nodes[0]?.parent;
  if (start === undefined) throw new Error(`The ${kind} row has no start.`);
  return start;
}

function difference({ tree }: TreeRecord, [one, other]: readonly SearchNode[]): number {
  const worth = (node: SearchNode | undefined) =>
    node === undefined ? 0 : node.visits > 0 ? node.value : (tree.score(node) ?? 0);
  return worth(one) - worth(other);
}

/** What a model says from one node to another: a step, or all of them as the world has them stand together. */
function completion(
  { name }: World,
  record: TreeRecord,
  [from, end]: readonly [SearchNode, SearchNode],
): readonly Message[] {
  const path = pathTo(end).slice(from.depth + 1);
  const turns = path.map((node) => turnAt(record, node));
  if (name === 'tools') {
    // The tool answers between the calls stand in the state that the last action was taken in.
    const before = end.parent?.state as { readonly messages: readonly Message[] };
    const start = from.state as { readonly messages: readonly Message[] };
    return [...before.messages.slice(start.messages.length), ...turns.slice(-1)];
  }
  const between = name === 'puzzle' ? '\n' : '\n\n';
  const steps = path.map((node, place) => {
    const number = name === 'continued' && place > 0 ? `Step ${node.depth}: ` : '';
    return number + formatted(record, node);
  });
  return [{ role: 'assistant', content: steps.join(between) }];
}

function turnAt(record: TreeRecord, node: SearchNode): Message {
  const { action } = node;
  return record.notation.turn?.(action) ?? { role: 'assistant', content: formatted(record, node) };
}

function formatted({ notation }: TreeRecord, { action }: SearchNode): string {
  return notation.format(action);
}

function hasRightEnd(node: SearchNode): boolean {
  return (node.terminal && node.reward === 1) || node.children.some(hasRightEnd);
}

function turn({ role, content, toolCalls = [] }: Message): Turn {
  return { role, content, calls: toolCalls.map(({ name, input }) => ({ name, input })) };
}

function mapValues<From, To>(
  values: Readonly<Record<string, From>>,
  to: (value: From) => To,
): Readonly<Record<string, To>> {
  return Object.fromEntries(Object.entries(values).map(([name, value]) => [name, to(value)]));
}
