import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { readJournal } from '../../src/calls/journal-file.ts';
import type { JournalLine } from '../../src/calls/journal-lines.ts';

/** The lines that are read from a journal file with this content. */
export function linesIn(content: string | Buffer): readonly JournalLine[] {
  const folder = mkdtempSync(join(tmpdir(), 'espalier-journal-'));
  try {
    const path = join(folder, 'journal.jsonl');
    writeFileSync(path, content);
    return [...readJournal(path).lines];
  } finally {
    rmSync(folder, { recursive: true });
  }
}
