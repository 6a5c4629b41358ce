import type { JsonValue } from '../../contracts/json.ts';
import type { Reply, ReplyBody } from './dialect.ts';
import { type Fault, faultOf, hasFault } from './faults.ts';
import { isObject, type JsonObject } from './fields.ts';
import { chunksOf, contentTypeOf, htmlReply, isWord } from './reply.ts';

/** The transmission of a reply. */
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
  /** The delay before each piece, in milliseconds. */
  readonly everyMs: number;
}

/** A reply as transmitted by a server with these faults. */
export function delivered(reply: Reply, faults: readonly Fault[]): Delivery {
  const garbled = withFaults(reply, faults);
  const { status, headers = {} } = garbled;
  return {
    status,
    headers: { 'content-type': contentTypeOf(garbled), ...headers },
    everyMs: faultOf(faults, 'trickles')?.everyMs ?? 0,
    ...cut(withBytes(garbled, faults), faults),
  };
}

/** Applies the faults of a server to a reply. */
export function withFaults(reply: Reply, faults: readonly Fault[]): Reply {
  if (hasFault(faults, 'wrong-content-type'))
    return htmlReply('<!doctype html><p>Welcome.</p>', 200);
  if (hasFault(faults, 'wrong-language')) {
    return { ...reply, body: { json: ['Guten Tag', { gruss: 'Guten Tag' }] } };
  }
  const told = faultOf(faults, 'tells-usage');
  if (told !== undefined) return { ...reply, body: withUsage(reply.body, told.usage) };
  if (hasFault(faults, 'missing-usage')) return { ...reply, body: withoutUsage(reply.body) };
  return reply;
}

function withBytes(reply: Reply, faults: readonly Fault[]): readonly Buffer[] {
  const chunks = chunksOf(reply);
  if (hasFault(faults, 'empty-body')) return [];
  if (hasFault(faults, 'invalid-utf8')) return chunks.map(garble);
  const gigantic = faultOf(faults, 'gigantic');
  if (gigantic === undefined) return chunks;
  // Between the events of a stream, empty lines are ignored.
  const space = 'events' in reply.body ? '\n' : ' ';
  return [Buffer.alloc(gigantic.bytes, space), ...chunks];
}

function cut(
  chunks: readonly Buffer[],
  faults: readonly Fault[],
): Pick<Delivery, 'chunks' | 'ending'> {
  const whole = Buffer.concat(chunks);
  const half = [whole.subarray(0, Math.floor(whole.length / 2))];
  if (hasFault(faults, 'reset')) return { chunks: [], ending: 'destroyed-before' };
  if (hasFault(faults, 'reset-midway')) return { chunks: half, ending: 'destroyed-after' };
  if (hasFault(faults, 'stall-midway')) return { chunks: half, ending: 'silence' };
  if (hasFault(faults, 'cut-json')) return { chunks: half, ending: 'complete' };
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

/** Replaces the usage of a reply, but not in streams. */
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

/** Counts are at the top level, or in one of the wrappers of a reply. */
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
