import { join } from 'node:path';
import { expect, test } from 'vitest';
import { makeProgram } from '../../src/cli/program.ts';
import { espalier, fileIn, temporaryFolder } from './espalier.ts';

const folder = temporaryFolder();
const run = join(folder, 'run');
const out = join(folder, 'data');
const problems = fileIn(folder, 'games.txt', '4 9 10 13\n2 4 6 7\n');
const free = ['--model', 'none', '--simulations', '60'];
const model = `tiny:${join(import.meta.dirname, '../../models/tiny.gguf')}`;

/** One call of each command, in an order in which each finds what it needs. */
const calls: Readonly<Record<string, readonly string[]>> = {
  init: [join(folder, 'project')],
  methods: [],
  demo: ['--puzzles', '1', '--calls', '4'],
  search: ['--task', 'game24', '--input', '4 9 10 13', ...free],
  generate: ['--problems', problems, '--task', 'game24', ...free, '--run', run, '--out', out],
  tree: [run],
  export: [run, '--rule', 'agent-q', '--out', out],
  'check-dataset': [out],
  rows: [out, '--limit', '1'],
  bench: [
    '--task',
    'game24',
    '--limit',
    '1',
    '--model',
    'none',
    '--budgets',
    'calls=5',
    '--out',
    join(folder, 'bench'),
  ],
  doctor: ['--model', model],
};

test('every command has --json but the one that prints a script', async () => {
  const program = await makeProgram([]);
  const commands = program.commands.filter((command) => command.name() !== 'completion');
  const names = commands.map((command) => command.name());
  expect(Object.keys(calls).toSorted()).toEqual(names.toSorted());
  const without = commands.filter(({ options }) => !options.some(({ long }) => long === '--json'));
  expect(without.map((command) => command.name())).toEqual([]);
});

test.each(Object.entries(calls))(
  '%s --json prints one JSON document and nothing else',
  async (name, args) => {
    const { stdout, stderr } = await espalier(name, ...args, '--json');
    expect(stderr).toBe('');
    expect(JSON.parse(stdout)).toBeInstanceOf(Object);
  },
  60_000,
);

test('a tree as JSON is the saved one, with what it belongs to', async () => {
  const { stdout } = await espalier('tree', run, '--json');
  const trees = JSON.parse(stdout) as readonly object[];
  expect(trees).toHaveLength(2);
  expect(trees[0]).toMatchObject({
    problem: expect.any(String) as unknown,
    attempt: 0,
    step: 0,
    tree: { version: 2, simulations: 60 },
  });
});
