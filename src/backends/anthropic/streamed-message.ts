import { fieldsOf, itemsOf, numberOf } from '../transport/json.ts';
import type { Streaming } from '../transport/streaming.ts';
import type { MessagesBody } from './request.ts';

/** What is needed of a message that an SDK gathers as it comes. Clients that somebody has wrapped may tell no events. */
interface StreamedMessage {
  /** The whole message. */
  finalMessage(): Promise<unknown>;
  /** As far as it has come. */
  readonly currentMessage?: unknown;
  /** What it comes in. */
  [Symbol.asyncIterator]?(): AsyncIterator<unknown>;
}

/**
 * A message of a stream, whole; or as far as it had come when it was over, and its connection was closed.
 *
 * The server tells at the beginning how many tokens it has read, and how many it has written only at the end. So a message
 * is let run on where the model has thought: what it does not show of that could only be charged as reserved, which is
 * more than the rest of an answer costs. Else no more tokens can have come than bytes.
 */
export async function streamedMessage(
  stream: StreamedMessage,
  { max_tokens: mostTokens }: Pick<MessagesBody, 'max_tokens'>,
  { onPart, isOver }: Streaming,
): Promise<unknown> {
  if (stream[Symbol.asyncIterator] !== undefined) {
    for await (const event of stream as AsyncIterable<unknown>) {
      onPart();
      const { type } = fieldsOf(event);
      if (type !== 'content_block_delta' || isOver === undefined) continue;
      const message = fieldsOf(stream.currentMessage);
      const usage = fieldsOf(message['usage']);
      const text = writtenIn(message['content']);
      const isTold = numberOf(usage['input_tokens']) !== undefined;
      if (text === undefined || !isTold || !isOver(text)) continue;
      const output_tokens = Math.min(mostTokens, Buffer.byteLength(text));
      return { ...message, stop_reason: 'stop_sequence', usage: { ...usage, output_tokens } };
    }
  }
  return stream.finalMessage();
}

/** The text of a message that is nothing but text. */
function writtenIn(content: unknown): string | undefined {
  const blocks = itemsOf(content).map(fieldsOf);
  if (!blocks.every(({ type }) => type === 'text')) return undefined;
  return blocks.map(({ text }) => (typeof text === 'string' ? text : '')).join('');
}
