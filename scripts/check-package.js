// Packs the package, installs the tarball into an empty project, and uses it there: its size, the root import, each
// sub-path, `require`, the binary, the types under every supported TypeScript, every runtime, and a browser's bundle.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { createContext, Script } from 'node:vm';
import { rolldown } from 'rolldown';

const root = fileURLToPath(new URL('..', import.meta.url));
const manifest = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
const project = mkdtempSync(join(tmpdir(), 'espalier-consumer-'));
const consumer = `
import assert from 'node:assert/strict';
import { mcts, search, solved } from 'espalier';
import { gameOf24 } from 'espalier/environments';
import { uniform } from 'espalier/policies';
import { heuristic } from 'espalier/values';

const puzzle = gameOf24.parse('4 9 10 13');
const environment = gameOf24.environment(puzzle);
const result = await search(environment, {
  policy: uniform(environment.actions),
  evaluator: heuristic(gameOf24.estimate),
  algorithm: mcts({ evaluate: 'all' }),
  budget: { simulations: 200 },
  stopWhen: solved(),
});
const operators: readonly string[] = result.actions.map(({ operator }) => operator);
assert.equal(operators.length, 3);
`;

/** What is printed is the same wherever it runs. */
const everywhere = `
import { mcts, renderTree, search, solved } from 'espalier';
import { tiny } from 'espalier/backends/tiny';
import { gameOf24 } from 'espalier/environments';
import { fromModel } from 'espalier/policies';
import { judge } from 'espalier/values';

const environment = gameOf24.environment(gameOf24.parse('4 9 10 13'));
const model = tiny();
const { tree, spend } = await search(environment, {
  policy: fromModel({ model, maxTokens: 24 }),
  evaluator: judge({ model }),
  algorithm: mcts({ evaluate: 'all' }),
  budget: { calls: 40 },
  stopWhen: solved(),
});
console.log(spend.tokens, renderTree(tree, { format: environment.notation.format, depth: 9 }));
await model.close();
`;

/** An environment of one's own, as a page would have it. */
const browser = `
import { mcts, search, solved } from 'espalier';

const environment = {
  name: 'ladder',
  reset: () => ({ state: 0 }),
  step: (rung, by) => ({ state: rung + by, ...(rung + by === 5 && { terminal: true, reward: 1 }) }),
};
const policy = {
  name: 'both',
  propose: () => [{ action: 1 }, { action: -1 }],
};
found.done = search(environment, {
  policy,
  evaluator: ({ state }) => state / 5,
  algorithm: mcts(),
  budget: { simulations: 500 },
  stopWhen: solved(),
}).then(({ actions }) => {
  found.steps = actions.length;
});
`;

