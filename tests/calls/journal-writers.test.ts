import { execFileSync } from 'node:child_process';
import { existsSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { openJournal } from '../../src/calls/index.ts';
import { temporaryFolder } from '../cli/espalier.ts';

const header = { type: 'journal', version: 3, run: {} } as never;
const folder = temporaryFolder();
const module = new URL('../../src/calls/index.ts', import.meta.url).href;

/** What another process says that writes a line, and whether it closes the journal. */
function otherProcess(path: string, last = ''): string {
  const script = `
    import { openJournal } from ${JSON.stringify(module)};
    try {
      const journal = openJournal(${JSON.stringify(path)});
      journal.append({ type: 'journal', version: 3, run: {} });
      ${last}
      console.log('written');
    } catch (error) {
      console.log(error.code + ': ' + error.message);
    }`;
  const options = [
    '--import',
    'tsx',
    '--conditions=espalier-source',
    '--input-type=module',
    '-e',
    script,
  ];
  return execFileSync(process.execPath, options, { encoding: 'utf8' }).trim();
}

test('a second process cannot write to a journal before the first one has closed it', () => {
  const path = join(folder, 'shared.jsonl');
  const journal = openJournal(path);
  journal.append(header);
  expect(otherProcess(path)).toMatch(
    new RegExp(
      `^locked: Process ${process.pid} on .+ is writing to the journal \`.+shared\\.jsonl\`\\. If .+\\.writer\\.lock\`\\.$`,
    ),
  );
  expect([...journal.lines]).toHaveLength(1);
  journal.close();
  expect(otherProcess(path, 'journal.close();')).toBe('written');
});

test('a process that ends without closing its journal leaves no lock', () => {
  const path = join(folder, 'left.jsonl');
  expect(otherProcess(path)).toBe('written');
  expect(existsSync(`${path}.writer.lock`)).toBe(false);
  const journal = openJournal(path);
  journal.append(header);
  expect(existsSync(`${path}.writer.lock`)).toBe(true);
  journal.close();
  expect(existsSync(`${path}.writer.lock`)).toBe(false);
});

test('a second journal of the same process cannot write before the first one is closed', () => {
  const path = join(folder, 'twice.jsonl');
  const journal = openJournal(path);
  const other = openJournal(path);
  symlinkSync(path, join(folder, 'twice-linked.jsonl'));
  const linked = openJournal(join(folder, 'twice-linked.jsonl'));
  journal.append(header);
  for (const second of [other, linked]) {
    expect(() => second.append(header)).toThrow(
      /^The journal `.+twice\.jsonl` is open twice in this process, and can have only one writer\. Pass the journal that was opened first, or close it\.$/,
    );
  }
  journal.append(header);
  expect([...other.lines]).toHaveLength(2);
  journal.close();
  other.append(header);
  expect([...other.lines]).toHaveLength(3);
  expect(() => linked.append(header)).toThrow('is open twice');
  other.close();
  linked.close();
  expect(existsSync(`${path}.writer.lock`)).toBe(false);
});
