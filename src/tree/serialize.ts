import { EspalierError } from '../base/errors.ts';
import { describeValue, expectMethods, expectObject } from '../base/expect.ts';
import { issueTexts } from '../base/issue-texts.ts';
import { isPlainObject } from '../base/json.ts';
import type { Environment } from '../contracts/environment.ts';
import type { Codec, JsonValue } from '../contracts/json.ts';
import type { TreeNode } from './node.ts';
import { savedTree } from './saved-tree.ts';
import { SearchTree } from './tree.ts';
import { type NodeJson, type TreeJson, treeSchema, treeVersion } from './tree-json.ts';

/**
 * A tree as JSON.
 *
 * @param environment - Provides the codec of states. If left out, states must be JSON.
 * @throws EspalierError `usage`, naming the path, for a state or an action that JSON cannot hold.
 */
export function treeToJson<State, Action>(
  tree: SearchTree<State, Action>,
  environment: Partial<Pick<Environment<State, never>, 'codec' | 'name'>> = {},
): TreeJson {
  expectMethods('tree', tree, ['backup']);
  expectObject('environment', environment);
  return savedTree(tree, environment.codec);
}

/**
 * Restores a tree from JSON or its text. `treeFromJson(treeToJson(t))` equals `t`.
 *
 * @param environment - Provides the codec that wrote the states, and the types of states and actions.
 * @throws EspalierError `invalid-tree`, naming the field.
 */
export function treeFromJson<State = unknown, Action = unknown>(
  source: unknown,
  environment: Partial<Environment<State, Action>> = {},
): SearchTree<State, Action> {
  expectObject('environment', environment);
  const saved = typeof source === 'string' ? parseText(source) : source;
  const read = parse(saved);
  const decode = decoderOf(environment.codec);
  const [root] = read.nodes;
  if (root?.state === undefined) throw invalid('nodes.0.state', 'the root must have a state');
  const { environment: grownIn, seed } = read;
  const origin = { environment: grownIn, seed };
  const tree = new SearchTree<State, Action>(decode(root.state, 0), origin);
  tree.simulations = read.simulations;
  tree.handedBack = read.handedBack ?? 0;
  tree.discount = read.discount ?? 1;
  tree.rule = read.rule;
  for (const stamp of read.stamps) tree.stamps.add(stamp);
  for (const [id, node] of read.nodes.entries()) {
    if (id > 0) tree.append(parentOf(node, id), { action: node.action as Action, prior: 1 });
    const own = tree.mutable(id);
    fill(own, node);
    if (node.state !== undefined && id > 0) own.state = decode(node.state, id);
    expectNode(`nodes.${id}.duplicateOf`, node.duplicateOf, read);
  }
  readLog(tree, read);
  expectPosition(read);
  tree.restore(read);
  return tree;
}

function expectPosition(read: TreeJson): void {
  const { cursor, preferred, conclusion } = read;
  expectNode('cursor', cursor, read);
  expectNode('preferred', preferred, read);
  expectNode('conclusion.node', conclusion?.node, read);
  for (const { nodes } of conclusion?.shares ?? []) {
    for (const id of nodes) expectNode('conclusion.shares', id, read);
  }
}

function decoderOf<State>(codec: Codec<State> | undefined) {
  return (state: JsonValue, id: number): State => {
    if (codec === undefined) return state as State;
    try {
      return codec.decode(state);
    } catch (cause) {
      throw invalid(`nodes.${id}.state`, 'its codec could not decode it', cause);
    }
  };
}

function fill<State, Action>(own: TreeNode<State, Action>, node: NodeJson): void {
  own.realised = node.state !== undefined;
  own.prior = node.prior ?? 1;
  own.reward = node.reward;
  own.visits = node.visits ?? 0;
  own.value = node.value ?? 0;
  own.status = node.status ?? 'open';
  own.exact = node.exact ?? false;
  own.terminal = node.terminal ?? false;
  own.complete = node.complete ?? false;
  for (const evaluation of node.evaluations ?? []) own.addEvaluation(evaluation);
  const { answer, cost, samples, failure, failedProposals, pruned, duplicateOf } = node;
  const { failedEvaluations, outcome, completion, notes, annotations } = node;
  const rare = { answer, cost, samples, failure, failedProposals, pruned, duplicateOf };
  const others = { failedEvaluations, outcome, completion, notes, annotations };
  const told = Object.entries({ ...rare, ...others });
  const known = told.filter(([, value]) => value !== undefined);
  if (known.length > 0) own.set(Object.fromEntries(known));
}

function readLog<State, Action>(tree: SearchTree<State, Action>, read: TreeJson): void {
  const { leaves = [], returns = [], calls = [], tokens = [] } = read.log ?? {};
  for (const [index, leaf] of leaves.entries()) {
    expectNode(`log.leaves.${index}`, leaf, read);
    const spend = { calls: calls[index] ?? 0, tokens: tokens[index] ?? 0 };
    tree.log.add({ leaf, return: returns[index] ?? undefined, ...spend });
  }
}

function parseText(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw new EspalierError(
      'invalid-tree',
      'The tree cannot be read: it is not JSON. Was the file cut off?',
      { cause },
    );
  }
}

function parse(source: unknown): TreeJson {
  const { version } = Object(source) as { readonly version?: unknown };
  if (typeof version === 'number' && version !== treeVersion) {
    throw invalid('version', `it is ${version}, this espalier reads ${treeVersion}`);
  }
  const parsed = treeSchema.safeParse(source, issueTexts);
  // The schema keeps the values that it checked; the types describe the same form.
  if (parsed.success) return parsed.data as TreeJson;
  if (Object(source).format !== 'espalier-tree') {
    const got = isPlainObject(source) ? 'an object without it' : describeValue(source);
    throw new EspalierError(
      'invalid-tree',
      `Expected a tree as \`treeToJson\` writes it, with the \`format\` espalier-tree, got ${got}.`,
    );
  }
  const [issue] = parsed.error.issues;
  const fault = issue?.message.replace(/^Invalid \w+: /, '').replace(', received ', ', got ');
  throw invalid(issue?.path.join('.') ?? '', fault ?? 'unreadable', parsed.error);
}

function parentOf({ parent, action }: NodeJson, id: number): number {
  if (parent === undefined || parent >= id) {
    throw invalid(`nodes.${id}.parent`, `expected an id from 0 to ${id - 1}, got ${parent}`);
  }
  if (action === undefined) throw invalid(`nodes.${id}.action`, 'expected an action, got none');
  return parent;
}

function expectNode(field: string, id: number | undefined, { nodes }: TreeJson): void {
  if (id !== undefined && id >= nodes.length) {
    throw invalid(field, `expected an id from 0 to ${nodes.length - 1}, got ${id}`);
  }
}

function invalid(field: string, what: string, cause?: unknown): EspalierError {
  const message = `The tree cannot be read: field \`${field}\`: ${what}.`;
  return new EspalierError('invalid-tree', message, { cause });
}
