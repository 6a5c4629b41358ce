import { mkdtempSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { benchTasks, taskNamed } from '../../../src/bench/tasks/tasks.ts';
import { plainContext } from '../../../src/testing/index.ts';

const folder = mkdtempSync(join(tmpdir(), 'espalier-tasks-'));

function fileOf(name: string, content: string | Uint8Array): string {
  const path = join(folder, name);
  writeFileSync(path, content);
  return path;
}

const lines = (...problems: readonly object[]) =>
  problems.map((problem) => `${JSON.stringify(problem)}\n`).join('');

/** Which of some answers the instances of a task take for right. */
async function rightOf(spec: string, answers: readonly string[], split?: string) {
  const task = await taskNamed(spec);
  const instances = await task.instances({ seed: 0, ...(split !== undefined && { split }) });
  return Promise.all(
    instances.map(async ({ id, oracle, environment }) => {
      const { state } = await environment.reset(plainContext());
      const right: string[] = [];
      for (const answer of answers) {
        const verdict = await oracle?.label({ ...state, answer }, plainContext());
        if (verdict?.correct) right.push(answer);
      }
      return { id, right };
    }),
  );
}

describe('questions', () => {
  test.each([
    [{ question: 'One and one?', answer: '2' }],
    [{ problem: 'One and one?', solution: 'It is \\boxed{2}.' }],
    [{ input: 'One and one?', target: 2 }],
    [{ question: 'One and one?', answer: 'One and one is two.\n#### 2' }],
  ])('are read from %j', async (problem) => {
    const path = fileOf('questions.jsonl', lines(problem));
    expect(await rightOf(`questions:${path}`, ['2', '3'])).toMatchObject([{ right: ['2'] }]);
  });

  test('have ids and clusters of their own, and the answer nowhere in their environment', async () => {
    const problem = { id: 5, cluster: 'x', question: 'Which word?', answer: 'xylophone' };
    const path = fileOf('questions.jsonl', lines(problem, { question: 'One?', answer: 1 }));
    const instances = await (await taskNamed(path)).instances({ seed: 0 });
    expect(instances.map(({ id, cluster }) => [id, cluster])).toEqual([
      ['5', 'x'],
      [expect.stringMatching(/^[\w-]{10}$/), undefined],
    ]);
    const { state } = (await instances[0]?.environment.reset(plainContext())) ?? {};
    expect(JSON.stringify(state)).toContain('Which word?');
    expect(JSON.stringify([state, instances[0]?.environment])).not.toContain('xylophone');
  });

  test('are the first of the file, whatever the seed', async () => {
    const all = Array.from({ length: 5 }, (_, id) => ({ id, question: 'Q?', answer: 'a' }));
    const task = await taskNamed(fileOf('questions.jsonl', lines(...all)));
    const instances = await task.instances({ seed: 'any', limit: 2 });
    expect(instances.map(({ id }) => id)).toEqual(['0', '1']);
  });
});

test('questions without an id keep their name where lines are put before them', async () => {
  const asked = (...questions: string[]) =>
    lines(...questions.map((question) => ({ question, answer: '1' })));
  const idsOf = async (content: string) => {
    const task = await taskNamed(`questions:${fileOf('moved.jsonl', content)}`);
    return (await task.instances({ seed: 0 })).map(({ id }) => id);
  };
  const [first, second, again] = await idsOf(asked('A?', 'B?', 'A?'));
  expect(new Set([first, second]).size).toBe(2);
  expect(again).toBe(`${first}-2`);
  expect(await idsOf(asked('C?', 'A?', 'B?'))).toEqual([expect.anything(), first, second]);
});

test('GSM8K is known by its answers, and has to have them', async () => {
  const good = { question: 'One and one?', answer: '1 + 1 = <<1+1=2>>2\n#### 1,002' };
  const path = fileOf('test.jsonl', lines(good));
  const task = await taskNamed(path);
  expect([task.name, task.licence, task.source]).toEqual(['gsm8k', 'MIT', 'test.jsonl']);
  expect(await rightOf(path, ['1002', '$1,002', '2'])).toEqual([
    { id: expect.stringMatching(/^[\w-]{10}$/) as unknown, right: ['1002', '$1,002'] },
  ]);
  const bad = fileOf('bad.jsonl', lines(good, { question: 'One?', answer: '1' }));
  await expect(async () =>
    (await taskNamed(`gsm8k:${bad}`)).instances({ seed: 0 }),
  ).rejects.toThrow(
    /^Line 2 of `.*bad\.jsonl`: expected `question` and `answer`, with the final answer behind `####`, got `"1"` as `answer`\.$/,
  );
});

describe('MATH', () => {
  const problems = [
    {
      unique_id: '1',
      problem: 'A?',
      solution: 'So $\\boxed{\\frac{1}{\\sqrt{2}}}$, not \\boxed{',
      level: 'Level 3',
      type: 'Algebra',
    },
    {
      unique_id: '2',
      problem: 'B?',
      solution: '\\boxed{1}, then \\boxed{7}.',
      level: 3,
      subject: 'Number Theory',
    },
    {
      unique_id: '3',
      problem: 'C?',
      solution: 'It is $\\boxed 9$.',
      level: 'Level ?',
      type: 'Counting & Probability',
    },
  ];
  const path = fileOf('math.jsonl', lines(...problems));
  const answers = ['\\frac{1}{\\sqrt{2}}', '7', '9', '1'];

  test('answers are what the last box holds, with the braces in it', async () => {
    expect((await rightOf(path, answers)).map(({ right }) => right)).toEqual([
      ['\\frac{1}{\\sqrt{2}}'],
      ['7'],
      ['9'],
    ]);
  });

  test.each([
    ['all', ['1', '2', '3']],
    ['level-3', ['1', '2']],
    ['algebra', ['1']],
    ['number-theory', ['2']],
    ['counting-probability', ['3']],
  ])('the split %s', async (split, ids) => {
    expect((await taskNamed(path)).name).toBe('math');
    expect((await rightOf(path, [], split)).map(({ id }) => id)).toEqual(ids);
  });

  test('a solution without a box is refused', async () => {
    const bad = fileOf('unboxed.jsonl', lines({ problem: 'A?', solution: 'It is 5.' }));
    const task = await taskNamed(`math:${bad}`);
    await expect(async () => task.instances({ seed: 0 })).rejects.toThrow(
      /^Line 1 of `.*`: expected a `\\boxed\{…\}` answer in `solution`\.$/,
    );
  });
});

const good = '{"question":"One?","answer":"1"}';

describe('hostile files', () => {
  test.each([
    ['a byte order mark and CRLF', `\uFEFF${good}\r\n\r\n${good.replace('One', 'Two')}\r\n`, 2],
    ['no end of the last line', good, 1],
  ])('%s are read', async (_what, text, count) => {
    const task = await taskNamed(`questions:${fileOf('fine.jsonl', text)}`);
    expect(await task.instances({ seed: 0 })).toHaveLength(count);
  });

  test.each([
    ['a torn line', `${good}\n${good.slice(0, 20)}`, /^Line 2 of `.*`: expected JSON, got /],
    ['NaN', `${good}\n{"question":"One?","answer":NaN}`, /^Line 2 of `.*`: expected JSON/],
    [
      'a number that is none',
      '{"question":"One?","answer":1e999}',
      /^Line 1 of `.*`: expected `answer` to be a text or a number, got `Infinity`/,
    ],
    ['an array', '[]', /^Line 1 of `.*`: expected `question`/],
    ['another shape', '{"question":["One?"],"answer":"1"}', /^Line 1 of `.*`: expected `question`/],
    [
      'no answer',
      '{"question":"One?","id":7}',
      /^Line 1 of `.*`: expected `question` .*, got the keys `question`, `id`\.$/,
    ],
    [
      'an empty answer',
      '{"question":"One?","answer":"because\\n#### "}',
      /^Line 1 of `.*`: expected an answer behind `####`\.$/,
    ],
    [
      'a long answer',
      JSON.stringify({ question: 'One?', answer: 'x'.repeat(201) }),
      /at most 200 characters, got 201\.$/,
    ],
    [
      'equal ids',
      '{"id":1,"question":"A?","answer":"1"}\n{"id":"1","question":"B?","answer":"1"}',
      /^Expected problems of `.*` to have different ids, got "1" in lines 1 and 2\.$/,
    ],
    ['nothing', '\n \n', /^`.*` is empty\. It needs a problem on each line\.$/],
    [
      'no UTF-8',
      Uint8Array.of(0x7b, 0xff, 0xfe),
      /^`.*` is no UTF-8 text\. Convert it, or name another file\.$/,
    ],
  ])('%s: one sentence', async (_what, content, message) => {
    const task = await taskNamed(`questions:${fileOf('bad.jsonl', content)}`);
    await expect(async () => task.instances({ seed: 0 })).rejects.toThrow(message);
  });

  test('a line of 100 MB is refused before it is read', async () => {
    const path = fileOf('large.jsonl', good);
    truncateSync(path, 100_000_000);
    const task = await taskNamed(`questions:${path}`);
    const began = performance.now();
    await expect(async () => task.instances({ seed: 0 })).rejects.toThrow(
      /^`.*` is larger than 64 MiB \(100000000 bytes\)\. Split it\.$/,
    );
    expect(performance.now() - began).toBeLessThan(1_000);
    rmSync(path);
  });
});

test('a solution of many boxes that never close is read in linear time', async () => {
  const solution = `\\boxed{1} ${'\\boxed{'.repeat(200_000)}`;
  const path = fileOf('boxes.jsonl', lines({ problem: 'A?', solution }));
  const before = process.cpuUsage();
  expect((await rightOf(`math:${path}`, ['1']))[0]?.right).toEqual(['1']);
  expect(process.cpuUsage(before).user).toBeLessThan(5_000_000);
});

test('the guide has a row for every task', () => {
  const guide = readFileSync(
    join(import.meta.dirname, '../../../docs/guides/benchmarking.md'),
    'utf8',
  );
  const [, tasks = ''] = guide.split('\n## Tasks\n');
  const [table = ''] = tasks.split('Generated problems');
  const rows = [...table.matchAll(/^\| `([\w-]+)/gm)].map(([, name = '']) => name);
  expect(rows.toSorted()).toEqual(benchTasks.map(({ name }) => name));
});

describe('names', () => {
  test('are different, in order, and in kebab-case', () => {
    const names = benchTasks.map(({ name }) => name);
    expect(names).toEqual([...new Set(names)].toSorted());
    for (const name of names) expect(name).toMatch(/^[a-z0-9]+(-[a-z0-9]+)*$/);
  });

  test.each([
    ['gaem24', 'There is no task `"gaem24"`. Did you mean `game24`?'],
    ['gsmk8:test.jsonl', 'There is no task `"gsmk8"`. Did you mean `gsm8k`?'],
    [
      'chess-by-mail',
      /^There is no task `"chess-by-mail"`\. There are bfcl, blocksworld, code, countdown, .*a file or a module is named by its path\.$/,
    ],
    ['', /^There is no task/],
    ['gsm8k', 'The task `gsm8k` needs a file: name it as in `gsm8k:test.jsonl`.'],
    ['gsm8k:', 'The task `gsm8k` needs a file: name it as in `gsm8k:test.jsonl`.'],
    [
      'no-such.jsonl',
      '`no-such.jsonl` cannot be read: there is no such file or folder. Check the path.',
    ],
    ['./no-such.ts', 'There is no file `./no-such.ts`.'],
  ])('%j is refused', async (spec, message) => {
    await expect(taskNamed(spec)).rejects.toThrow(message);
  });

  test('splits that nobody knows are refused', async () => {
    const request = async (task: string, split: string) =>
      (await taskNamed(task)).instances({ seed: 0, split });
    await expect(request('game24', 'unsen')).rejects.toThrow(
      'The task `game24` has no split `"unsen"`. Did you mean `unseen`?',
    );
    await expect(request('tiles', 'test')).rejects.toThrow(
      'The task `tiles` has no split `"test"`. It has only one.',
    );
  });

  test.each([
    [{ seed: 0, limit: 0 }, 'Expected `limit` to be an integer from 1 up'],
    [{ seed: Number.NaN }, 'Expected `seed` to be a number or a text'],
    [{ seed: 0, splt: 'all' }, 'has no option `splt`. Did you mean `split`?'],
  ])('a request %j is refused', async (request, message) => {
    const task = await taskNamed('game24');
    await expect(async () => task.instances(request)).rejects.toThrow(message);
  });
});

describe('a module', () => {
  const body = "{ name: 'mine', title: 'Mine', instances: () => [] }";

  test.each([
    ['default.mjs', `export default ${body};`],
    ['named.js', `export const task = ${body};`],
    ['both.mjs', `export const task = 5; export default ${body};`],
  ])('that exports a task is one: %s', async (name, code) => {
    fileOf('package.json', '{"type":"module"}');
    expect((await taskNamed(fileOf(name, code))).name).toBe('mine');
  });

  test.each([
    [
      'none.mjs',
      'export const other = 1;',
      /^Expected `.*` to export a task, as its default or as `task`/,
    ],
    [
      'nameless.mjs',
      "export default { title: 'Mine', instances: () => [] };",
      /^Expected `.*` to export a task/,
    ],
    [
      'path.mjs',
      "export default { name: '../x', title: 'Mine', instances: () => [] };",
      /^Expected `.*` to export a task/,
    ],
    [
      'throws.mjs',
      "throw new Error('It is too late.');",
      /^`.*throws\.mjs` cannot be loaded: It is too late\.$/,
    ],
  ])('%s is refused', async (name, code, message) => {
    await expect(taskNamed(fileOf(name, code))).rejects.toThrow(message);
  });
});

test('a question, an answer or a puzzle that was changed under its name is another revision', async () => {
  const revisionsOf = async (name: string, text: string) => {
    const instances = await (await taskNamed(fileOf(name, text))).instances({ seed: 0 });
    return instances.map(({ revision }) => revision);
  };
  const line = (question: string, answer: string) => JSON.stringify({ id: 'a', question, answer });
  const [one] = await revisionsOf('a.jsonl', line('1 + 1?', '2'));
  expect(await revisionsOf('b.jsonl', line('1 + 1?', '2'))).toEqual([one]);
  expect(await revisionsOf('c.jsonl', line('1 + 1?', '3'))).not.toEqual([one]);
  expect(await revisionsOf('d.jsonl', line('1 + 2?', '2'))).not.toEqual([one]);
  expect(one).toMatch(/^[\w-]{12}$/);
  // A game is named by itself.
  expect(await revisionsOf('e.csv', 'Puzzles\n4 9 10 13\n')).toEqual([undefined]);
});

describe('a file that is named alone', () => {
  const convert =
    'which is unsupported. Convert it to one JSON object per line, such as {"question": "…", "answer": "…"}, in a `.jsonl` file.';
  test.each([
    [
      'array.json',
      '[{"question": "One?", "answer": "1"}]',
      `array.json\` is a JSON array, ${convert}`,
    ],
    ['array.jsonl', '[\n{"question": "One?"}]', `array.jsonl\` is a JSON array, ${convert}`],
    [
      'qa.csv',
      'question,answer\n"One, or two?",1\n',
      `qa.csv\` is a CSV file of questions, ${convert}`,
    ],
    ['qa.csv', 'id,"Question"\n1,One?\n', 'is a CSV file of questions'],
    ['broken.jsonl', 'not json\n', 'Line 1 of `', 'expected JSON, got `"not json"`.'],
  ])('as %s with %j is refused by what it is', async (name, content, ...messages) => {
    const path = fileOf(name, content);
    const read = async () => (await taskNamed(path)).instances({ seed: 0 });
    for (const message of messages) await expect(read).rejects.toThrow(message);
  });

  test.each([
    ['mine.jsonl', lines({ question: 'One?', answer: 1 }), 'questions (mine.jsonl)'],
    ['test.jsonl', lines({ question: 'One?', answer: '#### 1' }), 'GSM8K (test.jsonl)'],
    ['games.txt', '4 9 10 13\n', 'Game of 24 (games.txt)'],
    ['games.csv', 'Rank,Puzzles\n1,4 9 10 13\n', 'Game of 24 (games.csv)'],
  ])('as %s is named in the title of its task', async (name, content, title) => {
    expect((await taskNamed(fileOf(name, content))).title).toBe(title);
  });

  test('with puzzles of another kind is named with them', async () => {
    const path = fileOf('boards.txt', '1 2 3 / 4 5 6 / 7 0 8\n');
    expect((await taskNamed(`tiles:${path}`)).title).toBe('Sliding tiles (boards.txt)');
  });
});

test('an id or a cluster of `null` is left out, and one of another kind refused', async () => {
  const problems = ['One?', 'Two?'].map((question) => ({ question, answer: 1 }));
  const nulls = lines(...problems.map((each) => ({ ...each, id: null, cluster: null })));
  const plain = await (
    await taskNamed(`questions:${fileOf('plain.jsonl', lines(...problems))}`)
  ).instances({ seed: 0 });
  const found = await (await taskNamed(`questions:${fileOf('nulls.jsonl', nulls)}`)).instances({
    seed: 0,
  });
  expect(found.map(({ id, cluster }) => [id, cluster])).toEqual(
    plain.map(({ id }) => [id, undefined]),
  );
  for (const wrong of [{ id: {} }, { id: true }, { cluster: ['a'] }]) {
    const [name = ''] = Object.keys(wrong);
    const bad = lines({ question: 'One?', answer: 1, ...wrong });
    const task = await taskNamed(`questions:${fileOf('wrong.jsonl', bad)}`);
    await expect(async () => task.instances({ seed: 0 })).rejects.toThrow(
      new RegExp(`^Line 1 of .*: expected \`${name}\` to be a text or a number, got `),
    );
  }
});
