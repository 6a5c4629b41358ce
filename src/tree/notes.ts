import type { JsonValue } from '../contracts/json.ts';
import type { SearchNode } from '../contracts/node.ts';
import type { SearchTree } from './tree.ts';

/** A place at each node in which one algorithm keeps what it knows. */
export interface Notes<Note> {
  /** What it knows of a node, where it has written anything. */
  at(node: Pick<SearchNode, 'notes'>): Note | undefined;
  /** Writes it down, in place of what was there. It is saved with the tree. */
  write<State, Action>(
    tree: SearchTree<State, Action>,
    node: SearchNode<State, Action>,
    note: Note,
  ): void;
}

/**
 * The notes of an algorithm, under a name that no other one uses.
 *
 * @typeParam Note - What it keeps at a node: JSON.
 */
export function notesOf<Note extends { readonly [Name in keyof Note]: JsonValue | undefined }>(
  owner: string,
): Notes<Note> {
  return {
    at: ({ notes }) => notes[owner] as unknown as Note | undefined,
    write: (tree, node, note) => tree.note(node, owner, note as unknown as JsonValue),
  };
}
