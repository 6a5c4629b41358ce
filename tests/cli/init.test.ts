import { spawnSync } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, expect, test } from 'vitest';
import { espalierVersion } from '../../src/base/version.ts';
import { build, espalier, fileIn, temporaryFolder } from './espalier.ts';

const folder = temporaryFolder();
const project = join(folder, 'Help Desk');
beforeAll(build, 60_000);

/** Runs a program of the project. */
function node(...args: readonly string[]): {
  readonly status: number | null;
  readonly stdout: string;
  readonly stderr: string;
} {
  return spawnSync(process.execPath, args, { cwd: project, encoding: 'utf8' });
}

test('the project that it writes searches, tests itself and makes a dataset', async () => {
  const { code, stdout, stderr } = await espalier('init', project, '--json');
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  const files = ['package.json', 'dataset.js', 'search.js', 'world.js', 'world.test.js'];
  expect(JSON.parse(stdout)).toEqual({ folder: project, files });
  expect(readdirSync(project).toSorted()).toEqual(files.toSorted());
  expect(JSON.parse(readFileSync(join(project, 'package.json'), 'utf8'))).toMatchObject({
    name: 'help-desk',
    dependencies: { espalier: espalierVersion() },
  });

  // As `npm install` would leave it.
  mkdirSync(join(project, 'node_modules'));
  symlinkSync(join(import.meta.dirname, '../..'), join(project, 'node_modules', 'espalier'));
  expect(node('dataset.js')).toMatchObject({
    status: 1,
    stderr: 'There is no `tree.json` yet: run `npm start` first.\n',
  });
  expect(node('search.js').stdout).toMatch(
    /^.*N (\d+)[\s\S]*^Solved in \1 simulations: printer: Ben, /m,
  );
  expect(node('--test')).toMatchObject({
    status: 0,
    stdout: expect.stringMatching(/^# pass 10$/m),
  });
  expect(node('dataset.js').stdout).toMatch(/^[1-9]\d* rows in data\./);

  const types = [
    '--types',
    'node',
    '--typeRoots',
    join(import.meta.dirname, '../../node_modules/@types'),
  ];
  const strictly = ['--noEmit', '--checkJs', '--strict', '--skipLibCheck', '--target', 'es2023'];
  const compiler = join(import.meta.dirname, '../../node_modules/typescript/bin/tsc');
  const sources = files.filter((file) => file.endsWith('.js'));
  expect(node(compiler, ...strictly, '--module', 'nodenext', ...types, ...sources)).toMatchObject({
    ...{ stdout: '', status: 0 },
  });

  const parts = ['--environment', '--policy', '--value'].flatMap((part) => [part, 'world.js']);
  const main = join(project, 'node_modules', 'espalier', 'dist', 'cli', 'main.js');
  expect(node(main, 'search', ...parts).stdout).toMatch(/^Solved in 6 steps: printer: Ben/m);
});

test('nothing is written where a file would be written over', async () => {
  mkdirSync(join(folder, 'taken'));
  const own = fileIn(join(folder, 'taken'), 'world.js', 'mine');
  expect(await espalier('init', join(folder, 'taken'))).toEqual({
    code: 2,
    stdout: '',
    stderr: `\`${own}\` is there already, and nothing is written over: name another folder, such as \`espalier init ${join(folder, 'taken', 'help-desk')}\`.\n`,
  });
  expect(readdirSync(join(folder, 'taken'))).toEqual(['world.js']);
  expect(readFileSync(own, 'utf8')).toBe('mine');
});
