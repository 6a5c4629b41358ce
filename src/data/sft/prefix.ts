import type { Message } from '../../contracts/language-model.ts';
import type { SearchNode } from '../../contracts/node.ts';
import { pathCompletion } from '../path-completion.ts';
import { isSameTurn, promptAt, type TreeRecord } from '../record.ts';

/** A conversation in which some actions have been taken already. */
export interface Prefix {
  /**
   * How they stand there. `turns`: as turns of the conversation, each with what the world answered. `begun`: in
   * a trailing turn of the assistant, the beginning of its answer.
   */
  readonly form: 'begun' | 'turns';
  readonly messages: readonly Message[];
}

/**
 * The prompt at the root with the actions down to a node as already said: the prompt at the node where prompts
 * grow, else a trailing turn with the formatted actions. A trailing turn ends with white space, so that nothing
 * needs to stand between it and what follows.
 */
export function prefixTo<State, Action>(
  record: Pick<TreeRecord<State, Action>, 'notation' | 'tree'>,
  node: SearchNode<State, Action>,
): Prefix {
  const { root } = record.tree;
  const start = promptAt(record, root);
  const said = pathCompletion(record, root, node);
  const here = promptAt(record, node);
  if (isBeginning([...start, ...said], here) && here.at(-1)?.role !== 'assistant') {
    return { form: 'turns', messages: here };
  }
  const begun = start.at(-1)?.role === 'assistant' ? start.slice(0, -1) : start;
  const isGrown = here.length === begun.length + 1 && isBeginning(begun, here);
  const last = here.at(-1);
  if (isGrown && last?.role === 'assistant') {
    return { form: 'begun', messages: [...begun, continuable(record, last.content)] };
  }
  const [first] = start.slice(begun.length);
  const texts = [first?.content ?? '', ...said.map(({ content }) => content)];
  const content = texts.filter((text) => text !== '').join(delimiterOf(record));
  return { form: 'begun', messages: [...begun, continuable(record, content)] };
}

/** What actions are parted by in one text. */
export function delimiterOf<State, Action>({
  notation,
}: Pick<TreeRecord<State, Action>, 'notation'>): string {
  return notation.delimiter ?? '\n';
}

function continuable<State, Action>(
  record: Pick<TreeRecord<State, Action>, 'notation'>,
  content: string,
): Message {
  const isParted = content === '' || /\s$/.test(content);
  return { role: 'assistant', content: isParted ? content : content + delimiterOf(record) };
}

function isBeginning(beginning: readonly Message[], whole: readonly Message[]): boolean {
  return (
    beginning.length <= whole.length &&
    beginning.every((message, place) => isSameTurn(message, whole[place]))
  );
}
