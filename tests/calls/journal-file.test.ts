import { execFileSync } from 'node:child_process';
import {
  appendFileSync,
  existsSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { EspalierError } from '../../src/base/errors.ts';
import { beginJournal } from '../../src/calls/journal.ts';
import { openJournal, readJournal } from '../../src/calls/journal-file.ts';
import type { JournalLine } from '../../src/calls/journal-lines.ts';
import { sealLine } from '../../src/calls/journal-reader.ts';

const header: JournalLine = { type: 'journal', version: 3, run: { seed: 0 } };
const start = (state: string): JournalLine => ({ type: 'start', state });
const textOf = (lines: readonly JournalLine[]): string =>
  lines.map((line) => `${sealLine(line)}\n`).join('');

let folder = '';
let path = '';

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'espalier-journal-'));
  path = join(folder, 'journal.jsonl');
});

afterEach(() => {
  rmSync(folder, { recursive: true, force: true });
});

function codeOf(act: () => unknown): string {
  try {
    act();
  } catch (error) {
    if (EspalierError.isInstance(error)) return `${error.code}: ${error.message}`;
    throw error;
  }
  throw new Error('It was expected to throw.');
}

describe('openJournal', () => {
  test('makes a new file and appends one line at a time', () => {
    const journal = openJournal(path);
    expect([...journal.lines]).toEqual([]);
    journal.append(header);
    expect(readFileSync(path, 'utf8')).toBe(textOf([header]));

    journal.append(start('ü'));
    journal.close();
    expect(readFileSync(path, 'utf8')).toBe(textOf([header, start('ü')]));
    expect([...journal.lines]).toEqual([header, start('ü')]);
  });

  test('reads what is there and writes after it', () => {
    writeFileSync(path, textOf([header]));
    using journal = openJournal(path, { fsync: true });
    expect([...journal.lines]).toEqual([header]);
    journal.append(start('a'));

    expect([...readJournal(path).lines]).toEqual([header, start('a')]);
  });

  test('cuts off half a line that a dying process left', () => {
    writeFileSync(path, `${textOf([header, start('🌳')])}{"type":"start","sta`);
    using journal = openJournal(path);
    expect([...journal.lines]).toEqual([header, start('🌳')]);
    journal.append(start('b'));
    expect(readFileSync(path, 'utf8')).toBe(textOf([header, start('🌳'), start('b')]));

    expect([...readJournal(path).lines]).toEqual([header, start('🌳'), start('b')]);
  });

  test('cuts off a character of which only some bytes were written', () => {
    writeFileSync(path, textOf([header]));
    appendFileSync(path, Buffer.from('{"type":"start","state":"🌳').subarray(0, -2));
    using journal = openJournal(path);
    journal.append(start('a'));

    expect([...readJournal(path).lines]).toEqual([header, start('a')]);
  });

  test('ends a last line that only lacks its end', () => {
    writeFileSync(path, textOf([header, start('a')]).slice(0, -1));
    using journal = openJournal(path);
    expect([...journal.lines]).toEqual([header, start('a')]);
    journal.append(start('b'));

    expect(readFileSync(path, 'utf8')).toBe(textOf([header, start('a'), start('b')]));
  });

  test('leaves a file alone that it cannot read', () => {
    const broken = `${textOf([header])}half a li\n${textOf([start('a')])}{"type`;
    writeFileSync(path, broken);
    using journal = openJournal(path);

    expect(codeOf(() => [...journal.lines])).toBe(
      `invalid-journal: The journal \`${path}\` cannot be read: line 2 is damaged.`,
    );
    expect(readFileSync(path, 'utf8')).toBe(broken);
  });

  test('says which file could not be used, and why', () => {
    const missing = join(folder, 'no', 'such', 'journal.jsonl');

    expect(codeOf(() => openJournal(missing))).toMatch(
      new RegExp(
        `^storage: The file \`${missing}\` could not be used: there is no such file or folder\\.`,
      ),
    );
    expect(codeOf(() => openJournal(folder))).toContain('it is a folder');
  });

  test('can be closed twice, and takes nothing afterwards', () => {
    const journal = openJournal(path);
    journal.append(header);
    journal.close();
    journal.close();

    expect(codeOf(() => journal.append(start('late')))).toMatch(
      /^storage: The journal .* is closed/,
    );
    expect([...journal.lines]).toEqual([header]);
    expect(readFileSync(path, 'utf8')).toBe(textOf([header]));
  });
});

describe('the lines of a file', () => {
  test('are found again by their places, whatever their length', () => {
    using journal = openJournal(path);
    // Longer than what is read of a file at once.
    const lines = [header, start('ü'.repeat(200_000)), start('a'), start('b'.repeat(10_000))];
    for (const line of lines) journal.append(line);
    const entries = [...journal.lines.entries()];

    expect(entries.map(([, line]) => line)).toEqual(lines);
    for (const [place, line] of entries) {
      expect(journal.lines.at(place)).toMatchObject({ ...line });
    }
    expect(readFileSync(path, 'utf8')).toBe(textOf(lines));
  });
});

describe('readJournal', () => {
  test('changes nothing, not even half a line at the end', () => {
    const text = `${textOf([header])}{"type`;
    writeFileSync(path, text);

    expect([...readJournal(path).lines]).toEqual([header]);
    expect(readFileSync(path, 'utf8')).toBe(text);
  });

  test('does not make a file that is not there', () => {
    expect(codeOf(() => readJournal(path))).toMatch(/^storage: .*no such file/);
    expect(existsSync(path)).toBe(false);
  });
});

/** What a process does that may write no file beyond 2 048 bytes: the kernel then writes half a line. */
const fillTheDisk = `
  process.on('SIGXFSZ', () => {});
  const { openJournal } = await import(process.argv[1]);
  const journal = openJournal(process.argv[2]);
  journal.append({ type: 'journal', version: 3, run: { seed: 0 } });
  const report = { code: '', message: '', lines: 0 };
  try {
    for (;;) journal.append({ type: 'start', state: 'x'.repeat(310) });
  } catch (error) {
    report.code = error.code;
    report.message = error.message;
  }
  report.lines = [...journal.lines].length;
  journal.append({ type: 'start', state: 'short' });
  process.stdout.write(JSON.stringify(report));
`;

test.skipIf(process.platform === 'win32')('a full disk leaves no half line behind', () => {
  const module = new URL('../../src/calls/journal-file.ts', import.meta.url).href;
  const node = [process.execPath, '--import', 'tsx', '--input-type=module', '-e', fillTheDisk];
  const limited = ['-c', 'ulimit -f 2; exec "$@"', 'bash', ...node, '--', module, path];
  const output = execFileSync('bash', limited, { encoding: 'utf8' });
  const report: unknown = JSON.parse(output);

  // The header takes 65 bytes and each long line 355: five fit into 2 048 bytes, and 208 bytes of a sixth.
  expect(report).toMatchObject({ code: 'storage', lines: 6 });
  expect(report).toHaveProperty('message', expect.stringContaining('EFBIG'));
  expect([...readJournal(path).lines]).toHaveLength(7);
  expect([...readJournal(path).lines].at(-1)).toEqual(start('short'));
  expect(statSync(path).size).toBe(textOf([...readJournal(path).lines]).length);
});

test('a journal is named where it belongs to another run', () => {
  using journal = openJournal(path);
  journal.append(header);
  const named = `The journal \`${journal.path}\` belongs to another run: `;
  expect(codeOf(() => beginJournal(journal, { seed: 7 }))).toContain(named);
});
