import {
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { DeedLog } from '../../src/calls/deeds.ts';
import { beginJournal, type Journal, memoryJournal, replayed } from '../../src/calls/journal.ts';
import { openJournal } from '../../src/calls/journal-file.ts';
import type { JournalLine } from '../../src/calls/journal-lines.ts';

const mail = {
  of: 'commit',
  environment: 'crm',
  name: 'mail',
  key: 'k',
  input: { to: 'a' },
} as const;

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'deeds-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

/** What another process reads. */
function reread(lines: readonly JournalLine[]) {
  const log = DeedLog.of(memoryJournal(lines));
  log.hold();
  return log.of('crm').map(({ stage, output }) => [stage, output]);
}

function opened<J extends Journal>(journal: J) {
  const log = DeedLog.of(journal);
  return { journal, log, release: log.hold() };
}

describe('DeedLog', () => {
  test('tells a later process how far each deed has come', () => {
    const { journal, log } = opened(memoryJournal());
    const deed = log.begin(mail);
    expect(reread(journal.lines)).toEqual([['begin', undefined]]);
    log.done(deed, { sent: 1 });
    expect(reread(journal.lines)).toEqual([['done', { sent: 1 }]]);
    log.failed(deed, 'No connection.');
    expect(reread(journal.lines)).toEqual([['failed', { sent: 1 }]]);
    log.undone(deed);
    expect(reread(journal.lines)).toEqual([['undone', { sent: 1 }]]);
  });

  test('keeps what was remembered, and gives each run a name of its own unless it is told one', () => {
    const { journal, log } = opened(memoryJournal());
    const first = log.begin({ ...mail, remembered: { price: 3 } });
    const second = log.begin(mail);
    const third = log.begin({ ...mail, id: first.id });

    expect(first.id).not.toBe(second.id);
    expect(third).toMatchObject({ deed: 2, id: first.id });
    expect(journal.lines[1]).toEqual({
      type: 'deed',
      deed: 0,
      stage: 'begin',
      ...mail,
      id: first.id,
      remembered: { price: 3 },
    });
  });

  test('tells the deeds of one environment, oldest first', () => {
    const { log } = opened(memoryJournal());
    log.begin({ ...mail, environment: 'shop' });
    log.begin({ ...mail, input: 1 });
    log.begin({ ...mail, input: 2 });

    expect(log.of('crm').map(({ input }) => input)).toEqual([1, 2]);
  });

  test('begins a journal of its own with a header that no search takes for its run', () => {
    const { journal, log } = opened(memoryJournal());
    log.begin(mail);

    expect(journal.lines[0]).toMatchObject({
      type: 'journal',
      version: 5,
      run: { kind: 'deeds', environment: 'crm' },
    });
    expect(() => beginJournal(journal, { environment: 'crm' })).toThrow('belongs to another run');
  });

  test('goes on in the journal of a search, whose header stays the only one', () => {
    const journal = memoryJournal();
    beginJournal(journal, { environment: 'crm' });
    opened(journal).log.begin(mail);

    expect(journal.lines.map(({ type }) => type)).toEqual(['journal', 'deed']);
  });

  test('is refused by a replay', () => {
    expect(() => DeedLog.of(replayed(memoryJournal())).hold()).toThrow(
      'Open it with `openJournal`',
    );
  });
});

describe('DeedLog on a disk', () => {
  test('drops a line that a kill has cut off, and refuses the end of a deed that never began', () => {
    const path = join(folder, 'journal.jsonl');
    const journal = openJournal(path);
    const { log, release } = opened(journal);
    log.done(log.begin(mail), 'sent');
    release();
    journal.close();
    const text = readFileSync(path, 'utf8');
    const [header = '', begin = '', done = ''] = text.split('\n');

    writeFileSync(path, `${header}\n${begin}\n${done.slice(0, 20)}`);
    const torn = openJournal(path);
    const again = opened(torn);
    expect(again.log.of('crm').map(({ stage }) => stage)).toEqual(['begin']);
    again.release();

    writeFileSync(path, `${header}\n${done}\n`);
    expect(() => DeedLog.of(openJournal(path)).hold()).toThrow(
      `The journal \`${realpathSync(path)}\` has the end of deed 0 without its beginning`,
    );
  });

  test('has one writer: a second one is refused until the first lets go', () => {
    const path = join(folder, 'journal.jsonl');
    const journal = openJournal(path);
    const { log, release } = opened(journal);
    const other = DeedLog.of(openJournal(path));

    expect(() => other.hold()).toThrow('is writing to this folder');
    const alsoHeld = DeedLog.of(journal).hold();
    const deed = log.begin(mail);
    release();
    release();
    expect(() => other.hold()).toThrow('is writing to this folder');
    alsoHeld();
    other.hold();
    expect(other.of('crm')).toMatchObject([{ deed: deed.deed, stage: 'begin' }]);
  });

  test('throws what a full disk says, and forgets what was not written', () => {
    const journal = memoryJournal();
    const full = {
      ...journal,
      append: (line: JournalLine) => {
        if (line.type === 'deed' && line.stage === 'done') {
          throw Object.assign(new Error('no space'), { code: 'ENOSPC' });
        }
        journal.append(line);
      },
    };
    const { log } = opened(full);
    const deed = log.begin(mail);

    expect(() => log.done(deed, 'sent')).toThrow('The journal could not be used: the disk is full');
    expect(log.of('crm')).toMatchObject([{ stage: 'begin' }]);
  });
});

test('a journal under another name has the same lock', () => {
  const path = join(folder, 'deeds.jsonl');
  using journal = openJournal(path);
  symlinkSync(path, join(folder, 'link.jsonl'));
  using again = openJournal(join(folder, 'link.jsonl'));
  const { release } = opened(journal);
  expect(() => opened(again)).toThrowError(expect.objectContaining({ code: 'locked' }) as Error);
  release();
});
