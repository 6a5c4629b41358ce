import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach } from 'vitest';
import { llamaFactory } from '../../src/data/formats/llama-factory.ts';
import { trl } from '../../src/data/formats/trl.ts';
import { trlConversational } from '../../src/data/formats/trl-conversational.ts';
import type { TreeRecord } from '../../src/data/record.ts';
import type { PreferenceRow, RowRule } from '../../src/data/rows.ts';
import type { WriteDatasetOptions } from '../../src/data/writers/options.ts';
import { writeDataset } from '../../src/data/writers/write-dataset.ts';
import { SearchTree } from '../../src/tree/tree.ts';
import { asks, preference, provenance } from './formats-rows.ts';

/** The folder of the test that runs. */
export let out = '';

/** Gives each test of a file a folder of its own. */
export function useFolders(): void {
  beforeEach(() => {
    out = mkdtempSync(join(tmpdir(), 'espalier-dataset-'));
  });
  afterEach(() => rmSync(out, { recursive: true, force: true }));
}

export const bare = { provenance: false };
export const text: ReturnType<typeof trl> = trl(bare);
export const alpaca: ReturnType<typeof llamaFactory> = llamaFactory(bare);
export const turns: ReturnType<typeof trlConversational> = trlConversational(bare);

export function problem(id: string): readonly TreeRecord[] {
  const tree = new SearchTree<unknown, unknown>(id, { environment: 'letters', seed: 0 });
  return [{ problem: id, tree, notation: { format: String, prompt: () => [asks(id)] } }];
}

/** Two rows of each problem. */
export const twoEach: RowRule<PreferenceRow> = {
  name: 'two-each',
  kind: 'preference',
  *rows(trees) {
    for (const { problem: id } of trees) {
      for (const margin of [0.25, 1]) {
        const own = { ...provenance, problem: id, tree: id };
        const prompt = [asks(`${id} ${margin}`)];
        yield preference({ prompt, margin, provenance: own });
      }
    }
  },
};

export function write(
  ids: readonly string[],
  options: Partial<WriteDatasetOptions> = {},
): ReturnType<typeof writeDataset> {
  const configs = [{ name: 'dpo', rule: twoEach, format: text }];
  return writeDataset({ out, problems: ids.map(problem), configs, file: 'jsonl', ...options });
}

export function read(path: string): string {
  return readFileSync(join(out, path), 'utf8');
}

export function promptsOf(path: string): readonly string[] {
  return read(path)
    .trimEnd()
    .split('\n')
    .map((line) => (JSON.parse(line) as { prompt: string }).prompt);
}

/** All files, with what they hold. */
export function folder(): Readonly<Record<string, string>> {
  const files = readdirSync(out, { recursive: true, withFileTypes: true }).filter((file) =>
    file.isFile(),
  );
  return Object.fromEntries(
    files
      .map(({ parentPath, name }) => join(parentPath, name))
      .toSorted()
      .map((path) => [path.slice(out.length + 1), readFileSync(path, 'latin1')]),
  );
}

export const line = (prompt: string): string =>
  `{"prompt":"${prompt}\\n","chosen":"It is 4.","rejected":"It is 5."}\n`;
