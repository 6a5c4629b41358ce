import { cpSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { seededRandom } from '../../src/index.ts';
import { openRun, readRun } from '../../src/runs/index.ts';
import { build, espalier, fileIn, temporaryFolder } from '../cli/espalier.ts';
import { contentOf, flipsOf, runFiles, writeRun } from './run-folder-flips.ts';

const folder = temporaryFolder();
const whole = join(folder, 'whole');
beforeAll(() => writeRun(whole));

/** A copy of a run, to be damaged. */
function copyOf(run: string, name: string): string {
  const path = join(folder, name);
  cpSync(run, path, { recursive: true });
  return path;
}

function linesOf(...path: readonly string[]): readonly string[] {
  return readFileSync(join(...path), 'utf8')
    .split('\n')
    .slice(0, -1);
}

test.each(runFiles)('a flipped bit in %s is found out', (name) => {
  const random = seededRandom(`flipped in ${name}`);
  const flips = flipsOf(whole, { name, count: 500, random });
  expect(flips).toMatchObject({ silent: 0 });
  expect(flips.refused).toBeGreaterThan(500);
});

test('a run without seals, as earlier versions wrote it, still opens and is gone on with', () => {
  const old = copyOf(whole, 'old');
  for (const name of runFiles) {
    writeFileSync(join(old, name), unsealed(readFileSync(join(old, name), 'utf8')));
  }
  expect(contentOf(old)).toEqual(contentOf(whole));
  using run = openRun(old);
  const [outcome] = readRun(old).outcomes;
  if (outcome === undefined) throw new Error('Expected an outcome.');
  run.saveOutcome({ ...outcome, problem: 'another' });
  expect(readRun(old).outcomes).toHaveLength(4);
});

test('a line that was torn by a kill is dropped, and a whole one that only lacks its end is kept', () => {
  const run = copyOf(whole, 'torn');
  const path = join(run, 'problems.jsonl');
  const text = readFileSync(path, 'utf8');
  writeFileSync(path, text.slice(0, -30));
  expect(readRun(run).outcomes).toHaveLength(2);
  openRun(run).close();
  expect(linesOf(path)).toEqual(linesOf(whole, 'problems.jsonl').slice(0, -1));
  writeFileSync(path, text.slice(0, -1));
  expect(readRun(run).outcomes).toHaveLength(3);
  openRun(run).close();
  expect(readFileSync(path, 'utf8')).toBe(text);
});

test('a last line whose end was changed is not taken for a torn one', () => {
  const run = copyOf(whole, 'changed');
  const path = join(run, 'trees.jsonl');
  const text = `${readFileSync(path, 'utf8').slice(0, -1)}J`;
  writeFileSync(path, text);
  expect(() => openRun(run)).toThrow(/last line of `.*trees.jsonl` is damaged\./);
  expect(readFileSync(path, 'utf8')).toBe(text);
});

describe('a folder with a file that is not ours', () => {
  const cases = [
    ['run.json', '{"my": "settings"}\n'],
    ['run.json', 'mine'],
    ['report.json', '{"my": "report"}\n'],
    ['asked.jsonl', '{"prompt": "mine"}\n'],
    ['asked.jsonl', '{"id": "1", "question": "mine"}\n'],
    ['problems.jsonl', '{"question": "one"}\n{"question": "two"}'],
    ['problems.jsonl', '{"question": "one"}'],
    ['problems.jsonl', 'half a li'],
    ['trees.jsonl', 'an oak\na beech'],
    ['journal.jsonl', 'today'],
    ['journal.jsonl', '{"type": "diary"}\n{"day": 1}'],
    ['lock', 'mine'],
    ['lock', '{"packages": []}'],
  ] as const;
  test.each(cases)('%s that holds %j is refused, and left as it is', (name, content) => {
    const run = join(folder, `foreign-${cases.findIndex(([n, c]) => n === name && c === content)}`);
    mkdirSync(run);
    const path = fileIn(run, name, content);
    expect(() => openRun(run)).toThrowError(
      expect.objectContaining({
        code: 'usage',
        message:
          name === 'lock'
            ? `\`${path}\` is not a lock of espalier. Move it away, or choose another folder.`
            : `\`${path}\` is not a file of a run, and the run would overwrite it. Choose another folder, or restore the file from a copy.`,
      }) as Error,
    );
    expect(readdirSync(run)).toEqual([name]);
    expect(readFileSync(path, 'utf8')).toBe(content);
  });
});

test('a run that was killed at its very first line opens again', () => {
  for (const name of ['problems.jsonl', 'trees.jsonl']) {
    const run = copyOf(whole, `first-${name}`);
    const bytes = readFileSync(join(run, name));
    for (const length of [0, 1, 5, 40]) {
      writeFileSync(join(run, name), bytes.subarray(0, length));
      openRun(run).close();
      expect(readFileSync(join(run, name), 'utf8')).toBe('');
    }
  }
});

test('a whole line without a seal that only lacks its end is kept', () => {
  const run = copyOf(whole, 'unsealed-end');
  const path = join(run, 'problems.jsonl');
  const text = unsealed(readFileSync(path, 'utf8'));
  writeFileSync(path, text.slice(0, -1));
  openRun(run).close();
  expect(readFileSync(path, 'utf8')).toBe(text);
});

const problems = fileIn(folder, 'problems.txt', '4 9 10 13\n1 3 4 6\n');
const grown = join(folder, 'grown');
const generate = (run: string) => [
  ...['generate', '--problems', problems, '--task', 'game24', '--model', 'none'],
  ...['--simulations', '20', '--run', run, '--out', `${run}-data`],
];
const commands = {
  export: (run: string) => ['export', run, '--out', `${run}-data`],
  generate,
  tree: (run: string) => ['tree', run],
};
beforeAll(async () => {
  await build();
  expect(await espalier(...generate(grown))).toMatchObject({ code: 0, stderr: '' });
}, 120_000);

describe('a damaged run folder', () => {
  const names = ['asked.jsonl', 'problems.jsonl', 'run.json', 'trees.jsonl'] as const;
  const contents = ['null', '[]', '"x"', '{}', 'half a li'];
  const damages = [
    ...names.flatMap((name) => contents.map((content) => ({ name, what: content }))),
    ...names.map((name) => ({ name, what: 'a folder' })),
    ...names.map((name) => ({ name, what: 'nothing' })),
  ];

  test.concurrent.each(damages.map(({ name, what }) => [name, what] as const))(
    'of which %s holds %s is read as before, or refused in one sentence that names the file',
    async (name, what) => {
      const run = copyOf(
        grown,
        `damaged-${damages.findIndex((each) => each.name === name && each.what === what)}`,
      );
      const path = join(run, name);
      rmSync(path);
      if (what === 'a folder') mkdirSync(path);
      else if (what !== 'nothing') writeFileSync(path, `${what}\n`);
      for (const [command, argsOf] of Object.entries(commands)) {
        const { code, stderr } = await espalier(...argsOf(run));
        if (code === 0) {
          // A command may have no need for the file, or may write it again.
          expect(`${command} with ${name}: ${what}`).toMatch(harmless);
          continue;
        }
        expect(stderr).toMatch(/^[^\n]+\.\n$/);
        expect(stderr).toContain(isOfFolder(command, name) ? run : path);
        expect(stderr).not.toMatch(/TypeError|Cannot read|E[A-Z]{4,}|\[\s*\{/);
      }
    },
    60_000,
  );
});

describe('a run folder', () => {
  const refusals: readonly (readonly [
    string,
    string,
    (text: string) => string,
    keyof typeof commands,
    RegExp,
  ])[] = [
    ['a torn last line', 'asked.jsonl', (text) => text.slice(0, -9), 'export', /Line 2 of .*asked/],
    [
      'a lost last line',
      'asked.jsonl',
      (text) => text.replace(/.*\n$/, ''),
      'export',
      /asked\.jsonl/,
    ],
    [
      'an input that is none',
      'asked.jsonl',
      (text) => unsealed(text).replace(/"input":"[^"]*"/, '"input":"four"'),
      'export',
      /^Line 1 of .*asked\.jsonl/,
    ],
    ['an action of another puzzle', 'trees.jsonl', withoutActions, 'tree', /trees\.jsonl/],
    [
      'actions of another puzzle, for rows,',
      'trees.jsonl',
      withoutActions,
      'export',
      /trees\.jsonl/,
    ],
    [
      'damage',
      'trees.jsonl',
      (text) => text.replace('visits', 'visitz'),
      'generate',
      /trees\.jsonl/,
    ],
    ['damage', 'trees.jsonl', (text) => text.replace('visits', 'visitz'), 'tree', /trees\.jsonl/],
  ];
  test.each(refusals)('with %s in %s is refused with exit code 2', async (...refusal) => {
    const [, name, change, command, sentence] = refusal;
    const run = copyOf(
      grown,
      `refused-${refusals.findIndex((each) => each[2] === change)}-${command}`,
    );
    const path = join(run, name);
    const text = readFileSync(path, 'utf8');
    expect(change(text)).not.toBe(text);
    writeFileSync(path, change(text));
    const { code, stderr } = await espalier(...commands[command](run));
    expect(stderr).toMatch(/^[^\n]+\.\n$/);
    expect(stderr).toMatch(sentence);
    expect(stderr).not.toMatch(/TypeError|Cannot/);
    expect(code).toBe(2);
  });
});

describe('a damaged run folder of a search', () => {
  const searched = join(folder, 'searched');
  const search = ['search', '--task', 'game24', '--input', '4 9 10 13', '--model', 'none'];
  beforeAll(async () => {
    await espalier(...search, '--simulations', '5', '--save', searched);
  });

  test('without a tree it says so to export as to tree', async () => {
    const run = copyOf(searched, 'treeless');
    rmSync(join(run, 'trees.jsonl'));
    const refused = { code: 2, stderr: `The run in \`${run}\` has no tree yet.\n` };
    expect(await espalier(...commands.tree(run))).toMatchObject(refused);
    expect(await espalier(...commands.export(run))).toMatchObject(refused);
  });

  test.each([
    ['an unknown task', '"task":"game24"', '"task":"chess"'],
    ['an input that is none', '"input":"4 9 10 13"', '"input":"four"'],
    ['a number for a task', '"task":"game24"', '"task":24'],
  ])('whose run.json has %s is refused in a sentence', async (name, old, now) => {
    const run = copyOf(searched, name);
    const path = join(run, 'run.json');
    const text = JSON.stringify(JSON.parse(unsealed(readFileSync(path, 'utf8'))));
    expect(text).toContain(old);
    writeFileSync(path, text.replace(old, now));
    const { code, stderr } = await espalier(...commands.export(run));
    expect(stderr).toMatch(/^[^\n]*run\.json`[^\n]+\.\n$/);
    expect(stderr).not.toMatch(/Cannot/);
    expect(code).toBe(2);
  });
});

/** As earlier versions wrote it. */
function unsealed(text: string): string {
  return text.replaceAll(/,"sum":"[0-9a-f]{8}"(?=\}$)/gm, '');
}

function withoutActions(text: string): string {
  return unsealed(text).replaceAll(/^.+$/gm, (line) =>
    JSON.stringify(JSON.parse(line), (key, value: unknown) => (key === 'action' ? null : value)),
  );
}

/** What concerns the folder as a whole. */
function isOfFolder(command: string, name: string): boolean {
  return (
    `${command} ${name}` === 'generate run.json' || `${command} ${name}` === 'tree trees.jsonl'
  );
}

/** What does no harm: what is missing is made again, and a picture needs no more than its tree. */
const harmless =
  /^generate with (asked.jsonl|problems.jsonl|run.json): nothing$|^export with problems.jsonl: nothing$|^tree with (asked.jsonl|problems.jsonl|run.json): (nothing|\{\})$/;
