import { createHash } from 'node:crypto';
import { basename, join } from 'node:path';
import { z } from 'zod';
import { withOpened, writtenLines } from '../base/file-lines.ts';
import type { TreeRecord } from '../data/record.ts';
import type { SourceFile } from '../data/writers/options.ts';
import { inputBytes } from './input-file.ts';
import type { SavedRun } from './run-folder.ts';

/** A file of foreign trees, identified by the hash of its bytes. */
export function sourceFile(path: string, madeBy: string): SourceFile {
  return { name: basename(path), sha256: hashOf(inputBytes(path)), madeBy };
}

const runSchema = z.looseObject({
  command: z.string().optional(),
  method: z.string().nullish(),
  replaced: z.array(z.string()).optional(),
  algorithm: z
    .union([z.string(), z.looseObject({ module: z.string() }).transform(({ module }) => module)])
    .nullish(),
  model: z.string().nullish(),
  versions: z.looseObject({ espalier: z.string() }).optional(),
});

const journalSchema = z.looseObject({
  algorithm: z.string().optional(),
  models: z.array(z.looseObject({ model: z.string() })).optional(),
});

/** The method and the models that grew a tree. */
type Grower = Pick<TreeRecord, 'method' | 'models'>;

/**
 * The method and models of a run's tree: from `run.json` if the command wrote it, or else from the journal of the
 * search.
 */
export function growerOf(
  { run, hasJournal, journal }: Partial<Pick<SavedRun, 'hasJournal' | 'journal' | 'run'>>,
  tree: Pick<SavedRun['trees'][number], 'attempt' | 'problem'>,
): Grower {
  const { command, method, replaced = [], algorithm, model } = runSchema.safeParse(run).data ?? {};
  if (command !== undefined) {
    const others = replaced.length === 0 ? '' : ` (${replaced.join(', ')} replaced)`;
    const name = typeof method === 'string' ? `${method}${others}` : algorithm;
    return grower(name ?? undefined, typeof model === 'string' ? [model] : []);
  }
  if (hasJournal?.(tree) !== true) return {};
  const [first] = journal?.(tree).lines ?? [];
  const began = journalSchema.safeParse(first?.type === 'journal' ? first.run : {}).data;
  return grower(
    began?.algorithm,
    (began?.models ?? []).map((each) => each.model),
  );
}

function grower(method: string | undefined, models: readonly string[]): Grower {
  return {
    ...(method !== undefined && { method }),
    ...(models.length > 0 && { models: [...new Set(models)] }),
  };
}

/**
 * The trees of a run. The order in which they finish is random, so the hash is that of the sorted hashes of the lines:
 * equal trees have equal hashes.
 */
export function runFile(
  { path, run }: Pick<SavedRun, 'path' | 'run'>,
  { method, models = [] }: Grower,
): SourceFile {
  const { versions } = runSchema.safeParse(run).data ?? {};
  const program = `espalier ${versions?.espalier ?? ''}`.trim();
  return {
    name: join(basename(path), 'trees.jsonl'),
    sha256: hashOf(Buffer.from(lineHashes(join(path, 'trees.jsonl')).join(''))),
    madeBy: [program, ...(method === undefined ? [] : [method]), ...models].join(', '),
    isByLine: true,
  };
}

function lineHashes(path: string): readonly string[] {
  return withOpened(path, 'r', (file) =>
    [...writtenLines(path, (use) => use(file))].map(({ bytes }) => `${hashOf(bytes)}\n`),
  ).toSorted();
}

function hashOf(bytes: Buffer): string {
  return createHash('sha256').update(bytes).digest('hex');
}
