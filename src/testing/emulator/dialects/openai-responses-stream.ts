import type { JsonValue } from '../../../contracts/json.ts';
import type { Reply } from '../dialect.ts';
import { type JsonObject, listOf, objectOf, textAt } from '../fields.ts';
import { eventReply } from '../reply.ts';
import { tokensOf } from '../tokens.ts';

/** A response as the events of a stream. */
export function streamedResponse(response: JsonObject): Reply {
  const open = { ...response, status: 'in_progress', output: [], usage: null };
  const ending = response['status'] === 'completed' ? 'response.completed' : 'response.incomplete';
  const pieces: readonly JsonObject[] = [
    { type: 'response.created', response: open },
    { type: 'response.in_progress', response: open },
    ...listOf(response['output']).flatMap((item, place) => itemEvents(objectOf(item), place)),
    { type: ending, response },
  ];
  return eventReply(
    pieces.map((piece, place) => ({
      event: textAt(piece, 'type') ?? '',
      data: { ...piece, sequence_number: place },
    })),
  );
}

function itemEvents(item: JsonObject, place: number): readonly JsonObject[] {
  const at = { output_index: place, item_id: item['id'] ?? '' };
  const begun = { ...item, status: 'in_progress' };
  const [part] = listOf(item['content']);
  return [
    {
      type: 'response.output_item.added',
      output_index: place,
      item: { ...begun, ...emptied(item) },
    },
    ...(part === undefined ? [] : partEvents(objectOf(part), { ...at, content_index: 0 })),
    ...(item['type'] === 'function_call' ? argumentEvents(item, at) : []),
    { type: 'response.output_item.done', output_index: place, item },
  ];
}

/** An item before its content has arrived. */
function emptied(item: JsonObject): JsonObject {
  switch (textAt(item, 'type') ?? '') {
    case 'message':
      return { content: [] };
    case 'function_call':
      return { arguments: '' };
    default:
      return {};
  }
}

function partEvents(part: JsonObject, at: JsonObject): readonly JsonObject[] {
  const field = part['type'] === 'refusal' ? 'refusal' : 'text';
  const kind = part['type'] === 'refusal' ? 'response.refusal' : 'response.output_text';
  const text = textAt(part, field) ?? '';
  const logprobs: readonly JsonValue[] = listOf(part['logprobs']);
  return [
    {
      type: 'response.content_part.added',
      ...at,
      part: { ...part, [field]: '', ...(field === 'text' && { logprobs: [] }) },
    },
    ...tokensOf(text).map((delta, place) => ({
      type: `${kind}.delta`,
      ...at,
      delta,
      ...(field === 'text' && { logprobs: logprobs.slice(place, place + 1) }),
    })),
    { type: `${kind}.done`, ...at, [field]: text, ...(field === 'text' && { logprobs }) },
    { type: 'response.content_part.done', ...at, part },
  ];
}

function argumentEvents(item: JsonObject, at: JsonObject): readonly JsonObject[] {
  const input = textAt(item, 'arguments') ?? '';
  const name = item['name'] ?? '';
  return [
    ...tokensOf(input).map((delta) => ({
      type: 'response.function_call_arguments.delta',
      ...at,
      delta,
    })),
    { type: 'response.function_call_arguments.done', ...at, name, arguments: input },
  ];
}
