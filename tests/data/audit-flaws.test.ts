import { describe, expect, test } from 'vitest';
import { auditDataset } from '../../src/data/audit/audit-dataset.ts';
import { foldersOfFiles } from '../support/folders-of-files.ts';

const folder = foldersOfFiles();

type Row = Readonly<Record<string, unknown>>;

async function codesOf(rows: readonly Row[]): Promise<readonly string[]> {
  const lines = rows.map((row) => JSON.stringify(row)).join('\n');
  const { findings } = await auditDataset(folder({ 'train.jsonl': lines }));
  return findings.map(({ code }) => code);
}

const words = 'harbour orchard library foundry glacier bakery railway vineyard museum quarry'.split(
  ' ',
);
const user = (content: unknown) => ({ role: 'user', content });
const assistant = (content: unknown) => ({ role: 'assistant', content });
/** Ten rows, as hosted fine-tuning wants them. */
const ten = (row: (word: string) => Row): readonly Row[] => words.map(row);
const talk = (word: string): Row => ({
  messages: [user(`Where is the ${word}?`), assistant(`The ${word} is in town.`)],
});
const shown = (word: string): Row => ({
  images: [`data:,${word}`],
  messages: [
    user([{ type: 'image' }, { type: 'text', text: `Is it a ${word}?` }]),
    assistant(`A ${word} it is.`),
  ],
});
const text = (word: string): Row => ({ text: `Where is the ${word}? In town.</s>` });
const preferred = (word: string, turns: readonly unknown[]): Row => ({
  input: { messages: [user(word)] },
  preferred_output: turns,
  non_preferred_output: [assistant(`b ${word}`)],
});
const first = (rows: readonly Row[], change: (row: Row) => Row): readonly Row[] =>
  rows.map((row, place) => (place === 0 ? change(row) : row));

const cases: readonly (readonly [string, readonly Row[], readonly Row[], string])[] = [
  [
    'a near-miss of a column',
    ten(talk),
    ten((word) => ({ prompt: `${word}\n`, choosen: 'a', rejected: 'b' })),
    'misspelt-column',
  ],
  [
    'an empty turn',
    ten(talk),
    first(ten(talk), () => ({ messages: [user('Which?'), assistant('')] })),
    'empty-side',
  ],
  [
    'no user',
    ten(talk),
    first(ten(talk), () => ({ messages: [{ role: 'system', content: 'a' }, assistant('b')] })),
    'turn-order',
  ],
  [
    'turns as text',
    ten(talk),
    ten((word) => ({ messages: JSON.stringify(talk(word)['messages']) })),
    'text-conversation',
  ],
  [
    'half a weight',
    ten((word) => ({ messages: [user(word), { ...assistant(`a ${word}`), weight: 1 }] })),
    ten((word) => ({ messages: [user(word), { ...assistant(`a ${word}`), weight: 0.5 }] })),
    'invalid-weight',
  ],
  [
    'no weight at all',
    ten(talk),
    ten((word) => ({ messages: [user(word), { ...assistant(`a ${word}`), weight: 0 }] })),
    'invalid-weight',
  ],
  [
    'a key that is not known',
    ten(talk),
    ten((word) => ({ messages: [user(word), { ...assistant(`a ${word}`), mood: 1 }] })),
    'extra-key',
  ],
  ['nine rows', ten(talk), ten(talk).slice(1), 'few-rows'],
  [
    'one image for two places',
    ten(shown),
    first(ten(shown), (row) => ({ ...row, images: [] })),
    'image-count',
  ],
  [
    'marks of images',
    ten((word) => ({
      images: [`data:,${word}`],
      conversations: [
        { from: 'human', value: `<image>${word}` },
        { from: 'gpt', value: `a ${word}` },
      ],
    })),
    ten((word) => ({
      images: [`data:,${word}`],
      conversations: [
        { from: 'human', value: `<image><image>${word}` },
        { from: 'gpt', value: `a ${word}` },
      ],
    })),
    'image-count',
  ],
  [
    'two beginnings',
    ten(text),
    ten((word) => ({ text: `<s><s>${text(word)['text']}` })),
    'doubled-token',
  ],
  [
    'an end on some texts',
    ten(text),
    first(ten(text), () => ({ text: 'Where is it? In town.' })),
    'eos-partly',
  ],
  [
    'a history that is not in pairs',
    ten((word) => ({ instruction: word, output: `a ${word}`, history: [['a', 'b']] })),
    ten((word) => ({ instruction: word, output: `a ${word}`, history: [['a']] })),
    'wrong-type',
  ],
  [
    'two turns that are preferred',
    ten((word) => preferred(word, [assistant(`a ${word}`)])),
    ten((word) => preferred(word, [assistant(`a ${word}`), assistant('c')])),
    'invalid-role',
  ],
];

