import type { Message } from '../contracts/language-model.ts';
import type { SearchNode } from '../contracts/node.ts';
import type { PromptPart, PromptPartRequest } from '../contracts/prompt-part.ts';

/**
 * The prompt of a state with what parts tell at a node, in their order, behind its last question: what comes
 * before is the same for all nodes below the state, so that prefix caches keep it.
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
 * A prompt with an instruction in its last question, or behind what a tool returned last, so that an answer that was
 * begun goes on.
 */
export function withInstruction(
  messages: readonly Message[],
  instruction: string,
): readonly Message[] {
  const place = messages.findLastIndex(({ role }) => role === 'user' || role === 'tool');
  const question = messages[place];
  if (question?.role !== 'user') {
    const end = question === undefined ? messages.length : place + 1;
    return messages.toSpliced(end, 0, { role: 'user', content: instruction });
  }
  const content = `${question.content}\n\n${instruction}`;
  return messages.with(place, { ...question, content });
}

/** A prompt with a request behind its last message. An answer that was begun is left as it stands. */
export function askBehind(messages: readonly Message[], request: string): readonly Message[] {
  const last = messages.at(-1);
  return last?.role === 'user'
    ? [...messages.slice(0, -1), { ...last, content: `${last.content}\n\n${request}` }]
    : [...messages, { role: 'user', content: request }];
}
