import { expectation } from '../base/expect.ts';
import type { Message } from '../contracts/language-model.ts';
import type { ChildNode, SearchNode } from '../contracts/node.ts';
import { actionsTo } from '../tree/summary.ts';
import { isSameTurn, promptAt, type TreeRecord, turnOf } from './record.ts';

/**
 * The actions from one node to another as a completion of the prompt at the first: the text that a model would have to
 * write to go all the way at once.
 *
 * - One action: its turn.
 * - If the prompts grow as a conversation, each one by the turn of the action and by the observation: the rest of the
 *   conversation as it was shown, including the last turn, but not the observation after it.
 * - If the prompts end with a turn of the assistant that grows by the actions: the rest of that turn, with everything
 *   between actions, such as their numbers.
 * - Else one turn: the formatted actions, separated by the delimiter of the notation, or by a line break.
 *
 * @param from - Where the completion starts.
 * @param end - The node of the last action. Whether its action was taken does not matter.
 * @returns At least one turn; none if `end` is `from`.
 * @throws EspalierError `usage` if `end` is not at or below `from`.
 */
export function pathCompletion<State, Action>(
  record: Pick<TreeRecord<State, Action>, 'notation'>,
  from: SearchNode<State, Action>,
  end: SearchNode<State, Action>,
): readonly Message[] {
  const path = pathBetween(from, end);
  const last = path.at(-1);
  if (last === undefined) return [];
  if (path.length === 1) return [turnOf(record, last)];
  const { notation } = record;
  const prompts = path.map(({ parent }) => promptAt(record, parent));
  const rest = conversation(prompts, (place) => turnOf(record, path[place] ?? last));
  if (rest !== undefined) return [...rest, turnOf(record, last)];
  const texts = path.map(({ action }) => notation.format(action));
  const content = grownTurn(prompts, texts) ?? texts.join(notation.delimiter ?? '\n');
  return [{ role: 'assistant', content }];
}

/**
 * The conversation in which the children of a node were proposed, as the prompt of a row.
 *
 * @throws EspalierError `usage` if the notation gives none.
 */
export function rowPrompt<State, Action>(
  record: Pick<TreeRecord<State, Action>, 'notation'>,
  node: SearchNode<State, Action>,
): readonly Message[] {
  const prompt = promptAt(record, node);
  if (prompt.length > 0) return prompt;
  throw expectation('notation.prompt(state)', 'at least one message', prompt);
}

/** The formatted actions from the root to a node. */
export function stepsOf<State, Action>(
  { notation }: Pick<TreeRecord<State, Action>, 'notation'>,
  end: SearchNode<State, Action>,
): readonly string[] {
  return actionsTo(end).map((action) => notation.format(action));
}

/** The nodes below `from` down to `end`. */
function pathBetween<State, Action>(
  from: SearchNode<State, Action>,
  end: SearchNode<State, Action>,
): readonly ChildNode<State, Action>[] {
  const path: ChildNode<State, Action>[] = [];
  for (let node = end; node !== from; node = node.parent) {
    if (node.kind === 'root') {
      throw expectation('end', `a node at or below node ${from.id}`, end.id);
    }
    path.push(node);
  }
  return path.reverse();
}

/** The part of the last prompt beyond the first, if each prompt is the one before plus the turn and more. */
function conversation(
  prompts: readonly (readonly Message[])[],
  turn: (place: number) => Message,
): readonly Message[] | undefined {
  const first = prompts[0]?.length ?? 0;
  for (const [place, prompt] of prompts.entries()) {
    // A trailing turn of the assistant is the beginning of the answer: the next action does not start a turn.
    if (prompt.at(-1)?.role === 'assistant') return undefined;
    const before = prompts[place - 1];
    if (before === undefined) continue;
    const isGrown = startsWith(prompt, before) && isSaid(turn(place - 1), prompt[before.length]);
    if (!isGrown) return undefined;
  }
  return prompts.at(-1)?.slice(first);
}

/** The rest of the assistant's own turn that all prompts end with, and the last text. */
function grownTurn(
  prompts: readonly (readonly Message[])[],
  texts: readonly string[],
): string | undefined {
  const [first = []] = prompts;
  const begun = first.at(-1);
  if (begun?.role !== 'assistant') return undefined;
  let before = begun.content;
  // The white space that prompts put in front of an action. A completion begins without it, as a single action does.
  let space: string | undefined;
  for (const [place, prompt] of prompts.slice(1).entries()) {
    const turn = prompt.at(-1);
    const isSame = prompt.length === first.length && startsWith(prompt, first.slice(0, -1));
    if (!isSame || turn?.role !== 'assistant' || !turn.content.startsWith(before)) return undefined;
    const grown = turn.content.slice(before.length);
    const text = texts[place] ?? '';
    // Space around an action may be its own, and kept, or not.
    const start = grown.indexOf(grown.includes(text) ? text : text.trim());
    if (start < 0 || grown.slice(0, start).trim() !== '') return undefined;
    space ??= grown.slice(0, start);
    before = turn.content;
  }
  const said = `${before.slice(begun.content.length)}${space ?? ''}${texts.at(-1) ?? ''}`;
  return said.slice(space?.length);
}

/** Whether a turn occurs in a conversation, which may have more or less space around the text. */
function isSaid(turn: Message, shown: Message | undefined): boolean {
  const bare = (message: Message) => ({ ...message, content: message.content.trim() });
  return shown !== undefined && isSameTurn(bare(turn), bare(shown));
}

function startsWith(messages: readonly Message[], beginning: readonly Message[]): boolean {
  return (
    messages.length >= beginning.length &&
    beginning.every((message, place) => isSameTurn(message, messages[place]))
  );
}