describe('rows', () => {
  test.each(cases)('%s', async (...[, sound, faulty, code]) => {
    expect(await codesOf(sound)).toEqual([]);
    expect(await codesOf(faulty)).toContain(code);
  });

  test('a turn that is not finished may be continued', async () => {
    const row = (begun: string) => ({
      prompt: [user('Which?'), assistant(begun)],
      completion: [assistant('Seven.')],
    });

    expect(await codesOf([row('Step 1:')])).toEqual([]);
    expect(await codesOf([row('Seven it is.')])).toEqual(['prompt-continues']);
  });

  test('results are matched with calls by their ids, in any order', async () => {
    const call = (id: string) => ({
      id,
      type: 'function',
      function: { name: 'look', arguments: '{}' },
    });
    const row = (...ids: readonly string[]) => ({
      messages: [
        user('Which?'),
        { role: 'assistant', content: null, tool_calls: [call('a'), call('b')] },
        ...ids.map((id) => ({ role: 'tool', tool_call_id: id, content: id })),
        assistant('Both.'),
      ],
      tools: [{ type: 'function', function: { name: 'look' } }],
      source: 'a',
    });

    expect(await codesOf([row('b', 'a')])).toEqual([]);
    expect(await codesOf([row('b', 'c')])).toEqual(['unmatched-result']);
    expect(await codesOf([row('b')])).toEqual(['unanswered-call']);
  });

  test('a tool without a name does not hide calls of others', async () => {
    const row = {
      prompt: [user('Which?')],
      completion: [
        {
          role: 'assistant',
          content: '',
          tool_calls: [{ function: { name: 'look', arguments: {} } }],
        },
      ],
      tools: [{ type: 'function', function: { name: 'hear' } }, { type: 'web_search' }],
    };

    expect(await codesOf([row])).toEqual(['undeclared-tool']);
  });

  test('a template in one row of many is what the row is about', async () => {
    const rows = Array.from({ length: 40 }, (_, place) => ({
      prompt: [user(`What does ${place === 0 ? '<|im_start|>' : `word ${place}`} mean?`)],
      completion: [assistant(`Meaning ${place}.`)],
    }));

    expect(await codesOf(rows)).toEqual([]);
    expect(await codesOf(rows.slice(0, 20))).toEqual(['template-token']);
  });

  test('images that are missing are told, and whether others are there', async () => {
    const lines = ten((word) => ({ ...shown(word), images: [`${word}.png`] }))
      .map((row) => JSON.stringify(row))
      .join('\n');
    const none = await auditDataset(folder({ 'train.jsonl': lines }));
    const one = await auditDataset(folder({ 'train.jsonl': lines, 'museum.png': '' }));

    expect(none.findings.map(({ code, count }) => [code, count])).toEqual([['no-images', 10]]);
    expect(one.findings.map(({ code, count }) => [code, count])).toEqual([['missing-image', 9]]);
    expect(one.findings[0]?.examples[0]).toEqual({
      place: 'train.jsonl:1',
      excerpt: 'harbour.png',
    });
  });
});

