import { cpSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
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
    const text = readFileSync(join(old, name), 'utf8');
    writeFileSync(join(old, name), text.replaceAll(/,"sum":"[0-9a-f]{8}"(?=\}$)/gm, ''));
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
  expect(() => openRun(run)).toThrow(/last line of `.*trees.jsonl` is not as it was written\./);
  expect(readFileSync(path, 'utf8')).toBe(text);
});

describe('a damaged run folder', () => {
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

/** What concerns the folder as a whole. */
function isOfFolder(command: string, name: string): boolean {
  return (
    `${command} ${name}` === 'generate run.json' || `${command} ${name}` === 'tree trees.jsonl'
  );
}

/** What does no harm: what is missing is made again, and a picture needs no more than its tree. */
const harmless =
  /^generate with (asked.jsonl|problems.jsonl|run.json): nothing$|^export with problems.jsonl: nothing$|^tree with (asked.jsonl|problems.jsonl|run.json): (nothing|\{\})$/;
