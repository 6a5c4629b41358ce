import { existsSync, readdirSync, renameSync, statSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { z } from 'zod';
import { contentAddress } from '../base/canonical-json.ts';
import { EspalierError } from '../base/errors.ts';
import { expectArray, expectInteger, expectObject, expectText } from '../base/expect.ts';
import { nameOf } from '../base/file-lines.ts';
import { isPlainObject } from '../base/json.ts';
import { takeLock } from '../base/lock.ts';
import { makeFolder } from '../base/make-folder.ts';
import { seal } from '../base/seal.ts';
import { withStorageErrors } from '../base/with-storage-errors.ts';
import type { CallSpend } from '../calls/call-spend.ts';
import type { Journal } from '../calls/journal.ts';
import { type JournalFile, openJournalWithin, readJournal } from '../calls/journal-file.ts';
import { JournalIndex } from '../calls/journal-index.ts';
import type { JsonValue } from '../contracts/json.ts';
import type { Spend } from '../contracts/spend.ts';
import { appendLine, dropTornLine, isThere, readLines } from './json-lines.ts';
import { documentIn, expectOwnFiles } from './own-files.ts';
import { expectFields, parseSealed } from './sealed-json.ts';
import { entrySchema, listTrees, type TreeEntry } from './trees-file.ts';

/** How the search for one problem ended. */
export interface ProblemOutcome {
  /** The problem. */
  readonly problem: string;
  /** The index of the attempt, from 0. */
  readonly attempt: number;
  /** `done`: its tree is in the run. `failed`: the search did not complete. */
  readonly status: 'done' | 'failed';
  /** Why it failed, in one sentence, or else why the search ended. */
  readonly reason: string;
  /** Whether an end that scores 1 or more was found. */
  readonly solved: boolean;
  /** The spend of the search. */
  readonly spend: Spend;
  /** Models called without a known price. */
  readonly unpriced?: readonly string[];
  /** The value returned by the option `note` of `generate`. */
  readonly noted?: JsonValue;
}

/** The folder of a run: requests, paid calls, trees and results. */
export interface RunFolder extends Disposable {
  /** Its path. */
  readonly path: string;
  /** The journal of a single-search run, to pass to `search`. */
  readonly journal: JournalFile;
  /** The journal of one attempt at one of several problems. Close it after the search. */
  journalOf(problem: string, attempt: number): JournalFile;
  /** Sets the journal of an attempt aside, if there is one, so that the attempt starts over. It stays in the folder. */
  setAside(problem: string, attempt: number): void;
  /** Writes `asked.jsonl`: the problems, in the order of their rows. */
  writeProblems(problems: readonly Readonly<Record<string, JsonValue>>[]): void;
  /** Writes `run.json`: the request. Never put secrets into it. */
  writeRun(run: Readonly<Record<string, JsonValue>>): void;
  /** Appends to `trees.jsonl`. A later tree of the same problem, attempt and step replaces an earlier one. */
  saveTree(entry: TreeEntry): void;
  /** Appends to `problems.jsonl`. A later outcome of the same problem and attempt replaces an earlier one. */
  saveOutcome(outcome: ProblemOutcome): void;
  /** Writes `report.json`: results and spend. */
  writeReport(report: Readonly<Record<string, JsonValue>>): void;
  /** Closes the journal and releases the folder. */
  close(): void;
}

/**
 * Opens a run folder for writing, creating it if needed. No other process can write to it until it is closed; if the
 * process dies, the next one takes over.
 *
 * @throws EspalierError `usage` if a file of the run would overwrite an unrelated one; `locked`,
 * `invalid-journal` or `storage`.
 */
export function openRun(path: string): RunFolder {
  expectText('path', path);
  withStorageErrors(`\`${path}\``, () => makeFolder(path));
  expectOwnFiles(path);
  const release = takeLock(join(path, 'lock'));
  let journal: JournalFile | undefined;
  let isClosed = false;
  // All writing methods get their file here: after closing, the folder may belong to another process.
  const file = (name: string): string => {
    if (!isClosed) return join(path, name);
    throw new EspalierError('storage', `The run folder \`${path}\` is closed. Open it again.`);
  };
  try {
    // An unreadable journal is found before anything is spent.
    if (existsSync(file('journal.jsonl'))) journal = openJournalWithin(file('journal.jsonl'));
    dropTornLine(file('trees.jsonl'));
    dropTornLine(file('problems.jsonl'));
    dropTornLine(file(batchesFile));
  } catch (error) {
    release();
    throw error;
  }
  const close = (): void => {
    if (isClosed) return;
    isClosed = true;
    journal?.close();
    release();
  };
  return {
    path,
    get journal() {
      const name = file('journal.jsonl');
      journal ??= openJournalWithin(name);
      return journal;
    },
    journalOf: (problem, attempt) => {
      withStorageErrors(`\`${file('journals')}\``, () => makeFolder(file('journals')));
      return openJournalWithin(file(journalName(problem, attempt)));
    },
    setAside: (problem, attempt) => setAside(file(journalName(problem, attempt))),
    writeProblems: (problems) => {
      expectArray('problems', problems);
      for (const [place, problem] of problems.entries())
        expectObject(`problems[${place}]`, problem);
      replaceText(
        file('asked.jsonl'),
        problems.map((problem) => `${seal(JSON.stringify(problem))}\n`).join(''),
      );
    },
    writeRun(run) {
      expectObject('run', run);
      replaceFile(file('run.json'), run);
    },
    // The problem comes first, because an incomplete line is recognised by its beginning.
    saveTree(entry) {
      expectFields('entry', entry, entrySchema);
      const { problem, ...rest } = entry;
      appendLine(file('trees.jsonl'), { problem, ...rest });
    },
    saveOutcome(outcome) {
      expectFields('outcome', outcome, outcomeSchema);
      const { problem, ...rest } = outcome;
      appendLine(file('problems.jsonl'), {
        ...{ problem, ...rest },
        setAside: timesSetAside(path, { problem, attempt: rest.attempt }),
      });
    },
    writeReport(report) {
      expectObject('report', report);
      replaceFile(file('report.json'), report);
    },
    close,
    [Symbol.dispose]: close,
  };
}

/** The file in which a run records its batches. */
export const batchesFile = 'batches.jsonl';

/** How often the journal of an attempt was set aside. */
export function timesSetAside(
  path: string,
  { problem, attempt }: Pick<ProblemOutcome, 'attempt' | 'problem'>,
): number {
  let count = 0;
  while (existsSync(aside(join(path, journalName(problem, attempt)), count + 1))) count += 1;
  return count;
}

/** Whether calls of a search failed that may succeed another time. Of each call, the latest outcome counts. */
export function isOutage({ problem, attempt }: ProblemOutcome, saved: SavedRun): boolean {
  if (!saved.hasJournal({ problem, attempt })) return false;
  const failed = new Set<string>();
  for (const line of saved.journal({ problem, attempt }).lines) {
    if (line.type !== 'failure' && line.type !== 'result') continue;
    const mayPass = line.type === 'failure' && (line.unavailable ?? line.transient) === true;
    if (mayPass) failed.add(line.key);
    else failed.delete(line.key);
  }
  return failed.size > 0;
}

function aside(journal: string, count: number): string {
  return journal.replace(/jsonl$/, `failed-${count}.jsonl`);
}

/** A problem's name is foreign text and must not become part of a path. */
function journalName(problem: string, attempt: number): string {
  expectText('problem', problem);
  expectInteger('attempt', attempt, { min: 0 });
  return join('journals', `${contentAddress(problem)}-${attempt}.jsonl`);
}

/** The maximum cost recorded in the journals of a run over many problems, except those of some attempts. */
export function paidIn(
  path: string,
  isLeftOut: (name: string) => boolean,
): ReadonlyMap<string, CallSpend> {
  const folder = join(path, 'journals');
  if (!existsSync(folder)) return new Map();
  const names = withStorageErrors(`\`${folder}\``, () => readdirSync(folder));
  const own = names.filter((name) => name.endsWith('.jsonl') && !isLeftOut(name)).toSorted();
  return new Map(
    own.map((name) => [name, new JournalIndex(readJournal(join(folder, name)).lines).total]),
  );
}

/** The journal file of an attempt. */
export function journalFileOf(of: Pick<ProblemOutcome, 'attempt' | 'problem'>): string {
  return basename(journalName(of.problem, of.attempt));
}

/** A folder with one of these files is a run; the lock exists while it is written. */
const marks = ['run.json', 'journal.jsonl', 'problems.jsonl', 'lock'];

/** The contents of a run folder. Reading needs no lock. */
export interface SavedRun {
  /** Its path. */
  readonly path: string;
  /** The request. */
  readonly run: Readonly<Record<string, JsonValue>> | undefined;
  /** The latest tree of each problem, attempt and step, read on demand. */
  readonly trees: readonly (Omit<TreeEntry, 'tree'> & {
    /** Reads it. */
    readonly read: () => TreeEntry['tree'];
  })[];
  /**
   * The latest outcome of each problem and attempt, for runs over several problems. An attempt that failed and has been
   * started over since has none yet.
   */
  readonly outcomes: readonly ProblemOutcome[];
  /** The problems, in order, for runs over several problems. */
  readonly asked: readonly Readonly<Record<string, JsonValue>>[];
  /** Results and spend. */
  readonly report: Readonly<Record<string, JsonValue>> | undefined;
  /** Whether an attempt has a journal. */
  hasJournal(of: Pick<ProblemOutcome, 'attempt' | 'problem'>): boolean;
  /** The journal, for replays; for a run over several problems, that of one attempt. */
  journal(of?: Pick<ProblemOutcome, 'attempt' | 'problem'>): Pick<Journal, 'lines'>;
}

const objectSchema: z.ZodType<Readonly<Record<string, JsonValue>>> = z.custom<
  Readonly<Record<string, JsonValue>>
>(isPlainObject, 'expected an object');
const count = z.int().min(0);
/** `setAside` is how often the journal had been set aside: the outcome is that of the journal after it. */
const outcomeSchema: z.ZodType<ProblemOutcome & { readonly setAside?: number }> = z.object({
  problem: z.string(),
  attempt: count,
  status: z.enum(['done', 'failed']),
  reason: z.string(),
  solved: z.boolean(),
  spend: z.object({
    simulations: count,
    nodes: count,
    calls: z.number(),
    tokens: z.number(),
    usd: z.number(),
    ms: z.number(),
  }),
  unpriced: z.exactOptional(z.array(z.string())),
  noted: z.exactOptional(z.json()),
  setAside: z.exactOptional(count),
});

/**
 * Reads a run folder.
 *
 * @throws EspalierError `storage` if it is missing or cannot be read, naming the file and the line, or
 * `invalid-journal`.
 */
export function readRun(path: string): SavedRun {
  expectText('path', path);
  const file = (name: string): string => join(path, name);
  if (
    withStorageErrors(nameOf(path), () => statSync(path, { throwIfNoEntry: false }))?.isFile() ===
    true
  ) {
    throw new EspalierError(
      'storage',
      `There is no run in \`${path}\`: it is a file. Name the folder of a run.`,
    );
  }
  if (!marks.some((name) => isThere(file(name)))) {
    throw new EspalierError(
      'storage',
      `There is no run in \`${path}\`: it has no run.json, journal.jsonl or problems.jsonl.`,
    );
  }
  let trees: SavedRun['trees'] | undefined;
  return {
    path,
    run: readObject(file('run.json')),
    get trees() {
      // The largest file of a run, read only if it is needed.
      trees ??= listTrees(file('trees.jsonl'));
      return trees;
    },
    outcomes: latestOutcomes(path),
    asked: [...readLines(file('asked.jsonl'), objectSchema, { isReplaced: true })].map(
      ({ value }) => value,
    ),
    report: readObject(file('report.json')),
    hasJournal: (of) => existsSync(file(journalName(of.problem, of.attempt))),
    journal: (of) =>
      readJournal(file(of === undefined ? 'journal.jsonl' : journalName(of.problem, of.attempt))),
  };
}

function latestOutcomes(path: string): readonly ProblemOutcome[] {
  const latest = new Map<string, ProblemOutcome>();
  for (const { value } of readLines(join(path, 'problems.jsonl'), outcomeSchema)) {
    const { setAside: before = 0, ...outcome } = value;
    const key = JSON.stringify([outcome.problem, outcome.attempt]);
    const isOld = outcome.status === 'failed' && before < timesSetAside(path, outcome);
    if (isOld) latest.delete(key);
    else latest.set(key, outcome);
  }
  return [...latest.values()];
}

function readObject(path: string): Readonly<Record<string, JsonValue>> | undefined {
  if (!isThere(path)) return undefined;
  return parseSealed(documentIn(path), { subject: nameOf(path), schema: objectSchema });
}

function replaceFile(path: string, content: Readonly<Record<string, JsonValue>>): void {
  replaceText(path, `${seal(JSON.stringify(content, undefined, 2))}\n`);
}

/** Replaces a file so that a reader sees the old or the new text, and never a part of one. */
function replaceText(path: string, text: string): void {
  withStorageErrors(`\`${path}\``, () => {
    writeFileSync(`${path}.new`, text);
    renameSync(`${path}.new`, path);
  });
}

function setAside(path: string): void {
  if (!existsSync(path)) return;
  let count = 1;
  while (existsSync(aside(path, count))) count += 1;
  withStorageErrors(`\`${path}\``, () => renameSync(path, aside(path, count)));
}