try {
  const run = (command, ...args) =>
    execFileSync(command, args, {
      cwd: project,
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'inherit'],
    });
  const [{ filename, files }] = JSON.parse(
    execFileSync('npm', ['pack', '--json', '--pack-destination', project], {
      cwd: root,
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'ignore'],
    }),
  );
  const unpacked = files
    .filter(({ path }) => !path.endsWith('.map'))
    .reduce((sum, file) => sum + file.size, 0);
  report(
    `${filename}: ${files.length} files, ${(unpacked / 1e6).toFixed(2)} MB without source maps`,
  );
  assert.ok(files.length <= 1_480, 'at most 1,480 files');
  assert.ok(unpacked <= 5e6, 'at most 5 MB');

  writeFileSync(join(project, 'package.json'), '{ "name": "consumer", "type": "module" }');
  run('npm', 'install', '--silent', '--no-audit', '--no-fund', join(project, filename));
  const imports = Object.keys(manifest.exports)
    .filter((path) => path !== './package.json')
    .map((path) => `await import('espalier${path.slice(1)}')`);
  for (const script of imports) run(process.execPath, '--input-type=module', '-e', script);
  // A condition that tools set must not lead to files that are not packed.
  const all = imports.join('\n');
  run(process.execPath, '--conditions=source', '--input-type=module', '-e', all);
  report(`${imports.length} imports`);

  // Node lists the built-in modules that were loaded; its own start needs none of these.
  const loaded = run(
    process.execPath,
    '--input-type=module',
    '-e',
    "await import('espalier'); console.log(process.moduleLoadList.join('\\n'))",
  );
  assert.ok(!/NativeModule (_?http\w*|https|child_process)$/m.test(loaded));
  report('the root import loads no node:http');
  run(process.execPath, '-e', "require('espalier').search.call");
  report('`require` works');
  const start = run(
    process.execPath,
    '--input-type=module',
    '-e',
    "const before = process.cpuUsage(); await import('espalier'); const { user, system } = process.cpuUsage(before); console.log((user + system) / 1000)",
  );
  report(`the root import takes ${Math.round(Number(start))} ms of CPU`);

  const answer = run(
    'npx',
    'espalier',
    'search',
    '--task',
    'game24',
    '--input',
    '4 9 10 13',
    '--json',
  );
  assert.equal(JSON.parse(answer).solved, true);
  report('the binary solves a puzzle');

  writeFileSync(join(project, 'consumer.ts'), consumer);
  run(process.execPath, '--import', import.meta.resolve('tsx'), 'consumer.ts');
  for (const compiler of ['typescript', 'typescript-5.9']) {
    for (const [module, resolution] of [
      ['nodenext', 'nodenext'],
      ['esnext', 'bundler'],
    ]) {
      run(
        process.execPath,
        join(root, 'node_modules', compiler, 'bin/tsc'),
        ...['--noEmit', '--strict', '--target', 'es2023', '--module', module],
        ...['--moduleResolution', resolution, '--types', 'node'],
        ...['--typeRoots', join(root, 'node_modules/@types'), 'consumer.ts'],
      );
    }
    const { version } = JSON.parse(
      readFileSync(join(root, 'node_modules', compiler, 'package.json'), 'utf8'),
    );
    report(`types under TypeScript ${version}`);
  }

  writeFileSync(join(project, 'everywhere.js'), everywhere);
  // Their programs are in packages of their own: no script of theirs has to run.
  const runtimes = {
    'bun@1.4.5': ['npx', 'bun'],
    'deno@2.9.6': [process.execPath, 'node_modules/deno/bin.cjs', 'run', '--allow-all'],
    'node22@npm:node@22.23.1': ['node_modules/node22/bin/node'],
    'node24@npm:node@24.21.0': ['node_modules/node24/bin/node'],
    'node26@npm:node@26.10.0': ['node_modules/node26/bin/node'],
  };
  run('npm', 'install', '--silent', '--no-audit', '--no-fund', ...Object.keys(runtimes));
  const expected = run(process.execPath, 'everywhere.js');
  for (const [name, [command, ...args]] of Object.entries(runtimes)) {
    assert.equal(run(command, ...args, 'everywhere.js'), expected, name);
    report(`the same search in ${name}`);
  }

  writeFileSync(join(project, 'browser.js'), browser);
  const bundled = await rolldown({
    input: join(project, 'browser.js'),
    cwd: project,
    platform: 'browser',
    logLevel: 'silent',
  });
  const { output } = await bundled.generate({ format: 'iife', minify: true });
  // What a browser has, and nothing else.
  const { AbortController, AbortSignal, MessageChannel, TextEncoder, btoa, performance } =
    globalThis;
  const page = { AbortController, AbortSignal, MessageChannel, TextEncoder, btoa, performance };
  const found = {};
  const context = createContext({ ...page, clearTimeout, setTimeout, found });
  await new Script(output[0].code).runInContext(context);
  await found.done;
  assert.equal(found.steps, 5);
  report(
    `a browser's bundle of a search, ${Math.round(output[0].code.length / 1_000)} kB, finds its way`,
  );
} finally {
  rmSync(project, { recursive: true, force: true });
}

function report(line) {
  process.stdout.write(`${line}\n`);
}
