import type { JsonValue } from '../../contracts/json.ts';
import type { Reply, ReplyBody } from './dialect.ts';
import { isObject, type JsonObject } from './fields.ts';
import { chunksOf, contentTypeOf, htmlReply, isWord } from './reply.ts';
import { hasVice, type Vice, viceOf } from './vices.ts';

/** What is sent of a reply, and how it ends. */
export interface Delivery {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  /** The body, piece by piece. */
  readonly chunks: readonly Buffer[];
  /**
   * How it ends: complete; the connection destroyed, before the headers or after the pieces; or silence after
   * the pieces.
   */
  readonly ending: 'complete' | 'destroyed-before' | 'destroyed-after' | 'silence';
}

/** A reply as it is sent by a server with these vices. */
export function delivered(reply: Reply, vices: readonly Vice[]): Delivery {
  const garbled = withFaults(reply, vices);
  const { status, headers = {} } = garbled;
  return {
    status,
    headers: { 'content-type': contentTypeOf(garbled), ...headers },
    ...cut(withBytes(garbled, vices), vices),
  };
}

function withFaults(reply: Reply, vices: readonly Vice[]): Reply {
  if (hasVice(vices, 'wrong-content-type')) return htmlReply('<!doctype html><p>Welcome.</p>', 200);
  if (hasVice(vices, 'wrong-language')) {
    return { ...reply, body: { json: ['Guten Tag', { gruss: 'Guten Tag' }] } };
  }
  const told = viceOf(vices, 'tells-usage');
  if (told !== undefined) return { ...reply, body: withUsage(reply.body, told.usage) };
  if (hasVice(vices, 'missing-usage')) return { ...reply, body: withoutUsage(reply.body) };
  return reply;
}

function withBytes(reply: Reply, vices: readonly Vice[]): readonly Buffer[] {
  const chunks = chunksOf(reply);
  if (hasVice(vices, 'empty-body')) return [];
  if (hasVice(vices, 'invalid-utf8')) return chunks.map(garble);
  const gigantic = viceOf(vices, 'gigantic');
  if (gigantic === undefined) return chunks;
  // Between the events of a stream, empty lines mean nothing.
  const space = 'events' in reply.body ? '\n' : ' ';
  return [Buffer.alloc(gigantic.bytes, space), ...chunks];
}

function cut(
  chunks: readonly Buffer[],
  vices: readonly Vice[],
): Pick<Delivery, 'chunks' | 'ending'> {
  const whole = Buffer.concat(chunks);
  const half = [whole.subarray(0, Math.floor(whole.length / 2))];
  if (hasVice(vices, 'reset')) return { chunks: [], ending: 'destroyed-before' };
  if (hasVice(vices, 'reset-midway')) return { chunks: half, ending: 'destroyed-after' };
  if (hasVice(vices, 'stall-midway')) return { chunks: half, ending: 'silence' };
  if (hasVice(vices, 'cut-json')) return { chunks: half, ending: 'complete' };
  return { chunks, ending: 'complete' };
}

/** Puts two bytes that never occur in UTF-8 into the first text of an answer. */
function garble(chunk: Buffer): Buffer {
  const start = /"(?:content|text|response|delta)":\s*"/.exec(chunk.toString('latin1'));
  if (start === null) return chunk;
  const place = start.index + start[0].length;
  return Buffer.concat([
    chunk.subarray(0, place),
    Buffer.from([0xff, 0xfe]),
    chunk.subarray(place),
  ]);
}

const countFields = [
  ...['usage', 'timings', 'tokens_predicted', 'tokens_evaluated', 'tokens_cached'],
  ...['prompt_eval_count', 'eval_count', 'prompt_tokens', 'completion_tokens', 'cached_tokens'],
];

/** Another usage in the place where the dialect has one: not in streams. */
function withUsage(body: ReplyBody, usage: JsonObject): ReplyBody {
  if (!('json' in body) || !isObject(body.json) || !isObject(body.json['usage'])) return body;
  return { json: { ...body.json, usage: { ...body.json['usage'], ...usage } } };
}

function withoutUsage(body: ReplyBody): ReplyBody {
  if ('json' in body) return { json: stripped(body.json) };
  if ('text' in body) return body;
  const events = body.events.map((event) =>
    isWord(event.data) ? event : { ...event, data: stripped(event.data) },
  );
  return { ...body, events };
}

/** Counts stand at the top, or within one of the parts that wrap a reply. */
function stripped(json: JsonValue): JsonValue {
  if (Array.isArray(json)) return (json as readonly JsonValue[]).map(stripped);
  if (!isObject(json)) return json;
  return Object.fromEntries(
    Object.entries(json)
      .filter(([name]) => !countFields.includes(name))
      .map(([name, part]) => [
        name,
        ['message', 'response', 'meta_info'].includes(name) ? stripped(part) : part,
      ]),
  );
}
