import {
  appendFileSync,
  existsSync,
  mkdirSync,
  readFileSync,
  renameSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import type { Journal } from '../runtime/journal.ts';
import { type JournalFile, openJournal, readJournal } from '../runtime/journal-file.ts';
import { storing } from '../runtime/storing.ts';
import { EspalierError } from '../spec/errors.ts';
import type { JsonValue } from '../spec/json.ts';
import type { TreeJson } from '../tree/serialize.ts';
import { takeLock } from './lock.ts';

/** A finished tree and what it belongs to. */
export interface TreeEntry {
  /** The problem that the tree is about. */
  readonly problem: string;
  /** Which attempt at it, from 0. */
  readonly attempt: number;
  /** Which step of the real world: some methods grow one tree a step. */
  readonly step: number;
  /** The tree itself. */
  readonly tree: TreeJson;
}

/** A folder that holds one run: what was asked, every paid call, the trees, what was found. */
export interface RunFolder extends Disposable {
  /** Where it is. */
  readonly path: string;
  /** Every paid call, to give to `search`. */
  readonly journal: JournalFile;
  /** Writes `run.json`: what was asked. Never put a secret into it. */
  writeRun(run: JsonValue): void;
  /** Appends to `trees.jsonl`. A later tree of the same problem, attempt and step takes the place of an earlier. */
  saveTree(entry: TreeEntry): void;
  /** Writes `report.json`: what was found and spent. */
  writeReport(report: JsonValue): void;
  /** Closes the journal and releases the folder. */
  close(): void;
}

/**
 * Opens a run folder for writing, and makes it where there is none. Until it is closed no other process
 * can write to it; when the process dies the next one takes over.
 *
 * @throws EspalierError `locked`, `invalid-journal` or `storage`.
 */
export function openRun(path: string): RunFolder {
  storing(`\`${path}\``, () => mkdirSync(path, { recursive: true }));
  const release = takeLock(join(path, 'lock'));
  let journal: JournalFile;
  try {
    journal = openJournal(join(path, 'journal.jsonl'));
    dropBrokenLine(join(path, 'trees.jsonl'));
  } catch (error) {
    release();
    throw error;
  }
  const close = (): void => {
    journal.close();
    release();
  };
  return {
    path,
    journal,
    writeRun: (run) => replaceFile(join(path, 'run.json'), run),
    saveTree: (entry) => appendLine(join(path, 'trees.jsonl'), entry),
    writeReport: (report) => replaceFile(join(path, 'report.json'), report),
    close,
    [Symbol.dispose]: close,
  };
}

/** A run folder as it lies there. Reading needs no lock. */
export interface SavedRun {
  /** What was asked. */
  readonly run: JsonValue | undefined;
  /** The latest tree of each problem, attempt and step. */
  readonly trees: readonly TreeEntry[];
  /** What was found and spent. */
  readonly report: JsonValue | undefined;
  /** The paid calls, for a replay. */
  readonly journal: Pick<Journal, 'lines'>;
}

/**
 * Reads a run folder.
 *
 * @throws EspalierError `storage` where there is none, `invalid-tree` or `invalid-journal`.
 */
export function readRun(path: string): SavedRun {
  if (!existsSync(join(path, 'journal.jsonl'))) {
    throw new EspalierError('storage', `There is no run in \`${path}\`: it has no journal.jsonl.`);
  }
  return {
    run: readJson(join(path, 'run.json')),
    trees: readTrees(join(path, 'trees.jsonl')),
    report: readJson(join(path, 'report.json')),
    journal: readJournal(join(path, 'journal.jsonl')),
  };
}

function readTrees(path: string): readonly TreeEntry[] {
  if (!existsSync(path)) return [];
  const text = storing(`\`${path}\``, () => readFileSync(path, 'utf8'));
  // A last line without its end was cut off while it was written.
  const complete = text
    .slice(0, text.lastIndexOf('\n') + 1)
    .split('\n')
    .slice(0, -1);
  const latest = new Map<string, TreeEntry>();
  for (const [index, line] of complete.entries()) {
    const entry = parseEntry(path, line, index + 1);
    latest.set(JSON.stringify([entry.problem, entry.attempt, entry.step]), entry);
  }
  return [...latest.values()];
}

function parseEntry(path: string, line: string, number: number): TreeEntry {
  try {
    return JSON.parse(line) as TreeEntry;
  } catch (cause) {
    throw new EspalierError('invalid-tree', `Line ${number} of \`${path}\` is not JSON.`, {
      cause,
    });
  }
}

function readJson(path: string): JsonValue | undefined {
  if (!existsSync(path)) return undefined;
  return storing(`\`${path}\``, () => JSON.parse(readFileSync(path, 'utf8')) as JsonValue);
}

/** A reader sees the old file or the new one, and never half of one. */
function replaceFile(path: string, content: JsonValue): void {
  storing(`\`${path}\``, () => {
    writeFileSync(`${path}.new`, `${JSON.stringify(content, undefined, 2)}\n`);
    renameSync(`${path}.new`, path);
  });
}

function appendLine(path: string, content: unknown): void {
  storing(`\`${path}\``, () => appendFileSync(path, `${JSON.stringify(content)}\n`));
}

/** A line that a killed process left unfinished must not swallow the next one. */
function dropBrokenLine(path: string): void {
  if (!existsSync(path)) return;
  storing(`\`${path}\``, () => {
    const bytes = readFileSync(path);
    const end = bytes.lastIndexOf('\n') + 1;
    if (end < bytes.length) truncateSync(path, end);
  });
}
