import { fieldsOf, itemsOf, numberOf } from '../transport/json.ts';
import type { Streaming } from '../transport/streaming.ts';
import type { MessagesBody } from './request.ts';

/** The used part of an SDK's streamed message. Wrapped clients may report no events. */
interface StreamedMessage {
  /** The complete message. */
  finalMessage(): Promise<unknown>;
  /** The message so far. */
  readonly currentMessage?: unknown;
  /** Its events. */
  [Symbol.asyncIterator]?(): AsyncIterator<unknown>;
}

/**
 * A streamed message: complete, or as far as it had come when it was over and its connection was closed.
 *
 * The server reports input tokens at the beginning, but output tokens only at the end. So if the model has thought, the
 * message is read to its end: hidden thoughts could only be charged as reserved, which costs more than the rest of the
 * answer. Otherwise, tokens cannot outnumber bytes.
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

/** The text of a message that contains only text. */
function writtenIn(content: unknown): string | undefined {
  const blocks = itemsOf(content).map(fieldsOf);
  if (!blocks.every(({ type }) => type === 'text')) return undefined;
  return blocks.map(({ text }) => (typeof text === 'string' ? text : '')).join('');
}
