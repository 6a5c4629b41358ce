import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { basename, join } from 'node:path';
import { z } from 'zod';
import { withOpened, writtenLines } from '../base/file-lines.ts';
import type { SourceFile } from '../data/writers/options.ts';
import type { SavedRun } from '../runs/index.ts';
import { inputBytes } from '../runs/input-file.ts';

/** A file of trees that others grew, by the hash of its bytes. */
export function sourceFile(path: string, madeBy: string): SourceFile {
  return { name: basename(path), sha256: hashOf(inputBytes(path)), madeBy };
}

const runSchema = z.looseObject({
  method: z.string().nullish(),
  algorithm: z.string().nullish(),
  model: z.string().nullish(),
  versions: z.looseObject({ espalier: z.string() }).optional(),
});

/**
 * The trees of a run, where it has any. In which order they are finished is chance: the hash is that of the sorted hashes of the lines, so
 * that equal trees have equal ones.
 */
export function runFiles(path: string, { run }: Pick<SavedRun, 'run'>): readonly SourceFile[] {
  const file = join(path, 'trees.jsonl');
  if (!existsSync(file)) return [];
  const { method, algorithm, model, versions } = runSchema.safeParse(run).data ?? {};
  const parts = [`espalier ${versions?.espalier ?? ''}`.trim(), method ?? algorithm, model];
  const name = join(basename(path), 'trees.jsonl');
  const sha256 = hashOf(Buffer.from(lineHashes(file).join('')));
  const madeBy = parts.filter((part) => typeof part === 'string').join(', ');
  return [{ name, sha256, madeBy, isByLine: true }];
}

function lineHashes(path: string): readonly string[] {
  return withOpened(path, 'r', (file) =>
    [...writtenLines(path, (use) => use(file))].map(({ bytes }) => `${hashOf(bytes)}\n`),
  ).toSorted();
}

function hashOf(bytes: Buffer): string {
  return createHash('sha256').update(bytes).digest('hex');
}
