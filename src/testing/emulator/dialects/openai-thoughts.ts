import type { Call } from '../dialect.ts';
import { type JsonObject, listOf, objectOf, textAt } from '../fields.ts';
import { hashedName } from '../hash.ts';
import { Rejection } from '../rejection.ts';

/** The thoughts of a response as an item, encrypted if they are to be sent back. */
export function reasoningItem(id: string, { body }: Call): JsonObject {
  const isSealed = listOf(body['include']).includes('reasoning.encrypted_content');
  return {
    ...{ type: 'reasoning', id, summary: [] },
    ...(isSealed && { encrypted_content: sealOf(id) }),
  };
}

function sealOf(id: string): string {
  return hashedName('sealed', id);
}

/**
 * Refuses thoughts that cannot be decrypted or are not followed by anything, and calls without the thoughts that led to
 * them.
 */
export function checkThoughts({ body, service }: Call): void {
  const items = listOf(body['input']).map(objectOf);
  for (const [place, item] of items.entries()) {
    const id = textAt(item, 'id') ?? '';
    if (item['type'] === 'reasoning') checkReasoning(item, items[place + 1]);
    const [, response] = /^fc_(\d+)_/.exec(id) ?? [];
    const thought = `rs_${response}`;
    if (service.thoughtful.has(id) && !items.some((other) => other['id'] === thought)) {
      throw refused(
        `Item '${id}' of type 'function_call' was provided without its required 'reasoning' item: '${thought}'.`,
      );
    }
  }
}

function checkReasoning(item: JsonObject, next: JsonObject | undefined): void {
  const id = textAt(item, 'id') ?? '';
  const sealed = item['encrypted_content'];
  if (sealed === undefined || sealed === null) {
    throw refused(
      `Item with id '${id}' not found. Items are not persisted when \`store\` is set to false.`,
    );
  }
  if (sealed !== sealOf(id)) {
    throw refused('The encrypted content could not be verified.', 'invalid_encrypted_content');
  }
  if (next?.['type'] === 'function_call' || next?.['role'] === 'assistant') return;
  throw refused(
    `Item '${id}' of type 'reasoning' was provided without its required following item.`,
  );
}

function refused(message: string, code?: string): Rejection {
  return new Rejection({ status: 400, message, param: 'input', ...(code && { code }) });
}
