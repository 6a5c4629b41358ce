import type { JsonValue } from '../../contracts/json.ts';
import type { Call, Reply, StreamEvent } from './dialect.ts';
import type { JsonObject } from './fields.ts';

/** A reply of JSON. */
export function jsonReply(json: JsonValue, status = 200): Reply {
  return { status, body: { json } };
}

/** The models of a server in OpenAI's form, with the fields that it adds. */
export function modelList(
  { service }: Call,
  ownedBy: string,
  own?: (id: string) => JsonObject,
): Reply {
  const data = service.settings.models.map((id) => ({
    ...{ id, object: 'model', created: 1_700_000_000, owned_by: ownedBy },
    ...own?.(id),
  }));
  return jsonReply({ object: 'list', data });
}

/** A stream of server-sent events. */
export function eventReply(events: readonly StreamEvent[]): Reply {
  return { status: 200, body: { events, format: 'sse' } };
}

/** A stream of JSON lines. */
export function lineReply(lines: readonly JsonValue[]): Reply {
  return {
    status: 200,
    body: { events: lines.map((data) => ({ data })), format: 'ndjson' },
  };
}

/** A page of HTML. */
export function htmlReply(html: string, status: number): Reply {
  return { status, body: { text: html, type: 'text/html; charset=utf-8' } };
}

/** A reply without a body. */
export function emptyReply(status = 200): Reply {
  return { status, body: { text: '', type: 'text/plain; charset=utf-8' } };
}

/** The body of a reply as it is sent, in the pieces of its stream. */
export function chunksOf({ body }: Reply): readonly Buffer[] {
  if ('json' in body) return [Buffer.from(JSON.stringify(body.json))];
  if ('text' in body) return [Buffer.from(body.text)];
  return body.events.map((event) =>
    Buffer.from(body.format === 'sse' ? sse(event) : `${dataOf(event)}\n`),
  );
}

/** The type of a reply's body. */
export function contentTypeOf({ body }: Reply): string {
  if ('json' in body) return 'application/json';
  if ('text' in body) return body.type;
  return body.format === 'sse' ? 'text/event-stream; charset=utf-8' : 'application/x-ndjson';
}

function sse(event: StreamEvent): string {
  const name = event.event === undefined ? '' : `event: ${event.event}\n`;
  return `${name}data: ${dataOf(event)}\n\n`;
}

function dataOf({ data }: StreamEvent): string {
  return isWord(data) ? data.word : JSON.stringify(data);
}

/** Whether an event of a stream is a bare word. */
export function isWord(data: StreamEvent['data']): data is { readonly word: string } {
  return typeof data === 'object' && data !== null && 'word' in data;
}