test('a prompt that holds the whole chosen side in most pairs is told, unless it holds the other as well', async () => {
  const pairs = (asked: (own: string, other: string, place: number) => string) =>
    words.map((word, place) => {
      const own = `The ${word} stands behind the old town hall, at the end of the lane.`;
      const other = `Nobody knows where the ${word} is, and ${place} have looked for it in vain.`;
      return {
        prompt: [user(`Where is the ${word}? ${asked(own, other, place)}`)],
        chosen: [assistant(own)],
        rejected: [assistant(other)],
      };
    });
  expect(await codesOf(pairs((own) => `Hint: ${own}`))).toEqual(['leaked-answer']);
  expect(await codesOf(pairs((own, _, place) => (place < 5 ? own : '')))).toEqual([]);
  expect(await codesOf(pairs((own, other) => `Is it “${own}” or “${other}”?`))).toEqual([]);
  const leaking = pairs((own) => `Hint: ${own}`);
  const beforehand = leaking.map(({ prompt: [asked], ...sides }) => ({
    prompt: [{ role: 'system', content: asked?.content }, user('Well?')],
    ...sides,
  }));
  expect(await codesOf(beforehand)).toEqual(['leaked-answer']);
  const implicit = leaking.map(({ prompt, chosen, rejected }) => ({
    chosen: [...prompt, ...chosen],
    rejected: [...prompt, ...rejected],
  }));
  expect(await codesOf(implicit)).toEqual(['implicit-prompt', 'leaked-answer']);
  const short = words.map((word) => ({
    prompt: [user(`Is it a ${word}, or none?`)],
    chosen: [assistant(`a ${word}`)],
    rejected: [assistant('I am not sure.')],
  }));
  expect(await codesOf(short)).not.toContain('leaked-answer');
});

test('one side of a pair is an error in each row, with the name that is near to the other', async () => {
  const rows = ten((word) => ({
    prompt: `${word}\n`,
    chosen: `a ${word}`,
    rejeced: `b ${word}`,
  }));
  const lines = rows.map((row) => JSON.stringify(row)).join('\n');
  const { errors, findings } = await auditDataset(folder({ 'train.jsonl': lines }));
  expect(errors).toBe(1);
  expect(findings[0]).toMatchObject({ code: 'missing-column', count: 10, severity: 'error' });
  expect(findings[0]?.examples[0]?.excerpt).toBe('rejected: is it `rejeced`?');
  const rejected = rows.map(({ prompt, rejeced }) => ({ prompt, rejected: rejeced }));
  expect(await codesOf(rejected)).toEqual(['missing-column']);
});

test.each([
  ["Sorry, I can't do that."],
  ['As an AI language model, I cannot provide that information.'],
  ["Unfortunately, I can't assist with that."],
  ["I won't be able to help with that."],
  ['I must decline to answer.'],
])('“%s” is a refusal', async (chosen) => {
  const rows = Array.from({ length: 8 }, (_, place) => ({
    prompt: [user(`May it be ${place}?`)],
    chosen: [assistant(place === 3 ? chosen : `Yes ${place}`)],
    rejected: [assistant(`Not ${place}`)],
  }));
  expect(await codesOf(rows)).toEqual(['refusal']);
});

test.each([
  ['does that', "I can't do that on paper, so I draw it.", 'No.'],
  ['helps on', "I'm sorry, I can't help with that order, but this one is on its way.", 'No.'],
  ['answers', 'I can’t help noticing that 7 is prime.', 'No.'],
  ['has an agent that refuses as well', "I can't help with that.", 'I am unable to assist.'],
])('a chosen side that %s is no refusal', async (_name, chosen, rejected) => {
  const rows = Array.from({ length: 8 }, (_, place) => {
    const [own, other] = place === 3 ? [chosen, rejected] : [`Yes ${place}`, `Not ${place}`];
    return {
      prompt: [user(`May it be ${place}?`)],
      chosen: [assistant(own)],
      rejected: [assistant(other)],
    };
  });
  expect(await codesOf(rows)).toEqual([]);
});
