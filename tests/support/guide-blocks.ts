// The code blocks of a guide, and what the comment above one says of it.
import { readFileSync } from 'node:fs';
import { basename } from 'node:path';

/** A code block, and where it stands. */
export interface GuideBlock {
  /** The name of the guide, without its extension. */
  readonly guide: string;
  readonly at: string;
  readonly language: string;
  readonly text: string;
  /** What it prints, where that stands below it: `<!-- prints -->` above a block of text. */
  readonly prints?: string;
  /** The example that it is a part of: `<!-- examples/… -->` above it. */
  readonly example?: string;
  /** The file that it is, which other blocks read: `<!-- file: … -->` above it. */
  readonly file?: string;
  /** Why it is compiled and not run: `<!-- types: … -->` above it. */
  readonly types?: string;
  /** Why it is not looked at: `<!-- skip: … -->` above it. */
  readonly skip?: string;
}

/** What is shown and not run: what a program prints, a drawing. */
const shown: readonly string[] = ['', 'text'];

/** The blocks of a guide that have a language. */
export function blocksOf(path: string): readonly GuideBlock[] {
  const text = readFileSync(path, 'utf8');
  const blocks = text.matchAll(/(?:^<!-- (.*?) -->\n)?^```(\w*)\n(.*?)^```$/gms);
  return [...blocks].flatMap(
    ({ index, 0: whole, 1: note = '', 2: language = '', 3: code = '' }) => {
      if (shown.includes(language)) return [];
      const [, prints] =
        /^\n+<!-- prints -->\n```text\n(.*?)\n```\n/s.exec(text.slice(index + whole.length)) ?? [];
      const line = text.slice(0, index + whole.indexOf('```')).split('\n').length + 1;
      const [, key, why = ''] = /^(file|types|skip): (.*)$/.exec(note) ?? [];
      return {
        guide: basename(path, '.md'),
        at: `${basename(path)}:${line}`,
        language,
        text: code,
        ...(prints !== undefined && { prints }),
        ...(note.startsWith('examples/') && { example: note }),
        ...(key === 'file' && { file: why }),
        ...(key === 'types' && { types: why }),
        ...(key === 'skip' && { skip: why }),
      };
    },
  );
}
