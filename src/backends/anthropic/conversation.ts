import { EspalierError } from '../../base/errors.ts';
import { expectation } from '../../base/expect.ts';
import type { JsonValue } from '../../contracts/json.ts';
import type { Image, Message } from '../../contracts/language-model.ts';
import { beginningInWords } from '../transport/in-words.ts';
import { piecesOf } from '../transport/pieces.ts';

/** The provider name for original turns. */
export const provider = 'anthropic';

/** Marks the end of a prefix that the server is to cache. */
export interface CacheControl {
  readonly type: 'ephemeral';
  readonly ttl?: '1h';
}

/** A text block of the Messages API. */
export interface TextBlock {
  readonly type: 'text';
  readonly text: string;
  readonly cache_control?: CacheControl;
}

/** An image block of the Messages API. */
interface ImageBlock {
  readonly type: 'image';
  readonly source: {
    readonly type: 'base64';
    readonly media_type: string;
    readonly data: string;
  };
  readonly cache_control?: CacheControl;
}

/** A block of a turn exactly as returned by the API. */
interface ToldBlock {
  readonly type: 'redacted_thinking' | 'thinking';
}

/** A block of a turn of the Messages API. */
export type Block =
  | TextBlock
  | ImageBlock
  | ToldBlock
  | {
      readonly type: 'tool_use';
      readonly id: string;
      readonly name: string;
      readonly input: JsonValue;
      readonly cache_control?: CacheControl;
    }
  | {
      readonly type: 'tool_result';
      readonly tool_use_id: string;
      readonly content: string | readonly (ImageBlock | TextBlock)[];
      readonly cache_control?: CacheControl;
    };

/** A turn of the conversation. */
export interface Turn {
  readonly role: 'user' | 'assistant';
  readonly content: readonly Block[];
}

/** A conversation in the form of the Messages API. */
export interface Conversation {
  /** The system messages, from any position. */
  readonly system: readonly TextBlock[];
  /** The turns; consecutive turns of one role are joined. */
  readonly turns: readonly Turn[];
  /** The number of blocks at the end of the last turn that no other request shares as a prefix. */
  readonly tail: number;
  /** The partial answer that the model gets. */
  readonly beginning: string;
}

/** How a conversation is written. */
interface Wording {
  /** Whether the model continues a partial answer, or gets it in the question. */
  readonly prefill: boolean;
  /** Whether turns are sent back unchanged, including thoughts. */
  readonly thoughts: boolean;
  /** Text added to the end of the question. */
  readonly words: readonly string[];
}

/**
 * A conversation for the Messages API. Blank texts are left out, because the API refuses them.
 *
 * @throws EspalierError `usage` if the conversation is empty, or its last turn calls tools without results.
 */
export function conversationOf(messages: readonly Message[], wording: Wording): Conversation {
  const system = messages.filter(({ role }) => role === 'system').flatMap(textOf);
  const said = messages.filter(({ role }) => role !== 'system');
  const turns = merged(
    said
      .map((message, place) => {
        const mayThink = wording.thoughts && place < said.length - 1;
        return (mayThink ? originalOf(message) : undefined) ?? turnOf(message);
      })
      .filter(({ content }) => content.length > 0),
  );
  const last = turns.at(-1);
  if (last === undefined) {
    throw expectation('messages', 'a conversation in which the user says something', messages);
  }
  const words = wording.words.map(text);
  if (last.role === 'user') {
    const turn: Turn = { role: 'user', content: [...last.content, ...words] };
    const { tail } = piecesOf(said.at(-1) ?? { content: '' });
    const others = turns.slice(0, -1);
    return { system, turns: [...others, turn], tail: tail + words.length, beginning: '' };
  }
  return { system, ...begun(turns.slice(0, -1), last, { ...wording, words }) };
}

/** The turns of a conversation that ends with a partial answer. */
function begun(
  before: readonly Turn[],
  last: Turn,
  { prefill, words }: { readonly prefill: boolean; readonly words: readonly TextBlock[] },
): Omit<Conversation, 'system'> {
  if (last.content.some(({ type }) => type !== 'text')) {
    throw new EspalierError(
      'usage',
      'Expected `messages` to answer the tool calls of the last turn, got nothing after it.',
    );
  }
  const whole = last.content.map((block) => (block.type === 'text' ? block.text : '')).join('');
  // The API refuses trailing white space.
  const beginning = whole.trimEnd();
  if (prefill) {
    const turns = merged([...before, { role: 'user', content: words }]);
    const turn: Turn = { role: 'assistant', content: [text(beginning)] };
    return { turns: [...turns, turn], tail: 0, beginning };
  }
  const pieces = linesOf(beginning).map(text);
  const question: Turn = { role: 'user', content: [...words, text(beginningInWords), ...pieces] };
  return { turns: merged([...before, question]), tail: 0, beginning };
}

/**
 * A text in pieces, one per line, each with the preceding line break. Along a path of a tree the text only grows, so
 * the pieces of a node are the first pieces of its children, which the cache recognises.
 */
function linesOf(beginning: string): readonly string[] {
  return beginning.split(/(?<!\n)(?=\n+\S)/);
}

/** A turn as returned by the API. A partial answer at the end is not one. */
function originalOf({ original }: Message): Turn | undefined {
  if (original?.provider !== provider) return undefined;
  return { role: 'assistant', content: original.data as unknown as readonly Block[] };
}

function turnOf(message: Message): Turn {
  const { role, content, toolCalls = [], toolCallId, images = [] } = message;
  const shown = images.map(imageBlock);
  if (role === 'tool') {
    if (toolCallId === undefined) {
      throw expectation('toolCallId', 'the id of a tool call, in a message of a tool', toolCallId);
    }
    const told = shown.length === 0 ? content : [...shown, ...textOf(message)];
    const result = { type: 'tool_result', tool_use_id: toolCallId, content: told } as const;
    return { role: 'user', content: [result] };
  }
  if (role !== 'assistant') return { role: 'user', content: [...shown, ...textOf(message)] };
  const calls = toolCalls.map(
    ({ id, name, input }) => ({ type: 'tool_use', id, name, input }) as const,
  );
  return { role, content: [...textOf(message), ...calls] };
}

function imageBlock({ mediaType, base64 }: Image): ImageBlock {
  return { type: 'image', source: { type: 'base64', media_type: mediaType, data: base64 } };
}

function textOf(message: Message): readonly TextBlock[] {
  return piecesOf(message).texts.map(text);
}

function text(content: string): TextBlock {
  return { type: 'text', text: content };
}

/** Joins consecutive turns of one role. */
function merged(turns: readonly Turn[]): readonly Turn[] {
  const result: Turn[] = [];
  for (const turn of turns) {
    const before = result.at(-1);
    if (before?.role !== turn.role) result.push(turn);
    else result.splice(-1, 1, { ...before, content: [...before.content, ...turn.content] });
  }
  return result.filter(({ content }) => content.length > 0);
}
