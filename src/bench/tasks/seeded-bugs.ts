import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Random } from '../../contracts/context.ts';
import { git } from '../../environments/worlds/git.ts';
import { temporaryFolder } from '../../environments/worlds/leftovers.ts';
import { shuffled } from './drawn-questions.ts';

/** A function with a hole: its text around it, what belongs there, what a mutant has there, and a test of it. */
interface Source {
  readonly name: string;
  readonly text: readonly [string, string];
  readonly right: string;
  readonly wrong: readonly string[];
  readonly expect: string;
}

const sources: readonly Source[] = [
  // Bounds.
  {
    name: 'range',
    text: ['(from, to) => Array.from({ length: ', ' }, (_, i) => from + i)'],
    right: 'to - from',
    wrong: ['to - from - 1', 'to - from + 1', 'to'],
    expect: 'range(2, 5), [2, 3, 4]',
  },
  {
    name: 'last',
    text: ['(list, n) => list.slice(', ')'],
    right: '-n',
    wrong: ['n', '-n - 1', 'n - 1'],
    expect: 'last([1, 2, 3, 4, 5], 2), [4, 5]',
  },
  {
    name: 'clamp',
    text: ['(x) => (x ', ' ? 9 : x)'],
    right: '> 9',
    wrong: ['> 10', '< 9', '>= 8'],
    expect: 'clamp(10) + clamp(8), 17',
  },
  // Operators.
  {
    name: 'mean',
    text: ['(list) => list.reduce((a, b) => a + b, 0) ', ''],
    right: '/ list.length',
    wrong: ['* list.length', '- list.length', '/ (list.length - 1)'],
    expect: 'mean([1, 2, 6]), 3',
  },
  {
    name: 'area',
    text: ['(a, b) => ', ''],
    right: 'a * b',
    wrong: ['a + b', 'a ** b', 'a * a'],
    expect: 'area(2, 5), 10',
  },
  {
    name: 'both',
    text: ['(a, b) => ', ''],
    right: 'a && b',
    wrong: ['a || b', 'a !== b', '!a && b'],
    expect: '[both(true, false), both(true, true)], [false, true]',
  },
  // Swapped arguments.
  {
    name: 'power',
    text: ['(base, exponent) => ', ''],
    right: 'Math.pow(base, exponent)',
    wrong: ['Math.pow(exponent, base)', 'Math.pow(base, base)', 'Math.pow(exponent, 2)'],
    expect: 'power(2, 3), 8',
  },
  {
    name: 'less',
    text: ['(a, b) => ', ''],
    right: 'Math.max(a - b, 0)',
    wrong: ['Math.max(b - a, 0)', 'Math.min(a - b, 0)', 'Math.max(a, b)'],
    expect: 'less(5, 3), 2',
  },
];

/** The names of the expressions for a hole. */
export const letters = ['A', 'B', 'C', 'D'] as const;
/** One of them. */
export type Letter = (typeof letters)[number];

/** A file with a hole, and what may be put there. */
export interface HoledFile {
  readonly path: string;
  /** What its test compares. */
  readonly expect: string;
  /** The expressions for the hole, in a random order. */
  readonly expressions: Readonly<Record<Letter, string>>;
  /** The one that is there at the start. */
  readonly held: Letter;
  /** The one that passes the test. */
  readonly right: Letter;
  /** The whole file, with that in its hole. */
  textWith(expression: string): string;
}

/** Two to five files, with the wrong expression in one to three of them. */
export function drawFiles(random: Random): readonly HoledFile[] {
  const own = shuffled(random, sources).slice(0, 2 + random.integer(4));
  const bugs = 1 + random.integer(Math.min(3, own.length));
  const files = own.map((source, place) => holed(source, place < bugs, random));
  // Which ones are broken does not follow from their order.
  return shuffled(random, files);
}

function holed({ name, text, right, wrong, expect }: Source, isBroken: boolean, random: Random) {
  const order = shuffled(random, [right, ...wrong]);
  const letterOf = (expression: string) => letters[order.indexOf(expression)] ?? 'A';
  const [held = right] = isBroken ? shuffled(random, wrong) : [right];
  const [A = '', B = '', C = '', D = ''] = order;
  const textWith = (expression: string) => `export const ${name} = ${text.join(expression)};\n`;
  const letter = { held: letterOf(held), right: letterOf(right) };
  return { path: `${name}.mjs`, expect, expressions: { A, B, C, D }, ...letter, textWith };
}

/** Where the tests of a repository are. */
export const testFile = 'all.test.mjs';

/** Writes a repository with one commit. What a killed process leaves of them is removed when the next one is written. */
export async function writeRepository(
  files: readonly HoledFile[],
): Promise<{ readonly root: string; readonly folder: string }> {
  const folder = await temporaryFolder();
  const root = join(folder, 'repository');
  await mkdir(root);
  const imports = files.map(({ path }) => `import { ${nameOf(path)} } from "./${path}";\n`);
  const tests = files.map(
    ({ path, expect }) => `test('${nameOf(path)}', () => deepEqual(${expect}));\n`,
  );
  const head =
    "import { deepEqual } from 'node:assert/strict';\nimport { test } from 'node:test';\n";
  await writeFile(join(root, testFile), [head, ...imports, '\n', ...tests].join(''));
  for (const { path, expressions, held, textWith } of files) {
    await writeFile(join(root, path), textWith(expressions[held]));
  }
  // Without the settings and hooks of the user.
  const place = { tree: root, directory: join(root, '.git'), isOwn: true } as const;
  await git(undefined, ['init', '--quiet', '--template=', root]);
  await git(place, ['config', 'user.name', 'Ada']);
  await git(place, ['config', 'user.email', 'ada@example.org']);
  await git(place, ['add', '--all']);
  await git(place, ['commit', '--quiet', '--message', 'Begin']);
  return { root, folder };
}

function nameOf(path: string): string {
  return path.replace('.mjs', '');
}
