import { crc32 } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import { EspalierError } from '../../src/base/errors.ts';
import { seal } from '../../src/base/seal.ts';
import {
  addressOfStart,
  beginJournal,
  memoryJournal,
  replayed,
  startJournal,
} from '../../src/calls/journal.ts';
import { JournalIndex } from '../../src/calls/journal-index.ts';
import { type JournalLine, journalVersion, type LineOf } from '../../src/calls/journal-lines.ts';
import { linesIn } from './lines-in.ts';

const header: JournalLine = { type: 'journal', version: journalVersion, run: { seed: 0 } };
const spend = { calls: 1, tokens: 10, usd: 0.5 };

function intent(call: number, key: string): LineOf<'intent'> {
  return {
    type: 'intent',
    call,
    key,
    kind: 'generate',
    name: 'test:model',
    samples: [0, 2],
    reserved: spend,
    request: { messages: [] },
  };
}
const result = (call: number, key: string): JournalLine => ({
  type: 'result',
  call,
  key,
  spend,
  output: { text: key },
});
const failure = (call: number, key: string): JournalLine => ({
  type: 'failure',
  call,
  key,
  spend,
  message: 'No.',
});

/** A file of lines as they are written: each ends with its checksum. */
const textOf = (lines: readonly unknown[]): string =>
  lines.map((line) => `${seal(JSON.stringify(line))}\n`).join('');

/** A file as versions 1 and 2 wrote it. */
const unsealed = (lines: readonly unknown[]): string =>
  lines.map((line) => `${JSON.stringify(line)}\n`).join('');

/** A line of this text, whatever it is, with its checksum. */
const sealed = (body: string): string =>
  `${body},"sum":"${crc32(body).toString(16).padStart(8, '0')}"}\n`;

function errorOf(act: () => unknown): EspalierError {
  try {
    act();
  } catch (error) {
    if (EspalierError.isInstance(error)) return error;
    throw error;
  }
  throw new Error('It was expected to throw.');
}

const all: readonly JournalLine[] = [
  header,
  { type: 'start', state: 'address' },
  intent(0, 'a'),
  result(0, 'a'),
  { ...intent(1, 'b'), kind: 'effect', samples: undefined, request: null },
  { type: 'attempt', call: 1, key: 'b', spend, asks: true, message: 'Late.' },
  { type: 'grant', call: 1, key: 'b', reserved: spend },
  failure(1, 'b'),
  { type: 'resume', call: 2, lost: spend, charged: spend, retryFailed: true },
  { type: 'reuse', call: 2, key: 'a' },
  { type: 'failure', call: 3, key: 'c', spend, message: 'Busy.', transient: true },
  { type: 'failure', call: 4, key: 'd', spend, message: 'Over.', abandoned: true },
  { type: 'deadline', ms: 100, simulations: 3, results: 2 },
];

const last = { ...result(0, 'a'), output: 'ü🌳' };

describe('the lines of a journal file', () => {
  test('reads every kind of line', () => {
    expect(linesIn(textOf(all))).toEqual(all);
  });

  test('reads a journal that is still empty', () => {
    expect(linesIn('')).toEqual([]);
  });

  test('drops a last line that was cut off at any byte', () => {
    const whole = textOf(all.slice(0, 3));
    const bytes = Buffer.from(textOf([last]));
    for (let cut = 0; cut < bytes.length - 1; cut++) {
      expect(linesIn(Buffer.concat([Buffer.from(whole), bytes.subarray(0, cut)]))).toEqual(
        all.slice(0, 3),
      );
    }
  });

  test('takes a last line that only lacks its end: its checksum says that it is whole', () => {
    const text = textOf([...all.slice(0, 3), last]).slice(0, -1);

    expect(linesIn(text)).toEqual([...all.slice(0, 3), last]);
  });

  test.each([1, 2])('reads version %i, whose lines have no checksum', (version) => {
    const old = [{ ...header, version }, intent(0, 'a'), last];
    const whole = unsealed(old);

    expect(linesIn(whole)).toEqual(old);
    // No part of an object is one: a last line that lacks only its end is whole, and one that lacks more is not.
    expect(linesIn(whole.slice(0, -1))).toEqual(old);
    expect(linesIn(whole.slice(0, -2))).toEqual(old.slice(0, 2));
  });

  test('refuses a line that was changed anywhere, and one without a checksum', () => {
    const lines = [header, intent(0, 'a'), result(0, 'a')].map((line) => textOf([line]));
    const [first = '', second = '', third = ''] = lines;
    for (let place = 0; place < second.length - 1; place++) {
      const changed =
        second.slice(0, place) + (second[place] === '7' ? '8' : '7') + second.slice(place + 1);
      expect(() => linesIn(first + changed + third), changed).toThrow(
        'cannot be read: line 2 is damaged.',
      );
    }
    expect(() => linesIn(first + unsealed([intent(0, 'a')]) + third)).toThrow('line 2 is damaged');
    expect(() => linesIn(unsealed([header]))).toThrow('line 1 is damaged');
  });
});

