import type { Call, Reply, Routes, StoredFile } from '../dialect.ts';
import { type JsonObject, objectOf, textAt } from '../fields.ts';
import { Rejection } from '../rejection.ts';
import { jsonReply } from '../reply.ts';

/** The maximum size of a request file, in bytes. */
const mostBytes = 200 * 1024 * 1024;

/** How long files of batches are kept, in seconds. */
const keptSeconds = 30 * 86_400;

const path = '/v1/files';

/** The file endpoints that batches need. */
export const fileRoutes: Routes = {
  [`POST ${path}`]: upload,
  [`GET ${path}/*`]: (call) => {
    const [id = '', rest = ''] = call.exchange.path.slice(path.length + 1).split('/');
    const file = fileOf(call, id);
    if (rest !== 'content') return jsonReply(fileObject(id, file));
    return { status: 200, body: { text: file.text, type: 'application/octet-stream' } };
  },
};

/** The file with this id. Throws a {@link Rejection} if there is none. */
export function fileOf({ service }: Call, id: string): StoredFile {
  const file = service.files.get(id);
  if (file !== undefined) return file;
  throw new Rejection({ status: 404, message: `No such File object: ${id}`, param: 'id' });
}

function upload({ body, exchange, service }: Call): Reply {
  const purpose = textAt(body, 'purpose');
  const { name = '', text } = objectOf(body['file']) as { name?: string; text?: string };
  if (text === undefined) {
    throw new Rejection({ status: 400, message: "'file' is a required property", param: 'file' });
  }
  if (purpose !== 'batch') {
    const message = `'${purpose ?? ''}' is not one of ['batch'] - 'purpose'`;
    throw new Rejection({ status: 400, message, param: 'purpose' });
  }
  if (!name.endsWith('.jsonl')) {
    throw new Rejection({
      status: 400,
      message: 'Invalid file format for Batch API. Must be .jsonl',
    });
  }
  if (Buffer.byteLength(text) > mostBytes) {
    throw new Rejection({ status: 413, message: 'The file is larger than 200 MB.' });
  }
  const id = `file-${exchange.index}`;
  const file = { name, purpose, createdMs: service.settings.now(), text };
  service.files.set(id, file);
  return jsonReply(fileObject(id, file));
}

function fileObject(id: string, { name, purpose, createdMs, text }: StoredFile): JsonObject {
  const createdAt = Math.floor(createdMs / 1000);
  return {
    id,
    object: 'file',
    bytes: Buffer.byteLength(text),
    created_at: createdAt,
    expires_at: createdAt + keptSeconds,
    filename: name,
    purpose,
    status: 'processed',
    status_details: null,
  };
}
