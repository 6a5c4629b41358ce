import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll } from 'vitest';

/** Makes folders of files that are gone when the tests of a file are over. */
export function foldersOfFiles(): (files: Readonly<Record<string, Buffer | string>>) => string {
  const root = mkdtempSync(join(tmpdir(), 'espalier-files-'));
  afterAll(() => rmSync(root, { recursive: true, force: true }));
  let folders = 0;
  return (files) => {
    const path = join(root, String(folders++));
    mkdirSync(path);
    for (const [name, content] of Object.entries(files)) {
      mkdirSync(dirname(join(path, name)), { recursive: true });
      writeFileSync(join(path, name), content);
    }
    return path;
  };
}
