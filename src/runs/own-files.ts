import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { EspalierError } from '../base/errors.ts';
import { nameOf, withOpened, writtenLines } from '../base/file-lines.ts';
import { expectRegularFile } from '../base/regular-file.ts';
import { isIntact } from '../base/seal.ts';
import { withStorageErrors } from '../base/with-storage-errors.ts';
import { isThere } from './json-lines.ts';

/** How a file of ours is distinguished from an unrelated one of the same name. A file with a seal is ours. */
interface OwnFile {
  /** Its structure before seals were introduced. */
  readonly shape: z.ZodType;
  /** The beginning of each line, which may be all that is left of an incomplete first line. */
  readonly beginning?: string;
  /** The file that must also exist, unless this one has a seal. */
  readonly after?: string;
}

const outcomeOrTree: OwnFile = {
  shape: z.looseObject({ problem: z.string(), attempt: z.int().min(0) }),
  beginning: '{"problem":',
};
const documents: Readonly<Record<string, OwnFile>> = {
  // An empty object has no room for a seal.
  'run.json': { shape: z.union([z.strictObject({}), z.looseObject({ command: z.string() })]) },
  'report.json': {
    shape: z.union([z.strictObject({}), z.looseObject({ spend: z.looseObject({}) })]),
  },
};
const lists: Readonly<Record<string, OwnFile>> = {
  // Written after run.json: without that, it may be a user's list of problems.
  'asked.jsonl': { shape: z.looseObject({ id: z.string() }), after: 'run.json' },
  'batches.jsonl': {
    shape: z.looseObject({ batch: z.string(), type: z.literal('intent') }),
    beginning: '{"batch":',
  },
  'journal.jsonl': {
    shape: z.looseObject({ type: z.literal('journal') }),
    beginning: '{"type":"journal"',
  },
  'problems.jsonl': outcomeOrTree,
  'trees.jsonl': outcomeOrTree,
};

/**
 * Makes sure that a run does not overwrite an unrelated file.
 *
 * @throws EspalierError `usage`, naming the file, or `storage` if one cannot be read.
 */
export function expectOwnFiles(folder: string): void {
  for (const [name, own] of Object.entries(documents)) {
    const path = join(folder, name);
    if (isThere(path) && !isOwn(documentIn(path), own)) throw foreign(path);
  }
  for (const [name, own] of Object.entries(lists)) {
    const path = join(folder, name);
    if (isThere(path) && !isOwnList(path, own)) throw foreign(path);
  }
}

/** The error for an unrelated file that a run would overwrite. */
export function foreign(path: string): EspalierError {
  return new EspalierError(
    'usage',
    `\`${path}\` is not a file of a run, and the run would overwrite it. Choose another folder, or restore the file from a copy.`,
  );
}

/** Whether the lines of a file are ours, going by the first one. */
export function isOwnList(path: string, own: OwnFile): boolean {
  const { beginning, after } = own;
  const first = withOpened(
    path,
    'r',
    (file) => writtenLines(path, (use) => use(file)).next().value,
  );
  if (first === undefined) return true;
  if (isOwn(first.bytes, own)) {
    return (
      isIntact(first.bytes) !== undefined || after === undefined || isThere(join(path, '..', after))
    );
  }
  if (first.isWhole || beginning === undefined) return false;
  const text = first.bytes.toString();
  return text.startsWith(beginning) || beginning.startsWith(text);
}

function isOwn(bytes: Buffer, { shape }: OwnFile): boolean {
  // A sealed file that has changed is refused when it is read.
  if (isIntact(bytes) !== undefined) return true;
  try {
    return shape.safeParse(JSON.parse(bytes.toString())).success;
  } catch {
    return false;
  }
}

/** The content of a file that is one document, without its final line break. */
export function documentIn(path: string): Buffer {
  const bytes = withStorageErrors(nameOf(path), () => {
    expectRegularFile(path);
    return readFileSync(path);
  });
  return bytes.subarray(0, bytes.at(-1) === 0x0a ? -1 : bytes.length);
}