describe('a journal that cannot be read', () => {
  test('names a line in the middle that is not JSON', () => {
    const error = errorOf(() =>
      linesIn(textOf([header]) + sealed('{"type":"in') + textOf([all[2]])),
    );

    expect(error.code).toBe('invalid-journal');
    expect(error.message).toContain('cannot be read: line 2 is not JSON.');
  });

  test.each<[string, unknown]>([
    ['call', { ...intent(0, 'a'), call: -1 }],
    ['kind', { ...intent(0, 'a'), kind: 7 as never }],
    ['reserved.usd', { ...intent(0, 'a'), reserved: { calls: 1, tokens: 1 } }],
    ['output', { type: 'result', call: 0, key: 'a', spend }],
    ['message', { ...failure(0, 'a'), message: 7 }],
    ['type', { type: 'surprise' }],
  ])('names the line and its field `%s`', (field, line) => {
    const error = errorOf(() => linesIn(textOf([header, all[1], line])));

    expect(error.code).toBe('invalid-journal');
    expect(error.message).toContain(`line 3, field \`${field}\`: `);
  });

  test('takes an output of `null`, which is a value', () => {
    const lines = linesIn(textOf([header, { ...result(0, 'a'), output: null }]));

    expect(lines[1]).toMatchObject({ output: null });
  });

  test('refuses a file that does not begin with a header', () => {
    expect(errorOf(() => linesIn(textOf([intent(0, 'a')]))).message).toContain(
      'cannot be read: its first line is not a journal header.',
    );
  });

  test('refuses a later version', () => {
    const error = errorOf(() => linesIn(textOf([{ ...header, version: 6 }])));

    expect(error.code).toBe('invalid-journal');
    expect(error.message).toContain(
      'cannot be read: it has version 6, and this espalier reads up to 5; update espalier.',
    );
  });

  test('speaks of the later version, and not of the new kinds of lines in it', () => {
    const text = textOf([
      { ...header, version: 6, host: 'here' },
      { type: 'note', text: 'new' },
    ]);

    expect(() => linesIn(text)).toThrow('it has version 6');
  });
});

describe('beginJournal', () => {
  test('gives an empty journal its header', () => {
    const journal = memoryJournal();
    beginJournal(journal, { algorithm: 'mcts', seed: 3 });

    expect(journal.lines).toEqual([
      { type: 'journal', version: journalVersion, run: { algorithm: 'mcts', seed: 3 } },
    ]);
  });

  test('takes a journal of the same run, whatever the order of its fields', () => {
    const journal = memoryJournal([
      { type: 'journal', version: journalVersion, run: { seed: 3, options: { a: 1, b: 2 } } },
    ]);
    beginJournal(journal, { options: { b: 2, a: 1 }, seed: 3 });

    expect(journal.lines).toHaveLength(1);
  });

  test('refuses the journal of another run and names the field', () => {
    const journal = memoryJournal([header]);
    const error = errorOf(() => beginJournal(journal, { seed: 1 }));

    expect(error.code).toBe('invalid-journal');
    expect(error.message).toBe(
      "The journal belongs to another run: its `seed` is 0, this run's is 1. Use another folder, or the same options.",
    );
  });

  test('refuses a journal that names more, or less, than this run', () => {
    const journal = memoryJournal([header]);

    expect(() => beginJournal(journal, { seed: 0, algorithm: 'mcts' })).toThrow(
      'its `algorithm` is none, this run\'s is "mcts"',
    );
    expect(() => beginJournal(journal, {})).toThrow("its `seed` is 0, this run's is none");
  });

  test('lets a replay ask anything of a journal', () => {
    const journal = replayed(memoryJournal([header]));
    beginJournal(journal, { seed: 1 });

    expect(journal.lines).toEqual([header]);
  });
});

describe('startJournal', () => {
  test('writes down where a run starts, by its content address', () => {
    const journal = memoryJournal([header]);
    startJournal(journal, addressOfStart({ b: [true, null, 'x'], a: 1 }));

    // The SHA-256 of {"a":1,"b":[true,null,"x"]}.
    expect(journal.lines[1]).toEqual({
      type: 'start',
      state: '7KjPsxq3RTPh6y9MdNLVXf48eaxwR4flS-hkfqd3frE',
    });
  });

  test('takes the same start again, and refuses another', () => {
    const journal = memoryJournal([header]);
    startJournal(journal, addressOfStart({ a: 1, b: 2 }));
    startJournal(journal, addressOfStart({ b: 2, a: 1 }));
    expect(journal.lines).toHaveLength(2);

    expect(() => startJournal(journal, addressOfStart({ a: 1 }))).toThrow(
      'The journal belongs to another run: it starts from another state.',
    );
    startJournal(replayed(journal), addressOfStart({ a: 1 }));
  });
});

describe('a journal in memory', () => {
  test('does not write to the lines it was made from', () => {
    const lines = [header];
    const journal = memoryJournal(lines);
    journal.append(intent(0, 'a'));

    expect(lines).toHaveLength(1);
    expect(journal.lines).toHaveLength(2);
    expect(journal.mode).toBe('record');
  });

  test('can be replayed: what is appended then is not kept', () => {
    const journal = replayed(memoryJournal([header]));
    journal.append(intent(0, 'a'));

    expect(journal).toMatchObject({ mode: 'replay', lines: [header] });
  });
});

