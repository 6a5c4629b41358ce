import type { Codec } from '../contracts/json.ts';
import type { SearchNode } from '../contracts/node.ts';
import { placedNode, TreeNode } from '../tree/node.ts';
import { savedTree } from '../tree/saved-tree.ts';
import { SearchTree } from '../tree/tree.ts';
import type { NodeJson, TreeJson } from '../tree/tree-json.ts';
import type { SearchResult } from './contracts.ts';
import type { SearchEvent } from './events.ts';

/** A node as in a saved tree, with its position: `id` is its index there. */
export interface PlacedNodeJson extends NodeJson {
  /** Its number in the tree. */
  readonly id: number;
  /** The number of actions that lead to it. */
  readonly depth: number;
}

/** A result as JSON, without its tree. */
export interface SearchResultJson
  extends Omit<SearchResult<unknown, unknown>, 'best' | 'resume' | 'tree'> {
  /** The best node found. */
  readonly best: PlacedNodeJson;
}

/** The JSON form of a part of an event. */
type AsJson<Part> = Part extends SearchNode
  ? PlacedNodeJson
  : Part extends readonly SearchNode[]
    ? readonly PlacedNodeJson[]
    : Part extends SearchTree<unknown, unknown>
      ? TreeJson
      : Part extends SearchResult<unknown, unknown>
        ? SearchResultJson
        : Part;

type EventAsJson<Event> = Event extends unknown
  ? { readonly [Name in keyof Event]: AsJson<Event[Name]> }
  : never;

/** An event of a search as JSON: nodes as in a saved tree, the tree in `search-start`, the result in `search-end`. */
export type SearchEventJson = EventAsJson<SearchEvent>;

/** An event as JSON: a copy that does not change while the search continues. */
export function eventToJson<State, Action>(
  event: SearchEvent<State, Action>,
  codec: Codec<State> | undefined,
): SearchEventJson {
  const parts = Object.entries(event).map(([name, part]) => [name, partToJson(part, codec)]);
  return Object.fromEntries(parts) as SearchEventJson;
}

function partToJson<State>(part: unknown, codec: Codec<State> | undefined): unknown {
  if (part instanceof TreeNode) return placedNode(part, codec);
  if (part instanceof SearchTree) return savedTree(part, codec);
  if (Array.isArray(part)) return part.map((each) => partToJson(each, codec));
  return isResult(part) ? resultToJson(part, codec) : part;
}

function resultToJson<State, Action>(
  { tree: _tree, resume: _resume, best, ...rest }: SearchResult<State, Action>,
  codec: Codec<State> | undefined,
): SearchResultJson {
  return { ...rest, best: partToJson(best, codec) as PlacedNodeJson };
}

/** Lets `JSON.stringify` write a result as it is in `search-end`. A copy of its properties leaves this behind. */
export function asJsonToo<State, Action>(
  result: SearchResult<State, Action>,
  codec: Codec<State> | undefined,
): SearchResult<State, Action> {
  return Object.defineProperty(result, 'toJSON', { value: () => resultToJson(result, codec) });
}

function isResult(part: unknown): part is SearchResult<unknown, unknown> {
  return typeof part === 'object' && part !== null && 'resume' in part && 'tree' in part;
}
