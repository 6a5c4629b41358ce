import { canonicalJson, contentAddress } from '../base/canonical-json.ts';
import { EspalierError } from '../base/errors.ts';
import { expectIterable, expectObject, expectObjects } from '../base/expect.ts';
import type { JsonValue } from '../contracts/json.ts';
import { type JournalLine, journalVersion, type LineOf } from './journal-lines.ts';

/** An append-only record of every paid call of one run. */
export interface Journal {
  /** All lines so far, in order: an array, or a file read on iteration. */
  readonly lines: Iterable<JournalLine> & {
    /** Each line with its position, in ascending order. */
    entries(): Iterable<readonly [place: number, line: JournalLine]>;
    /** The line at a position. */
    at(place: number): JournalLine | undefined;
  };
  /**
   * `record`: calls not in it are made and recorded. `replay`: they are refused, so no key and no network is needed.
   */
  readonly mode: 'record' | 'replay';
  /** The path of its file, if any. */
  readonly path?: string;
  /** Writes one line. Once it returns, the line survives the death of the process. */
  append(line: JournalLine): void;
}

/** A journal, as the beginning of a sentence. */
export function journalName({ path }: Pick<Journal, 'path'>): string {
  return path === undefined ? 'The journal' : `The journal \`${path}\``;
}

/** A journal in memory: for tests, and for replays within one process. */
export function memoryJournal(
  lines: Iterable<JournalLine> = [],
): Journal & Readonly<Record<'lines', readonly JournalLine[]>> {
  expectIterable('lines', 'the lines of a journal', lines);
  const all = [...lines];
  expectObjects('lines', all);
  const append = (line: JournalLine): void => {
    expectObject('line', line);
    all.push(line);
  };
  return { lines: all, mode: 'record', append };
}

/** Records nothing: for a search without a journal. */
export const noJournal: Journal = { lines: [], mode: 'record', append: () => {} };

/** The same journal, read-only: a search repeats its calls and makes none. */
export function replayed(journal: Pick<Journal, 'lines'>): Journal {
  expectObject('journal', journal);
  const { lines } = journal;
  expectIterable('lines', 'the lines of a journal', lines);
  const held = Array.isArray(lines) ? [...(lines as readonly JournalLine[])] : lines;
  return { lines: held, mode: 'replay', append: () => {} };
}

/** Gives an empty journal its header, and checks that an existing header belongs to this run. */
export function beginJournal(journal: Journal, run: LineOf<'journal'>['run']): void {
  const [header] = journal.lines;
  if (header === undefined) {
    journal.append({ type: 'journal', version: journalVersion, run: { ...run } });
    return;
  }
  // A replay may use any journal: it can answer whatever calls are in it.
  if (journal.mode === 'replay' || header.type !== 'journal') return;
  // Models and their settings are recorded since version 3.
  const told =
    header.version < 3 ? Object.keys(run).filter((field) => field !== 'models') : Object.keys(run);
  for (const field of new Set([...told, ...Object.keys(header.run)])) {
    const there = canonicalJson(field, header.run[field] ?? null);
    const here = canonicalJson(field, run[field] ?? null);
    if (there !== here)
      throw othersRun(journal, `its \`${field}\` is ${shown(there)}, this run's is ${shown(here)}`);
  }
}

/** The content address of a run's first state. */
export function addressOfStart(state: JsonValue): string {
  return contentAddress(canonicalJson('state', state));
}

/** Records the start of the run, or checks that the journal's run has the same start. */
export function startJournal(journal: Journal, address: string): void {
  const started = startOf(journal);
  if (started === undefined) journal.append({ type: 'start', state: address });
  else if (journal.mode === 'record' && started.state !== address) {
    throw othersRun(journal, 'it starts from another state');
  }
}

function startOf({ lines }: Journal): LineOf<'start'> | undefined {
  for (const line of lines) {
    if (line.type === 'start') return line;
    // The start is recorded before the first call.
    if (line.type === 'intent') break;
  }
  return undefined;
}

/** JSON as shown in an error message. */
function shown(json: string): string {
  if (json === 'null') return 'none';
  return json.length > 120 ? `${json.slice(0, 119)}…` : json;
}

function othersRun(journal: Journal, difference: string): EspalierError {
  return new EspalierError(
    'invalid-journal',
    `${journalName(journal)} belongs to another run: ${difference}. Use another folder, or the same options.`,
  );
}
