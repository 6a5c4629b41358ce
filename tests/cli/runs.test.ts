import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, expect, test } from 'vitest';
import { gameOf24 } from '../../src/environments/index.ts';
import { search, treeToJson } from '../../src/index.ts';
import { uniform } from '../../src/policies/index.ts';
import { openRun } from '../../src/runs/index.ts';
import { heuristic } from '../../src/values/index.ts';
import {
  build,
  endless,
  espalier,
  fileIn,
  pddl,
  start,
  temporaryFolder,
  untilRunning,
} from './espalier.ts';

beforeAll(build, 60_000);
const folder = temporaryFolder();
const game = ['search', '--task', 'game24', '--input', '4 9 10 13', '--model', 'none'] as const;

test('saves a run, draws its tree, and repeats it without a call', async () => {
  const run = join(folder, 'game');
  const journal = () => readFileSync(join(run, 'journal.jsonl'), 'utf8');
  const first = await espalier(...game, '--save', run, '--json');
  const written = journal();
  const { spend, ...report } = JSON.parse(first.stdout) as { spend: { calls: number } };
  expect(JSON.parse(readFileSync(join(run, 'report.json'), 'utf8'))).toMatchObject(report);
  expect(JSON.parse(readFileSync(join(run, 'run.json'), 'utf8'))).toEqual({
    command: 'search',
    task: 'game24',
    input: '4 9 10 13',
    algorithm: 'mcts',
    model: null,
    budget: { simulations: 10_000 },
    concurrency: 1,
    fill: false,
    order: 'arrival',
    seed: 0,
    versions: { espalier: expect.any(String) as unknown, node: process.versions.node },
    sum: expect.stringMatching(/^[0-9a-f]{8}$/) as unknown,
  });

  const drawn = await espalier('tree', run, '--depth', '1', '--breadth', '2');
  expect(drawn.stdout).toMatch(
    /^Game of 24 · 4 9 10 13 · mcts · \d+ simulations · \d+ nodes\n\n★ ● /,
  );
  expect(drawn.stdout).toMatch(/ ★ .* = 24 \(left: 24\) .*N \d+ +Q 1\.000 +P \d/);
  expect(drawn.stdout).toContain('\n★ best path · N visits');

  const again = await espalier(...game, '--save', run);
  expect(again.stdout).toContain(`${spend.calls} calls (${spend.calls} from the journal)`);
  expect(journal()).toBe(written);
});

test('draws the trees of one problem of many', async () => {
  const problems = fileIn(
    folder,
    'two.jsonl',
    ['4 9 10 13', '2 4 6 7']
      .map((input) => JSON.stringify({ id: input, task: 'game24', input }))
      .join('\n'),
  );
  const run = join(folder, 'two');
  await espalier(
    ...['generate', '--problems', problems, '--model', 'none', '--algorithm', 'mcts'],
    ...['--simulations', '8', '--run', run, '--out', join(folder, 'two-rows')],
  );
  const one = await espalier('tree', run, '--problem', '2 4 6 7');
  expect(one.stdout.match(/^Game of 24 · .*? ·/gm)).toEqual(['Game of 24 · 2 4 6 7 ·']);
  const json = await espalier('tree', run, '--problem', '2 4 6 7', '--json');
  expect(JSON.parse(json.stdout)).toMatchObject([{ problem: '2 4 6 7' }]);
  const wrong = await espalier('tree', run, '--problem', '2 4 6 8');
  expect(wrong).toMatchObject({
    code: 2,
    stderr: 'Expected `--problem` to be one of 4 9 10 13, 2 4 6 7, got `"2 4 6 8"`.\n',
  });
});

test('draws and exports the tree of a program that says what it searched', async () => {
  const path = join(folder, 'written');
  const input = '4 9 10 13';
  const environment = gameOf24.environment(gameOf24.parse(input));
  const { tree } = await search(environment, {
    policy: uniform(environment.actions),
    evaluator: heuristic((state) => gameOf24.estimate(state)),
    budget: { simulations: 20 },
  });
  const run = openRun(path);
  run.saveTree({ problem: 'first', attempt: 0, step: 0, tree: treeToJson(tree, environment) });
  run.writeRun({ command: 'search', task: 'game24', input });
  run.close();

  const drawn = await espalier('tree', path, '--depth', '1');
  expect(drawn).toMatchObject({ code: 0, stderr: '' });
  expect(drawn.stdout).toMatch(
    /^Game of 24 · first · 20 simulations · .*\n\n.*\n.* 4 [^{]* \(left: /,
  );
  const out = join(folder, 'written-rows');
  const rows = await espalier('export', path, '--rule', 'mcts-dpo', '--out', out);
  expect(rows).toMatchObject({ code: 0, stderr: '' });
});

test('goes on with a run under a larger budget', async () => {
  const run = join(folder, 'longer');
  await espalier(...game, '--save', run, '--calls', '3');
  const { stdout } = await espalier(...game, '--save', run, '--calls', '5');
  expect(stdout).toContain(' 5 calls (3 from the journal) ');
});

test('refuses the folder of another run and leaves it as it is', async () => {
  const run = join(folder, 'other');
  await espalier(...game, '--save', run);
  const before = readFileSync(join(run, 'run.json'), 'utf8');
  const seeded = await espalier(...game, '--save', run, '--seed', '7');
  expect(seeded).toEqual({
    code: 2,
    stdout: '',
    stderr: `The journal \`${join(run, 'journal.jsonl')}\` belongs to another run: its \`seed\` is 0, this run's is 7. Use another folder, or the same options.\n`,
  });
  const other = await espalier(
    ...['search', '--task', 'game24', '--input', '1 2 3 4', '--model', 'none', '--save', run],
  );
  expect(other.stderr).toBe(
    `The journal \`${join(run, 'journal.jsonl')}\` belongs to another run: it starts from another state. Use another folder, or the same options.\n`,
  );
  expect(readFileSync(join(run, 'run.json'), 'utf8')).toBe(before);
});

test('draws the tree of A* in the notation of the puzzle, with its costs', async () => {
  const run = join(folder, 'blocks');
  const path = fileIn(folder, 'small.pddl', pddl);
  await espalier(
    ...[
      'search',
      '--task',
      'blocksworld',
      '--input',
      path,
      '--algorithm',
      'astar',
      '--model',
      'none',
      '--save',
      run,
    ],
  );
  const { stdout } = await espalier('tree', run);
  expect(stdout).toMatch(/^Blocksworld · astar · 3 simulations · \d+ nodes\n/);
  expect(stdout).toMatch(/★ \(stack a b\) .* g 2 {2}h 0 {2}r 1 {2}terminal\n/);
  expect(stdout).toContain(' · g cost so far · h cost to come\n');
});

test('keeps a second writer out until the first one is dead', async () => {
  const run = join(folder, 'locked');
  const { process: child, finished } = start(...endless, '--save', run);
  await untilRunning(run);
  const second = await espalier(...endless, '--save', run);
  expect(second).toMatchObject({ code: 2, stdout: '' });
  expect(second.stderr).toMatch(/^Process \d+ on .* is writing to this folder\..*\n$/);
  expect(await espalier('tree', run)).toEqual({
    code: 2,
    stdout: '',
    stderr: `The run in \`${run}\` has no tree yet.\n`,
  });
  child.kill('SIGKILL');
  await finished;
  const third = await espalier(...endless, '--ms', '1', '--save', run, '--json');
  expect(third).toMatchObject({ code: 0, stderr: '' });
});
