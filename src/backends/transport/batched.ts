import type { BatchReply, BatchRequest } from '../../contracts/batch.ts';
import type { ModelCall } from '../../contracts/language-model.ts';
import { fieldsOf, type JsonFields, textOf } from './json.ts';

/** Sends a request in a batch if the call may wait, otherwise on its own. */
export function sentOrBatched(
  { batch }: Pick<ModelCall, 'batch'>,
  request: BatchRequest | undefined,
  live: () => Promise<BatchReply>,
): Promise<BatchReply> {
  return batch === undefined || request === undefined ? live() : batch(request, live);
}

/** The number of batches per page of a list. */
export const batchesOfPage = 100;

/**
 * All batches of a list, newest first. An invalid list does not prove that a batch is missing from it.
 *
 * @param ask - Asks for the page after a batch. @param malformed - The error for a page that cannot be read.
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
      throw malformed('a list of batches that goes on forever');
    seen.add(after);
  }
}

/** The maximum difference between the clocks of a provider and this machine, in milliseconds. */
const mostApart = 86_400_000;

/**
 * The earliest time at which a batch submitted at a given time may have been created, both in milliseconds since 1970.
 */
export function earliest(at: number): number {
  return at - mostApart;
}
