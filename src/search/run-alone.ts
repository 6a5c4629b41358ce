import { EspalierError } from '../base/errors.ts';
import type { Journal } from '../calls/journal.ts';
import type { SearchOptions } from './contracts.ts';
import { runSearch } from './run.ts';

/** The journals that searches are writing to. */
const written = new WeakSet<Journal>();

/**
 * Runs a search that nobody else shares its journal with: two at once would buy, and read, each other's calls.
 *
 * @throws EspalierError `usage` where another search is writing to it.
 */
export const runAlone: typeof runSearch = async (environment, options, surroundings) => {
  // Options may be no object: the search says so.
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
