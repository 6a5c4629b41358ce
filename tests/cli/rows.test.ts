import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { parquetWriteBuffer } from 'hyparquet-writer';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { type RowsRequest, runRowsCommand } from '../../src/cli/rows.ts';
import { fileIn, temporaryFolder } from './espalier.ts';

const folder = temporaryFolder();
const rows = [0, 1, 2, 3].map((n) => ({
  prompt: `Which is ${n}?\n`,
  chosen: `Yes ${n}.\u001b[31m`,
  rejected: `No ${n}.`,
  rule: n < 2 ? 'agent-q' : 'step-dpo',
  depth: n % 2,
  margin: n / 4,
  problem_id: `p-${n}`,
}));
const text = rows.map((row) => `${JSON.stringify(row)}\n`).join('');
const plain = fileIn(folder, 'train.jsonl', `${text}{"broken`);
const packed = join(folder, 'packed.jsonl.gz');
writeFileSync(packed, gzipSync(text));

afterEach(() => vi.restoreAllMocks());

async function show(path: string, request: Partial<RowsRequest> = {}) {
  const written: string[] = [];
  vi.spyOn(process.stdout, 'write').mockImplementation((part) => {
    written.push(String(part));
    return true;
  });
  const code = await runRowsCommand(path, { limit: 10, ...request });
  return { code, text: written.join('') };
}

function problemsIn(json: string): readonly string[] {
  return json
    .trim()
    .split('\n')
    .map((line) => (JSON.parse(line) as { readonly problem_id: string }).problem_id);
}

describe('espalier rows', () => {
  test('prints a line of JSON as it stands: 1.0 is no integer', async () => {
    const line = '{"prompt": "Q", "chosen": "A", "rejected": "B", "chosen_value": 1.0}';
    const file = fileIn(folder, 'floats.jsonl', `${line}\r\n`);
    expect((await show(file, { json: true })).text).toBe(`${line}\n`);
  });

  test('shows where rows stand and what they say, and nothing that steers the terminal', async () => {
    const { code, text: said } = await show(plain, { limit: 1 });

    expect(code).toBe(0);
    expect(said).toBe(
      [
        'train.jsonl:1 · preference · rule agent-q · depth 0 · margin 0 · problem_id p-0',
        '  prompt',
        '    Which is 0?',
        '',
        '  chosen',
        '    Yes 0.\\u001b[31m',
        '  rejected',
        '    No 0.',
        '',
        'Showing 1 row; use --limit for more.',
        '',
      ].join('\n'),
    );
  });

  test.each([
    [{ rule: 'step-dpo' }, ['p-2', 'p-3']],
    [{ depth: 1 }, ['p-1', 'p-3']],
    [{ minMargin: 0.5 }, ['p-2', 'p-3']],
    [{ minMargin: 0.25, maxMargin: 0.5 }, ['p-1', 'p-2']],
    [{ problem: 'p-3' }, ['p-3']],
    [{ limit: 2 }, ['p-0', 'p-1']],
    [{ rule: 'agent-q', depth: 1 }, ['p-1']],
  ] as const)('%j', async (request, expected) => {
    for (const path of [plain, packed]) {
      const { text: json } = await show(path, { json: true, ...request });
      expect(problemsIn(json)).toEqual(expected);
    }
  });

  test('none that matches is 1', async () => {
    expect(await show(plain, { problem: 'nobody' })).toEqual({
      code: 1,
      text: 'No row matches.\n',
    });
  });

  test('a broken file is named', async () => {
    const cut = join(folder, 'cut.jsonl.gz');
    writeFileSync(cut, gzipSync(text).subarray(0, 60));

    await expect(show(cut)).rejects.toThrow('`cut.jsonl.gz` cannot be read to its end: ');
  });

  test('rows of Parquet', async () => {
    const path = fileIn(folder, 'train.parquet', '');
    const columnData = [
      { name: 'prompt', data: ['Which?', 'Whose?'], type: 'STRING' as const },
      { name: 'depth', data: [0n, 1n], type: 'INT64' as const },
    ];
    writeFileSync(path, new Uint8Array(parquetWriteBuffer({ columnData })));
    const { text: json } = await show(path, { json: true, depth: 1 });

    expect(json).toBe('{"prompt":"Whose?","depth":1}\n');
  });

  test('long texts are cut, unless they are wanted whole', async () => {
    const long = fileIn(
      folder,
      'long.jsonl',
      JSON.stringify({ prompt: 'x'.repeat(700), completion: 'y' }),
    );

    expect((await show(long)).text).toContain(`    ${'x'.repeat(600)}…\n`);
    expect((await show(long, { whole: true })).text).toContain(`    ${'x'.repeat(700)}\n`);
  });
});

describe('where no row matches', () => {
  test.each<readonly [Partial<RowsRequest>, string]>([
    [{ rule: 'agentq' }, 'No row is of the rule `agentq`. Did you mean `agent-q`?\n'],
    [
      { rule: 'whatever-it-is' },
      'No row is of the rule `whatever-it-is`. Its rules are: agent-q, step-dpo.\n',
    ],
  ])('%j says which rules there are', async (request, said) => {
    expect(await show(plain, request)).toEqual({ code: 1, text: said });
  });

  test('a column that no row has is named, and so is what cannot be', async () => {
    const bare = fileIn(folder, 'bare.jsonl', '{"prompt":"Q","completion":"A"}\n');
    expect((await show(bare, { rule: 'agent-q' })).text).toBe('The rows have no column `rule`.\n');
    expect((await show(bare, { minMargin: 1 })).text).toBe('The rows have no column `margin`.\n');
    await expect(show(plain, { minMargin: 0.5, maxMargin: 0.2 })).rejects.toThrow(
      'Expected `--max-margin` to be at least `--min-margin` (0.5), got `0.2`.',
    );
    await expect(show(fileIn(folder, 'none.jsonl', '{"bro'))).rejects.toThrow(
      'none.jsonl` has no rows that can be read.',
    );
  });
});

test.each([
  ['in lines', '[\n  {"prompt": "A, ]\\" [", "n": [1.0, 2]},\n  {\n    "n": 1e2\n  }\n]\n'],
  [
    'in lines of an old Mac',
    '[\r  {"prompt": "A, ]\\" [", "n": [1.0, 2]},\r  {\r    "n": 1e2\r  }\r]\r',
  ],
  ['in one', '[{"prompt": "A, ]\\" [", "n": [1.0, 2]},{ "n": 1e2 }]'],
])('prints the rows of an array, %s, with their numbers as they stand', async (_name, array) => {
  const file = fileIn(folder, 'array.json', array);
  const { text: said } = await show(file, { json: true });
  expect(said).toBe('{"prompt": "A, ]\\" [", "n": [1.0, 2]}\n{ "n": 1e2 }\n');
});
