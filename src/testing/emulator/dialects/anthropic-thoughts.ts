import type { Call } from '../dialect.ts';
import { type JsonObject, listOf, objectOf, textAt } from '../fields.ts';
import { hashedName } from '../hash.ts';
import { badRequest } from '../rejection.ts';

/** The thoughts of an answer as a part of it. */
export function thinkingBlock(thinking: string): JsonObject {
  return { type: 'thinking', thinking, signature: hashedName('signature', thinking) };
}

/** Refuses turns whose thoughts were changed or, if thinking is on, left out before a tool call. */
export function checkThoughts({ body, service }: Call): void {
  const { type: mode } = objectOf(body['thinking']) as Partial<JsonObject>;
  const thinks = mode === 'enabled' || mode === 'adaptive';
  for (const [place, turn] of listOf(body['messages']).map(objectOf).entries()) {
    const blocks = listOf(turn['content']).map(objectOf);
    for (const [index, block] of blocks.entries()) checkSignature(block, [place, index]);
    const isThought = blocks.some((block) => service.thoughtful.has(textAt(block, 'id') ?? ''));
    const first = textAt(blocks[0] ?? {}, 'type') ?? '';
    if (thinks && isThought && first !== 'thinking' && first !== 'redacted_thinking') {
      throw badRequest(
        `messages.${place}.content.0.type: Expected \`thinking\` or \`redacted_thinking\`, but found \`${first}\`. When \`thinking\` is enabled, a final \`assistant\` message must start with a thinking block.`,
      );
    }
  }
}

function checkSignature(block: JsonObject, [place, index]: readonly [number, number]): void {
  if (block['type'] !== 'thinking') return;
  if (block['signature'] === hashedName('signature', textAt(block, 'thinking') ?? '')) return;
  throw badRequest(
    `messages.${place}.content.${index}: Invalid \`signature\` in \`thinking\` block`,
  );
}
