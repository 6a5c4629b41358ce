import { appendFileSync, existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { beforeAll, expect, test } from 'vitest';
import { type Environment, search, treeToJson } from '../../src/index.ts';
import { generate, openRun } from '../../src/runs/index.ts';
import { emulator } from '../../src/testing/index.ts';
import { build, espalier, fileIn, start, temporaryFolder } from './espalier.ts';

const folder = temporaryFolder();

/** A lift that is to reach a floor; each step is one up or two up. */
const lift = `
export const environment = ({ problem }) => {
  const goal = Number(problem.input ?? 3);
  if (Number.isNaN(goal)) throw new Error('Expected a floor.');
  return {
    name: 'lift',
    reset: () => ({ state: 0 }),
    step(floor, by) {
      const state = floor + by;
      return state < goal ? { state } : { state, terminal: true, reward: state === goal ? 1 : 0 };
    },
    key: String,
    answer: (floor) => \`floor \${floor}\`,
    notation: {
      prompt: (floor) => [{ role: 'user', content: \`You are on floor \${floor}. Go to floor \${goal}.\` }],
      format: (by) => \`up \${by}\`,
      parse: (text) => ({ action: Number(text.slice(3)) }),
    },
  };
};
export const policy = { propose: () => [{ action: 2 }, { action: 1 }] };
export const value = () => ({ state }) => state / 10;
`;
let world: string;
beforeAll(() => {
  fileIn(folder, 'package.json', '{ "type": "module" }');
  world = fileIn(folder, 'world.js', lift);
});

/** Options that name one module for the whole world. */
function inWorld(path = world): readonly string[] {
  return ['--environment', path, '--policy', path, '--value', path];
}

function resultIn({ stdout }: { readonly stdout: string }): Readonly<Record<string, unknown>> {
  return JSON.parse(stdout) as Readonly<Record<string, unknown>>;
}

test('astar goes on to the cheapest way, which is not the first that it finds', async () => {
  const ways = fileIn(
    folder,
    'ways.js',
    `const costs = { s: { a: 1, g: 10 }, a: { g: 1 } };
    export const environment = {
      name: 'ways',
      reset: () => ({ state: 's' }),
      step: (at, to) => ({ state: to, cost: costs[at][to], ...(to === 'g' && { terminal: true, reward: 1 }) }),
      notation: { prompt: (at) => [{ role: 'user', content: at }], format: String, parse: (to) => ({ action: to }) },
    };
    export const policy = { propose: ({ state }) => Object.keys(costs[state]).map((action) => ({ action })) };
    export const value = () => () => 0;`,
  );
  const asked = ['search', ...inWorld(ways), '--input', 'x', '--algorithm', 'astar', '--json'];
  const found = resultIn(await espalier(...asked));
  expect(found).toMatchObject({ solved: true, path: ['a', 'g'] });
});

test('a search takes a world of its own, without a model', async () => {
  const run = join(folder, 'one');
  const found = await espalier('search', ...inWorld(), '--input', '5', '--save', run, '--json');
  expect(found.stderr).toBe('');
  expect(resultIn(found)).toMatchObject({ solved: true, answer: 'floor 5', model: null });
  const saved = JSON.parse(readFileSync(join(run, 'run.json'), 'utf8')) as object;
  const module = { module: world, file: expect.stringMatching(/^[\w+/]{16}$/) as unknown };
  expect(saved).toMatchObject({ input: '5', environment: module, policy: module, value: module });
  expect(saved).not.toHaveProperty('task');
  const shown = await espalier('search', ...inWorld(), '--simulations', '50');
  expect(shown.stdout).toMatch(/^lift\nModel: none; a policy of your own\.\n/);
  expect(shown.stdout).toMatch(/Solved in [23] steps: floor 3/);
});

test('a model proposes and judges in a world of its own, as its notation shows it', async () => {
  const asked: string[] = [];
  const server = await emulator({
    dialect: 'vllm',
    models: ['m'],
    answer({ messages, sample }) {
      const text = messages.map(({ content }) => content).join();
      asked.push(text);
      return text.includes('Judge how likely') ? 'likely' : `up ${1 + (sample % 2)}`;
    },
  });
  const named = ['--environment', world, '--input', '4', '--model', `vllm:${server.url}#m`];
  const found = await espalier('search', ...named, '--calls', '40', '--json');
  await server.close();
  expect(resultIn(found)).toMatchObject({ solved: true, answer: 'floor 4', model: 'vllm:m' });
  expect(asked.some((text) => text.includes('You are on floor 0. Go to floor 4.'))).toBe(true);
});

test('the run of a program is exported in the environment that is named', async () => {
  const path = join(folder, 'by-program');
  const { environment } = (await import(pathToFileURL(world).href)) as {
    environment: (of: { problem: { input: string } }) => Environment<number, number>;
  };
  using run = openRun(path);
  await generate({
    ...{ run, problems: [{ id: '4' }, { id: '5' }], budget: { simulations: 40 } },
    plan: ({ id }) => ({
      environment: environment({ problem: { input: id } }),
      policy: () => [{ action: 2 }, { action: 1 }],
      evaluator: ({ state }) => Number(state) / 10,
      budget: { simulations: 20 },
    }),
  });
  const out = [
    '--rule',
    'best-trajectories',
    '--format',
    'trl',
    '--out',
    join(folder, 'of-program'),
  ];
  const { code, stderr } = await espalier('export', path, ...out, '--environment', world);
  expect([code, stderr]).toEqual([0, '']);
  const card = readFileSync(join(folder, 'of-program', 'README.md'), 'utf8');
  expect(card).toContain('2 problems');
  expect((await espalier('export', path, ...out)).stderr).toContain('--environment ./world.ts');
});

test.each([
  ['says its input', 'first', { command: 'search', input: '5' }],
  ['is named by its input', '5', { command: 'search' }],
])('one search of a program that %s is exported, too', async (_, problem, told) => {
  const path = join(folder, `one-by-program-${problem}`);
  const { environment } = (await import(pathToFileURL(world).href)) as {
    environment: (of: { problem: { input: string } }) => Environment<number, number>;
  };
  const floors = environment({ problem: { input: '5' } });
  const run = openRun(path);
  const { tree } = await search(floors, {
    policy: () => [{ action: 2 }, { action: 1 }],
    evaluator: ({ state }) => Number(state) / 10,
    budget: { simulations: 40 },
    journal: run.journal,
  });
  run.saveTree({ problem, attempt: 0, step: 0, tree: treeToJson(tree, floors) });
  run.writeRun(told);
  run.close();
  const rule = ['--rule', 'best-trajectories', '--format', 'trl'];
  const out = [...rule, '--out', join(folder, `of-one-${problem}`)];
  const { code, stderr } = await espalier('export', path, ...out, '--environment', world);
  expect([code, stderr]).toEqual([0, '']);
  const rows = readFileSync(
    join(folder, `of-one-${problem}`, 'best-trajectories', 'train-00000-of-00001.jsonl'),
    'utf8',
  );
  expect(rows).toContain('Go to floor 5.');
  expect((await espalier('export', path, ...out)).stderr).toContain('--environment ./world.ts');
  expect((await espalier('tree', path)).stdout).toContain(`lift · ${problem} · `);
});

test('an environment that can be closed is closed when the command ends', async () => {
  const mark = join(folder, 'closed');
  const closing = fileIn(
    folder,
    'closing.js',
    `import { writeFileSync } from 'node:fs';
    ${lift.replace("name: 'lift',", `name: 'lift', close: async () => writeFileSync('${mark}', ''),`)}`,
  );
  const { code } = await espalier('search', ...inWorld(closing), '--simulations', '5');
  expect(code).toBe(0);
  expect(existsSync(mark)).toBe(true);
});

test('the environment of each problem is closed behind its search, and a shared one at the end', async () => {
  const problems = fileIn(folder, 'two.jsonl', '4\n5\n');
  const told = async (name: string, world: string) => {
    const log = join(folder, `${name}.log`);
    const write = (word: string) => `appendFileSync('${log}', '${word} ')`;
    const noted = world
      .replace("name: 'lift',", `name: 'lift', close: () => ${write('closed')},`)
      .replace('({ state: 0 })', `{ ${write('reset')}; return { state: 0 }; }`);
    const module = `import { appendFileSync } from 'node:fs';\n${noted}`;
    const { code } = await espalier(
      ...['generate', '--problems', problems, ...inWorld(fileIn(folder, `${name}.js`, module))],
      ...['--out', join(folder, name), '--run', join(folder, `${name}-run`)],
      ...['--simulations', '20', '--concurrency', '1'],
    );
    expect(code).toBe(0);
    return readFileSync(log, 'utf8');
  };
  expect(await told('each', lift)).toMatch(/^reset closed reset closed (closed )+$/);
  const one = "export const environment = of({ problem: { input: '4' } });";
  const shared = `${lift.replace('export const environment', 'const of')}\n${one}`;
  expect(await told('shared', shared)).toBe('reset reset closed ');
});

test('an algorithm of its own searches a puzzle', async () => {
  const algorithm = fileIn(
    folder,
    'walk.js',
    `export default {
      name: 'walk', concurrency: 'any', laws: [],
      async run(tree, context) {
        const [first] = await context.expand(tree.root, { count: 1 });
        await context.realise([first]);
      },
    };`,
  );
  const game = ['search', '--task', 'game24', '--input', '4 9 10 13', '--model', 'none', '--json'];
  const run = join(folder, 'walked');
  const limits = ['--simulations', '9', '--save', run];
  const found = await espalier(...game, '--algorithm', algorithm, ...limits);
  expect(found.stderr).toBe('');
  expect(resultIn(found)).toMatchObject({ solved: false, path: [expect.any(String)] });
  const { stdout } = await espalier('tree', run);
  expect(stdout.split('\n')[0]).toContain(`Game of 24 · 4 9 10 13 · ${algorithm} · `);
});

test('an algorithm of its own goes on after a solution, as in code', async () => {
  const algorithm = fileIn(
    folder,
    'wide.js',
    `export default {
      name: 'wide', concurrency: 'any', laws: [],
      run: (tree, context) =>
        context.simulate(async () => {
          const node = [...tree.nodes()].find(({ status, children }) => status === 'open' && children.length === 0);
          if (node === undefined) return 'exhausted';
          await context.realise(await context.expand(node));
          tree.complete(node);
          return 'continue';
        }),
    };`,
  );
  const asked = ['search', ...inWorld(), '--input', '4', '--algorithm', algorithm, '--json'];
  const found = resultIn(await espalier(...asked));
  expect(found).toMatchObject({ solved: true, stopReason: 'exhausted' });
});

test('a run in a world of its own becomes rows, and goes on only with the same module', async () => {
  const changing = fileIn(folder, 'changing.js', lift);
  const problems = fileIn(folder, 'floors.jsonl', '4\n{"id": "high", "input": "6"}\n');
  const out = (name: string) => ['--out', join(folder, name)];
  const generate = (...more: readonly string[]) =>
    espalier(
      ...['generate', '--problems', problems, ...inWorld(changing), ...out('rows')],
      ...['--run', join(folder, 'many'), '--simulations', '60', '--json', ...more],
    );
  const made = await generate();
  expect(made.stderr).toBe('');
  expect(made.code).toBe(0);
  expect(resultIn(made)).toMatchObject({ total: 2, done: 2, solved: 2 });
  const rows = () =>
    readFileSync(join(folder, 'rows', 'agent-q', 'train-00000-of-00001.jsonl'), 'utf8');
  expect(rows()).toContain('Go to floor 6.');
  expect(rows()).toContain('"problem_id":"high"');

  // The same command again finds all of it done.
  expect(resultIn(await generate())).toMatchObject({ total: 2, done: 2 });

  const again = (...more: readonly string[]) =>
    espalier('export', join(folder, 'many'), '--rule', 'agent-q', ...more);
  const first = rows();
  expect(await again(...out('rows'), '--environment', changing)).toMatchObject({
    code: 0,
    stderr: '',
  });
  expect(rows()).toBe(first);
  const without = await again(...out('none'));
  expect(without).toMatchObject({
    code: 2,
    stderr: `The trees of \`${join(folder, 'many')}\` were grown in an environment of your own, whose notation rows need: add \`--environment ${changing}\`.\n`,
  });

  appendFileSync(changing, '// changed\n');
  const changed = await generate();
  expect(changed.code).toBe(2);
  expect(changed.stderr).toMatch(
    /^The run in `.*many` is another one: `.*changing\.js` has changed since it began\. Take another `--run`\.\n$/,
  );
  const told = await again(...out('rows'), '--environment', changing);
  expect(told.code).toBe(0);
  expect(told.stderr).toMatch(/^`.*changing\.js` has changed since the run in `.*many`/);
});

test.each([
  ['the first', 'cellar\n4\n5\n'],
  ['the last', '4\n5\ncellar\n'],
])(
  'a problem that the module refuses fails alone, and the others become rows: %s',
  async (name, lines) => {
    const problems = fileIn(folder, `${name}.jsonl`, lines);
    const [run, out] = [join(folder, `${name}-run`), join(folder, `${name}-rows`)];
    const made = await espalier(
      ...['generate', '--problems', problems, ...inWorld(), '--run', run, '--out', out],
      ...['--simulations', '60', '--json'],
    );
    expect(made).toMatchObject({ code: 0, stderr: '' });
    const reason = `The function that \`${world}\` exports has made no environment for the problem "cellar": Expected a floor (at ${world}:4:33).`;
    const failed = [expect.objectContaining({ problem: 'cellar', reason }) as unknown];
    expect(resultIn(made)).toMatchObject({ total: 3, done: 2, failed });
    const rows = () => readFileSync(join(out, 'agent-q', 'train-00000-of-00001.jsonl'), 'utf8');
    const first = rows();
    expect(first).toContain('Go to floor 5.');
    const again = ['export', run, '--rule', 'agent-q', '--environment', world, '--out', out];
    expect(await espalier(...again)).toMatchObject({ code: 0, stderr: '' });
    expect(rows()).toBe(first);
  },
);

test('a run none of whose problems the module makes is refused', async () => {
  const problems = fileIn(folder, 'none.jsonl', 'cellar\nattic\n');
  const { code, stderr } = await espalier(
    ...['generate', '--problems', problems, ...inWorld(), '--out', join(folder, 'no-rows')],
    ...['--run', join(folder, 'none-run')],
  );
  expect(code).toBe(2);
  expect(stderr).toContain('has made no environment for the problem "cellar": Expected a floor');
  expect(existsSync(join(folder, 'none-run'))).toBe(false);
});

test('a saved search goes on only with the same modules', async () => {
  const changing = fileIn(folder, 'search.js', lift);
  const save = ['--save', join(folder, 'saved')];
  const again = () => espalier('search', ...inWorld(changing), ...save, '--simulations', '9');
  expect((await again()).code).toBe(0);
  expect((await again()).code).toBe(0);
  appendFileSync(changing, '// changed\n');
  expect(await again()).toMatchObject({
    code: 2,
    stderr: expect.stringMatching(/is another one: `.*` has changed since it began/) as unknown,
  });
});

test('a saved search by an algorithm of its own names the one that it would go on with', async () => {
  const algorithm = fileIn(
    folder,
    'idle.js',
    "export default { name: 'idle', concurrency: 'any', laws: [], run: () => Promise.resolve() };",
  );
  const again = (...more: readonly string[]) =>
    espalier('search', ...inWorld(), '--save', join(folder, 'idle'), ...more);
  expect(await again('--algorithm', algorithm)).toMatchObject({ code: 0, stderr: '' });
  const refused = await again('--algorithm', 'beam');
  expect(refused.code).toBe(2);
  expect(refused.stderr).toMatch(
    /another one: its `algorithm` is \{.*idle\.js.*\}, this command has beam\. Take another `--save`\.\n$/,
  );
  expect((await again()).stderr).toContain('this command has mcts.');
});

const none = 'export const other = 1;';
test.each([
  [
    '--environment',
    'export default { name: "x", reset() {}, step() {} };',
    'an environment: an object with `name`, `reset`, `step` and `notation`',
  ],
  ['--algorithm', none, 'an algorithm: an object with `name`, `concurrency`, `laws` and `run`'],
  ['--policy', none, 'a policy: an object with `propose`'],
  ['--value', none, 'an evaluator: an object with `needs` and `evaluate`'],
])('%s of something else is refused', async (option, code, what) => {
  const path = fileIn(folder, `none${option}.js`, code);
  const { code: exit, stderr } = await espalier('search', 'Why?', option, path);
  expect(exit).toBe(2);
  const lacking = option === '--environment' ? ' Its export has no `notation`.' : '';
  expect(stderr).toBe(
    `Expected \`${path}\` to export, as its default or as \`${option.slice(2)}\`, ${what}; or a function that makes it of { model, judgeModel, problem }.${lacking}\n`,
  );
});

test.each([
  [['--environment', 'missing.js'], 'There is no file `missing.js`.'],
  [['--environment', 'world'], 'Expected the path of a module such as `./world.ts`, got `world`.'],
  [
    ['--task', 'game24', '--environment', 'WORLD'],
    'Expected `--environment` or `--task`, got both.',
  ],
  [
    ['--environment', 'WORLD'],
    'Expected `--model`: an environment of your own needs a model, or `--policy`, and the model in the package knows only its puzzles. For example --model openai:gpt-6-luna or --model ollama:qwen3.',
  ],
  [
    ['--environment', 'WORLD', '--policy', 'WORLD', '--input', 'cellar'],
    'The function that `WORLD` exports has made no environment for the problem "cellar": Expected a floor (at WORLD:4:33).',
  ],
])('search %j is refused', async (args, message) => {
  const typed = args.map((each) => (each === 'WORLD' ? world : each));
  const { code, stderr } = await espalier('search', ...typed);
  expect(code).toBe(2);
  expect(stderr).toBe(`${message.replaceAll('WORLD', world)}\n`);
});

test.each([
  ['algorithm', "name: 'a', concurrency: 'any', laws: [],\n  run: (tree) => tree.nope.first"],
  ['policy', '\n  propose: () => undefined.first'],
  ['value', "needs: 'realised',\n  evaluate: () => undefined.first"],
])('a throwing part is told with its file and its line: %s', async (name, fields) => {
  const path = fileIn(folder, `throws-${name}.js`, `export const ${name} = { ${fields} };`);
  const found = await espalier('search', ...inWorld(), `--${name}`, path, '--simulations', '9');
  expect(found.code).toBe(1);
  const told = found.stdout + found.stderr;
  expect(told).toContain("reading 'first'");
  expect(told).toContain(`(at ${path}:2:`);
});

test.each([
  ['search', '--input', '4 9 10 13'],
  [
    ...['generate', '--problems', fileIn(folder, 'one.jsonl', '{"input":"4 9 10 13"}\n')],
    ...['--out', join(folder, 'replaced'), '--run', join(folder, 'replaced-run')],
  ],
])('%s says that the evaluator of a method is replaced', async (command, ...given) => {
  const typed = [command, '--task', 'game24', ...given, '--calls', '4'];
  const { stderr } = await espalier(...typed, '--method', 'agent-q');
  expect(stderr).toContain(
    'The evaluator of `agent-q` is replaced: the model in the package judges states only in one word.\n',
  );
});

test('a module that cannot be parsed or throws is told with the line', async () => {
  // In a process of its own: vitest parses modules itself.
  await build();
  const unparsed = fileIn(folder, 'unparsed.mjs', '\n\nexport const policy = {;');
  const found = await start('search', ...inWorld(), '--policy', unparsed).finished;
  expect(found.stderr).toBe(`\`${unparsed}\` cannot be loaded: Unexpected token ';' in line 3.\n`);
  const throws = fileIn(folder, 'throws.mjs', "\n  throw new Error('Too late');");
  const { stderr } = await espalier('search', ...inWorld(), '--policy', throws);
  expect(stderr).toBe(`\`${throws}\` cannot be loaded: Too late (at ${throws}:2:9).\n`);
});

const algorithm = "name: 'a', concurrency: 'any', laws: ['visit'], run() {}";
test.each([
  ['an algorithm', `export default { ${algorithm} };`],
  ['a function that makes it', `export default () => ({ ${algorithm} });`],
])('an algorithm is checked as in code: %s', async (name, code) => {
  const path = fileIn(folder, `${name}.js`, code);
  expect(await espalier('search', ...inWorld(), '--algorithm', path)).toMatchObject({
    code: 2,
    stderr:
      "Expected `algorithm.laws[0]` to be 'visits' or 'values' or 'simulations', got `\"visit\"`. Did you mean 'visits'?\n",
  });
});

test('a promise that code of its own does not await is told in one sentence', async () => {
  await build();
  const hasty = fileIn(
    folder,
    'hasty.mjs',
    "export const policy = { async propose() {\n  Promise.reject(new Error('Too early'));\n  return [{ action: 1 }];\n} };",
  );
  const parts = ['--environment', world, '--policy', hasty, '--value', world];
  expect(await start('search', ...parts).finished).toMatchObject({
    code: 1,
    stderr: `A promise that nothing awaits was rejected: Too early (at ${hasty}:2:18). Put \`await\` before the call that made it.\n`,
  });
});
