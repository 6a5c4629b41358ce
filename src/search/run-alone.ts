import { EspalierError } from '../base/errors.ts';
import type { Journal } from '../calls/journal.ts';
import type { SearchOptions } from './contracts.ts';
import { runSearch } from './run.ts';

/** The journals that searches are currently writing to. */
const written = new WeakSet<Journal>();

/**
 * Runs a search that has its journal to itself: two at once would pay for, and read, each other's calls.
 *
 * @throws EspalierError `usage` if another search is writing to it.
 */
export const runAlone: typeof runSearch = async (environment, options, surroundings) => {
  // Options may not be an object: the search reports that itself.
  const { journal } = Object(options) as Partial<SearchOptions>;
  if (journal?.mode !== 'record') return runSearch(environment, options, surroundings);
  if (written.has(journal)) {
    const message =
      'The `journal` is being written by another search. Give each search a journal of its own.';
    throw new EspalierError('usage', message);
  }
  written.add(journal);
  try {
    return await runSearch(environment, options, surroundings);
  } finally {
    written.delete(journal);
  }
};