describe('JournalIndex', () => {
  test('keeps calls in the order in which they were asked for, and where each ended', () => {
    const { calls, lost, total } = new JournalIndex([
      header,
      intent(0, 'a'),
      intent(1, 'b'),
      failure(1, 'b'),
      result(0, 'a'),
    ]);

    expect(calls.map(({ key }) => key)).toEqual(['a', 'b']);
    expect(calls[0]).toMatchObject({ place: 1, end: { place: 4, spend, failure: undefined } });
    expect(calls[1]).toMatchObject({ place: 2, end: { place: 3, failure: { message: 'No.' } } });
    expect(calls.some(({ isHung }) => isHung)).toBe(false);
    expect(lost).toEqual({ calls: 0, tokens: 0, usd: 0 });
    expect(total).toEqual({ calls: 2, tokens: 20, usd: 1 });
  });

  test('counts what attempts without a result had reserved as lost', () => {
    const { calls, lost, total } = new JournalIndex([
      header,
      intent(0, 'a'),
      intent(1, 'b'),
      // The process died, and the next one made both calls again, as version 2 wrote it; b was lost once more.
      intent(0, 'a'),
      intent(1, 'b'),
      result(0, 'a'),
    ]);

    // Each is asked for twice; the second time, a ended.
    expect(calls.map((call) => [call.isHung, call.next?.isHung])).toEqual([
      [true, false],
      [true, true],
    ]);
    // a once, b twice.
    expect(lost).toEqual({ calls: 3, tokens: 30, usd: 1.5 });
    expect(total).toEqual({ calls: 4, tokens: 40, usd: 2 });
  });

  test('counts what a line says was lost once', () => {
    const before = [header, intent(0, 'a'), intent(1, 'b')];
    expect(new JournalIndex(before).lost).toEqual({ calls: 2, tokens: 20, usd: 1 });

    const lost = { calls: 2, tokens: 20, usd: 1 };
    const charged = { calls: 0, tokens: 0, usd: 0 };
    const resume: JournalLine = { type: 'resume', call: 2, lost, charged };
    const index = new JournalIndex([...before, resume, intent(0, 'a'), result(0, 'a')]);

    expect(index.lost).toEqual({ calls: 0, tokens: 0, usd: 0 });
    // Two that were lost, and a once more.
    expect(index.total).toEqual({ calls: 3, tokens: 30, usd: 1.5 });
    expect(index.resumes).toMatchObject([{ call: 2, place: 3, lost, charged }]);
    // b had been lost before, and the journal ends before it is asked again.
    expect(index.calls.map(({ isLost, next }) => [isLost, next?.isHung])).toEqual([
      [true, false],
      [true, undefined],
    ]);
  });

  test('leaves aside what a resumed run did not come to, as an answer to who asks the same', () => {
    const nothing = { calls: 0, tokens: 0, usd: 0 };
    const { calls, left } = new JournalIndex([
      header,
      intent(0, 'a'),
      result(0, 'a'),
      intent(1, 'b'),
      result(1, 'b'),
      { type: 'resume', call: 1, lost: nothing, charged: spend },
      intent(1, 'c'),
      result(1, 'c'),
      { type: 'reuse', call: 2, key: 'b' },
    ]);

    expect(calls.map(({ key }) => key)).toEqual(['a', 'c', 'b']);
    expect(left.calls.map(({ key }) => key)).toEqual(['b']);
    expect(left.answer('b')).toMatchObject({ place: 3, end: { place: 4 } });
    expect(left.answer('c')).toBeUndefined();
    expect(calls[2]?.reused).toBe(left.answer('b'));
  });
});

describe('what JournalIndex makes of an end', () => {
  test('counts an abandoned call as paid for, and as one without an answer', () => {
    const { calls, lost, total } = new JournalIndex([
      header,
      intent(0, 'a'),
      { type: 'failure', call: 0, key: 'a', spend, message: 'Over.', abandoned: true },
    ]);

    expect(calls).toMatchObject([{ isHung: true, isCounted: true }]);
    expect(lost).toEqual({ calls: 0, tokens: 0, usd: 0 });
    expect(total).toEqual(spend);
  });

  test('collects the deadlines', () => {
    const deadline: JournalLine = { type: 'deadline', ms: 50, simulations: 2, results: 1 };

    expect([...new JournalIndex([header, deadline]).deadlines]).toEqual([[0, deadline]]);
  });

  test('forgets a deadline that a resumed run went beyond', () => {
    const nothing = { calls: 0, tokens: 0, usd: 0 };
    const { deadlines } = new JournalIndex([
      header,
      { type: 'deadline', ms: 50, simulations: 2, results: 0, search: 0 },
      intent(0, 'a'),
      { type: 'deadline', ms: 50, simulations: 3, results: 1, search: 1 },
      { type: 'resume', call: 1, lost: spend, charged: nothing, search: 1 },
    ]);

    // The first one ended the search before the one that was resumed.
    expect([...deadlines.values()]).toMatchObject([{ simulations: 2 }]);
  });
});
