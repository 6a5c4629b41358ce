import { describe, expect, test } from 'vitest';
import {
  addressOfStart,
  beginJournal,
  memoryJournal,
  replayed,
  startJournal,
} from '../../src/runtime/journal.ts';
import { indexJournal } from '../../src/runtime/journal-index.ts';
import {
  type IntentLine,
  type JournalLine,
  journalVersion,
  parseJournal,
} from '../../src/runtime/journal-lines.ts';
import { EspalierError } from '../../src/spec/errors.ts';

const header: JournalLine = { type: 'journal', version: journalVersion, run: { seed: 0 } };
const spend = { calls: 1, tokens: 10, usd: 0.5 };

function intent(call: number, key: string): IntentLine {
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

const textOf = (lines: readonly unknown[]): string =>
  lines.map((line) => `${JSON.stringify(line)}\n`).join('');

function errorOf(act: () => unknown): EspalierError {
  try {
    act();
  } catch (error) {
    if (EspalierError.isInstance(error)) return error;
    throw error;
  }
  throw new Error('It was expected to throw.');
}

describe('parseJournal', () => {
  const all: readonly JournalLine[] = [
    header,
    { type: 'start', state: 'address' },
    intent(0, 'a'),
    result(0, 'a'),
    { ...intent(1, 'b'), kind: 'effect', samples: undefined, request: null },
    failure(1, 'b'),
    { type: 'deadline', ms: 100, simulations: 3, results: 2 },
  ];

  test('reads every kind of line', () => {
    const text = textOf(all);

    expect(parseJournal(text)).toEqual({ lines: all, bytes: text.length });
  });

  test('reads a journal that is still empty', () => {
    expect(parseJournal('')).toEqual({ lines: [], bytes: 0 });
  });

  test('drops a last line that was cut off at any byte', () => {
    const whole = textOf(all.slice(0, 3));
    const last = textOf([{ ...result(0, 'a'), output: 'ü🌳' }]);
    const bytes = Buffer.from(last);
    for (let cut = 0; cut < bytes.length; cut++) {
      const text = whole + bytes.subarray(0, cut).toString('utf8');
      expect(parseJournal(text)).toEqual({ lines: all.slice(0, 3), bytes: whole.length });
    }
  });

  test('counts bytes and not characters', () => {
    const text = textOf([{ type: 'journal', version: journalVersion, run: { task: 'ü🌳' } }]);

    expect(parseJournal(text).bytes).toBe(text.length + 3);
  });

  test('names a line in the middle that is not JSON', () => {
    const error = errorOf(() =>
      parseJournal(`${textOf([header])}{"type":"in\n${textOf([all[2]])}`),
    );

    expect(error.code).toBe('invalid-journal');
    expect(error.message).toBe('The journal cannot be read: line 2 is not JSON.');
  });

  test.each<[string, unknown]>([
    ['call', { ...intent(0, 'a'), call: -1 }],
    ['kind', { ...intent(0, 'a'), kind: 'guess' }],
    ['reserved.usd', { ...intent(0, 'a'), reserved: { calls: 1, tokens: 1 } }],
    ['output', { type: 'result', call: 0, key: 'a', spend }],
    ['message', { ...failure(0, 'a'), message: 7 }],
    ['type', { type: 'surprise' }],
  ])('names the line and its field `%s`', (field, line) => {
    const error = errorOf(() => parseJournal(textOf([header, all[1], line])));

    expect(error.code).toBe('invalid-journal');
    expect(error.message).toContain(`line 3, field \`${field}\`: `);
  });

  test('takes an output of `null`, which is a value', () => {
    const { lines } = parseJournal(textOf([header, { ...result(0, 'a'), output: null }]));

    expect(lines[1]).toMatchObject({ output: null });
  });

  test('refuses a file that does not begin with a header', () => {
    expect(errorOf(() => parseJournal(textOf([intent(0, 'a')]))).message).toBe(
      'The journal cannot be read: its first line is not a journal header.',
    );
  });

  test('refuses a later version', () => {
    const error = errorOf(() => parseJournal(textOf([{ ...header, version: 3 }])));

    expect(error.code).toBe('invalid-journal');
    expect(error.message).toBe(
      'The journal cannot be read: it has version 3, and this espalier reads up to 2; update espalier.',
    );
  });

  test('speaks of the later version, and not of the new kinds of lines in it', () => {
    const text = textOf([
      { ...header, version: 3, host: 'here' },
      { type: 'note', text: 'new' },
    ]);

    expect(() => parseJournal(text)).toThrow('it has version 3');
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
      'its `algorithm` is null, this run\'s is "mcts"',
    );
    expect(() => beginJournal(journal, {})).toThrow("its `seed` is 0, this run's is null");
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

describe('indexJournal', () => {
  test('finds finished calls by key, in the order of their results', () => {
    const { calls, open, lost } = indexJournal([
      header,
      intent(0, 'a'),
      intent(1, 'b'),
      failure(1, 'b'),
      result(0, 'a'),
    ]);

    expect([...calls.keys()]).toEqual(['b', 'a']);
    expect(calls.get('a')).toEqual({
      place: 1,
      spend,
      attempts: { calls: 0, tokens: 0, usd: 0 },
      further: { calls: 0, tokens: 0, usd: 0 },
      outcome: { output: { text: 'a' } },
      intent: intent(0, 'a'),
    });
    expect(calls.get('b')).toMatchObject({ place: 0, outcome: { message: 'No.' } });
    expect(open.size).toBe(0);
    expect(lost).toEqual({ calls: 0, tokens: 0, usd: 0 });
  });

  test('counts what attempts without a result had reserved as lost', () => {
    const { calls, open, lost } = indexJournal([
      header,
      intent(0, 'a'),
      intent(1, 'b'),
      // The process died, and the next one made both calls again; b was lost once more.
      intent(0, 'a'),
      intent(1, 'b'),
      result(0, 'a'),
    ]);

    expect([...calls.keys()]).toEqual(['a']);
    expect([...open]).toEqual(['b']);
    // a once, b twice.
    expect(lost).toEqual({ calls: 3, tokens: 30, usd: 1.5 });
  });

  test('collects the deadlines', () => {
    const deadline: JournalLine = { type: 'deadline', ms: 50, simulations: 2, results: 1 };

    expect(indexJournal([header, deadline]).deadlines).toEqual([deadline]);
  });
});
