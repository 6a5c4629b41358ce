import { expectMethods, expectNode } from '../base/expect.ts';
import type { JsonValue } from '../contracts/json.ts';
import type { SearchNode } from '../contracts/node.ts';
import type { SearchTree } from './tree.ts';

/** One algorithm's notes at the nodes of a tree. */
export interface Notes<Note> {
  /** The note at a node, if any. */
  at(node: Pick<SearchNode, 'notes'>): Note | undefined;
  /** Replaces the note at a node. It is saved with the tree. */
  write<State, Action>(
    tree: SearchTree<State, Action>,
    node: SearchNode<State, Action>,
    note: Note,
  ): void;
}

/**
 * The notes of an algorithm, under a unique name.
 *
 * @typeParam Note - The note at a node: JSON.
 */
export function notesOf<Note extends { readonly [Name in keyof Note]: JsonValue | undefined }>(
  owner: string,
): Notes<Note> {
  return {
    at(node) {
      const { notes } = Object(node) as Partial<SearchNode>;
      if (notes === undefined) expectNode('node', node);
      return notes?.[owner] as unknown as Note | undefined;
    },
    write(tree, node, note) {
      expectMethods('tree', tree, ['note']);
      tree.note(node, owner, note as unknown as JsonValue);
    },
  };
}
