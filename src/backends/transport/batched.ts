import type { BatchReply, BatchRequest } from '../../contracts/batch.ts';
import type { ModelCall } from '../../contracts/language-model.ts';
import { fieldsOf, type JsonFields, textOf } from './json.ts';

/** Sends a request in a batch where a call may wait, else by itself. */
export function sentOrBatched(
  { batch }: Pick<ModelCall, 'batch'>,
  request: BatchRequest | undefined,
  live: () => Promise<BatchReply>,
): Promise<BatchReply> {
  return batch === undefined || request === undefined ? live() : batch(request, live);
}

/** How many batches of a list are looked at on each page. */
export const batchesOfPage = 100;

/**
 * All batches of a list, newest first. A list that makes no sense is no proof that a batch is not in it.
 *
 * @param ask - Asks for the page behind a batch. @param malformed - The error for a page that cannot be read.
 */
export async function* listed(
  ask: (after: string | undefined) => Promise<JsonFields>,
  malformed: (what: string) => Error,
): AsyncGenerator<JsonFields> {
  const seen = new Set<string>();
  for (let after: string | undefined; ; ) {
    const { data, has_more: hasMore } = await ask(after);
    if (!Array.isArray(data)) throw malformed('no list of batches');
    const batches = data.map(fieldsOf);
    yield* batches;
    if (hasMore !== true) return;
    after = textOf(batches.at(-1)?.['id']);
    if (after === undefined || seen.has(after))
      throw malformed('a list of batches that goes on for ever');
    seen.add(after);
  }
}

/** How far the clocks of a provider and of this machine may be apart, in milliseconds. */
const mostApart = 86_400_000;

/** From when on a batch may have been made that was submitted at some time, both in milliseconds since 1970. */
export function earliest(at: number): number {
  return at - mostApart;
}
