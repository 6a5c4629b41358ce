import { expectArray, expectMethods } from '../base/expect.ts';
import type { Message } from '../contracts/language-model.ts';
import type { SearchNode } from '../contracts/node.ts';
import type { PromptPart, PromptPartRequest } from '../contracts/prompt-part.ts';

/** Throws unless `parts` are prompt parts. For callers without types. */
export function expectParts(parts: readonly PromptPart[], name: string = 'promptParts'): void {
  expectArray(name, parts);
  for (const [place, part] of parts.entries()) expectMethods(`${name}[${place}]`, part, ['text']);
}

/**
 * The prompt of a state with the texts of prompt parts, in order, after its last question. The text before them is the
 * same for all nodes below the state, so that prefix caches keep it.
 */
export async function withParts<State, Action>(
  messages: readonly Message[],
  parts: readonly PromptPart<State, Action>[],
  about: PromptPartRequest<State, Action> & { readonly node: SearchNode<State, Action> },
): Promise<readonly Message[]> {
  const texts = await Promise.all(parts.map(async (part) => part.text(about.node, about)));
  const told = texts.filter((text) => text !== undefined && text.trim() !== '').join('\n\n');
  return told === '' ? messages : withInstruction(messages, told);
}

/**
 * A prompt with an instruction in its last question, or after the last tool result, so that a partial answer can be
 * continued.
 */
export function withInstruction(
  messages: readonly Message[],
  instruction: string,
): readonly Message[] {
  const place = messages.findLastIndex(({ role }) => role === 'user' || role === 'tool');
  const question = messages[place];
  if (question?.role !== 'user') {
    const end = question === undefined ? messages.length : place + 1;
    return messages.toSpliced(end, 0, { role: 'user', content: instruction, prefixEnds: [0] });
  }
  return messages.with(place, withTail(question, instruction));
}

/** A prompt with a request after its last message. A partial answer is left unchanged. */
export function askBehind(messages: readonly Message[], request: string): readonly Message[] {
  const last = messages.at(-1);
  return last?.role === 'user'
    ? [...messages.slice(0, -1), withTail(last, request)]
    : [...messages, { role: 'user', content: request, prefixEnds: [0] }];
}

/** A question followed by text that only this request contains. */
function withTail(question: Message, words: string): Message {
  const { content, prefixEnds = [content.length] } = question;
  return { ...question, content: `${content}\n\n${words}`, prefixEnds };
}

/** The content of a message in pieces: all but the tail recur in later prompts. */
export function inPieces(
  pieces: readonly string[],
  tail: string,
): Pick<Message, 'content' | 'prefixEnds'> {
  let end = 0;
  const prefixEnds = pieces.map((piece) => (end += piece.length));
  return { content: [...pieces, tail].join(''), prefixEnds };
}
