import { appendFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, expect, test } from 'vitest';
import type { BenchReport } from '../../src/bench/report.ts';
import { espalier, fileIn, temporaryFolder } from './espalier.ts';

const folder = temporaryFolder();
const walk = `export default {
  name: 'one-step', concurrency: 'any', laws: [],
  async run(tree, context) {
    const [first] = await context.expand(tree.root, { count: 1 });
    await context.realise([first]);
  },
};`;
/** A lift that is to reach floor 3, by one or two floors at a time, and that brings nothing that guides a search. */
const task = `
export const task = {
  name: 'lift',
  title: 'Lift',
  instances: () => ['a', 'b'].map((id) => ({
    id,
    environment: {
      name: 'lift',
      reset: () => ({ state: 0 }),
      step(floor, by) {
        const state = floor + by;
        return state < 3 ? { state } : { state, terminal: true, reward: state === 3 ? 1 : 0 };
      },
      notation: { prompt: () => [], format: String, parse: (text) => ({ action: Number(text) }) },
    },
  })),
};
export const policy = () => ({ propose: () => [{ action: 1 }] });
export const value = () => ({ state }) => state / 3;
`;
const small = ['--task', 'game24', '--limit', '2', '--budgets', 'calls=4', '--no-times', '--json'];
const calls = ['--budgets', 'calls=4', '--no-times', '--json'];
let world: string;
beforeAll(() => {
  fileIn(folder, 'package.json', '{ "type": "module" }');
  world = fileIn(folder, 'world.js', task);
});

function methodsIn({ stdout }: { readonly stdout: string }): readonly string[] {
  return (JSON.parse(stdout) as BenchReport).points.map(({ method }) => method);
}

test('an algorithm of its own is a method, whose searches are made again once its module has changed', async () => {
  const path = fileIn(folder, 'walk.js', walk);
  const named = ['--task', world, '--policy', world, '--value', world, '--methods', `mcts,${path}`];
  const again = () => espalier('bench', ...named, ...calls, '--out', join(folder, 'walk'));
  const found = await again();
  expect(found.stderr).not.toContain('reused');
  expect(found.code).toBe(0);
  expect(methodsIn(found)).toEqual(['greedy', 'best-of-n', 'mcts', 'walk']);
  expect((await again()).stderr).toContain('8 searches reused, 0 to make.\n');
  appendFileSync(path, '// changed\n');
  expect((await again()).stderr).toContain('6 searches reused, 2 to make.\n');
});

test('a policy and an evaluator of its own guide every method, without a model', async () => {
  const own = ['--policy', world, '--value', world, '--methods', 'mcts,beam'];
  const args = ['bench', '--task', world, ...calls, '--out', join(folder, 'guided')];
  expect((await espalier(...args)).stderr).toContain('Expected `--model`');
  const found = await espalier(...args, ...own);
  const { points } = JSON.parse(found.stdout) as BenchReport;
  expect(points.map(({ method, accuracy }) => [method, accuracy])).toEqual(
    ['greedy', 'best-of-n', 'beam', 'mcts'].map((name) => [name, 1]),
  );
  expect((await espalier(...args, ...own)).stderr).toContain('8 searches reused, 0 to make.\n');
  appendFileSync(world, '// changed\n');
  expect((await espalier(...args, ...own)).stderr).not.toContain('reused');
});

test('a policy of its own asks the model of the benchmark, in published methods too', async () => {
  const path = fileIn(
    folder,
    'asking.js',
    `export const asked = [];
    export const policy = ({ model, judgeModel, problem }) => {
      asked.push([model.modelId, judgeModel.modelId, problem]);
      return { propose: () => [{ action: '4 + 4 = 8' }] };
    };`,
  );
  const out = ['--out', join(folder, 'asking')];
  const { code } = await espalier(
    ...['bench', ...small, ...out, '--model', 'tiny', '--policy', path, '--budgets', 'tokens=400'],
    ...['--methods', `agent-q,${fileIn(folder, 'first.js', walk)}`],
  );
  expect(code).toBe(0);
  const { asked } = (await import(path)) as { readonly asked: readonly unknown[] };
  const problem = { task: 'game24', id: expect.any(String) as unknown };
  const each = ['espalier-tiny', 'espalier-tiny', problem];
  expect(asked).toEqual(Array.from({ length: 16 }, () => each));
});

test('a suite names them too', async () => {
  const path = fileIn(folder, 'step.js', walk);
  const suite = (policy: string) =>
    fileIn(
      folder,
      'suite.yaml',
      `task: ${world}\nmethods: [mcts, ${path}]\npolicy: ${policy}\nvalue: ${world}\nbudgets: { calls: 4 }\nout: ${join(folder, 'suite')}`,
    );
  const found = await espalier('bench', suite(world), '--no-times', '--json');
  expect(methodsIn(found)).toEqual(['greedy', 'best-of-n', 'mcts', 'step']);
  const { code, stderr } = await espalier('bench', suite('world'));
  expect(code).toBe(2);
  expect(stderr).toMatch(
    /^Expected `policy` in `.*suite\.yaml` to be the path of a module such as \.\/world\.js, got `"world"`\.\n$/,
  );
});

test.each([
  ['methods', "export default { name: 'mine', concurrency: 'any', laws: [], run() {", '} };'],
  ['policy', 'export default { propose() {', '} };'],
  ['value', 'export default () => () => {', '};'],
])('code of --%s that throws is named with its place', async (option, begin, end) => {
  const name = `own-${option}.js`;
  const path = fileIn(folder, name, `${begin}\nthrow new TypeError('No field.');${end}`);
  const parts = { policy: world, value: world, methods: 'mcts', [option]: path };
  const { stdout } = await espalier(
    ...['bench', '--task', world, ...calls, '--out', join(folder, `throwing-${option}`)],
    ...Object.entries(parts).flatMap(([part, value]) => [`--${part}`, value]),
  );
  const { points, warnings } = JSON.parse(stdout) as BenchReport;
  expect(points.at(-1)).toMatchObject({ n: 0, broken: 2 });
  expect(warnings.join(' ')).toMatch(new RegExp(`No field \\(at \\S*${name}:2:7\\)\\.`));
});

test.each([
  [['--task', 'WORLD', '--split', 'x'], 'The task `lift` has no split `"x"`. It has only one.'],
  [['--methods', './missing.js'], 'There is no file `./missing.js`.'],
  [['--policy', 'world'], 'Expected the path of a module such as `./world.ts`, got `world`.'],
  [
    ['--methods', 'NAMESAKE'],
    'Expected `NAMESAKE` to have a name of its own, got `mcts`, which is that of another method: rename the file.',
  ],
  [
    ['--methods', 'NAMESAKE,./other/mcts.js'],
    'Expected `NAMESAKE` to have a name of its own, got `mcts`, which is that of another method: rename the file.',
  ],
])('%j is refused', async (args, message) => {
  const namesake = fileIn(folder, 'mcts.js', walk);
  const typed = args.map((each) => each.replace('NAMESAKE', namesake).replace('WORLD', world));
  const { code, stderr } = await espalier('bench', ...small, ...typed);
  expect(code).toBe(2);
  expect(stderr).toBe(`${message.replace('NAMESAKE', namesake)}\n`);
});
