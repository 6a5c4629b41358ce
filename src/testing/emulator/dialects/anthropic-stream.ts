import type { Reply, StreamEvent } from '../dialect.ts';
import { type JsonObject, listOf, objectOf, textAt } from '../fields.ts';
import { eventReply } from '../reply.ts';
import { tokensOf } from '../tokens.ts';

/** A message as the events of a stream. */
export function streamedMessage(message: JsonObject): Reply {
  const { stop_reason: reason = null, stop_sequence: sequence = null } =
    message as Partial<JsonObject>;
  const usage = objectOf(message['usage']);
  const start = {
    ...message,
    content: [],
    stop_reason: null,
    stop_sequence: null,
    usage: { ...usage, output_tokens: 1 },
  };
  const pieces: readonly JsonObject[] = [
    { type: 'message_start', message: start },
    { type: 'ping' },
    ...listOf(message['content']).flatMap((block, index) => blockEvents(objectOf(block), index)),
    { type: 'message_delta', delta: { stop_reason: reason, stop_sequence: sequence }, usage },
    { type: 'message_stop' },
  ];
  const events: readonly StreamEvent[] = pieces.map((data) => ({
    event: textAt(data, 'type') ?? '',
    data,
  }));
  return eventReply(events);
}

function blockEvents(block: JsonObject, index: number): readonly JsonObject[] {
  return [
    { type: 'content_block_start', index, content_block: emptied(block) },
    ...deltasOf(block).map((delta) => ({ type: 'content_block_delta', index, delta })),
    { type: 'content_block_stop', index },
  ];
}

function emptied(block: JsonObject): JsonObject {
  switch (textAt(block, 'type') ?? '') {
    case 'text':
      return { ...block, text: '' };
    case 'thinking':
      return { ...block, thinking: '', signature: '' };
    default:
      return { ...block, input: {} };
  }
}

function deltasOf(block: JsonObject): readonly JsonObject[] {
  const pieces = (name: string) => tokensOf(textAt(block, name) ?? '');
  switch (textAt(block, 'type') ?? '') {
    case 'text':
      return pieces('text').map((text) => ({ type: 'text_delta', text }));
    case 'thinking':
      return [
        ...pieces('thinking').map((thinking) => ({ type: 'thinking_delta', thinking })),
        { type: 'signature_delta', signature: block['signature'] ?? '' },
      ];
    default:
      return tokensOf(JSON.stringify(block['input'] ?? {})).map((json) => ({
        type: 'input_json_delta',
        partial_json: json,
      }));
  }
}
