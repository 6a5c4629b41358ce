// Packs the package, installs the tarball into an empty project, and uses it there: the root import, each
// sub-path, the binary, and the types under every supported TypeScript.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

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

try {
  const run = (command, ...args) =>
    execFileSync(command, args, {
      cwd: project,
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'inherit'],
    });
  const [{ filename, size, entryCount }] = JSON.parse(
    execFileSync('npm', ['pack', '--json', '--pack-destination', project], {
      cwd: root,
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'ignore'],
    }),
  );
  report(`${filename}: ${entryCount} files, ${Math.round(size / 1_000)} kB`);

  writeFileSync(join(project, 'package.json'), '{ "name": "consumer", "type": "module" }');
  run('npm', 'install', '--silent', '--no-audit', '--no-fund', join(project, filename));
  for (const path of Object.keys(manifest.exports)) {
    if (path === './package.json') continue;
    run(process.execPath, '--input-type=module', '-e', `await import('espalier${path.slice(1)}')`);
  }
  report(`${Object.keys(manifest.exports).length - 1} imports`);

  // Node lists the built-in modules that were loaded; its own start needs none of these.
  const loaded = run(
    process.execPath,
    '--input-type=module',
    '-e',
    "await import('espalier'); console.log(process.moduleLoadList.join('\\n'))",
  );
  assert.ok(!/NativeModule (_?http\w*|https|child_process)$/m.test(loaded));
  report('the root import loads no node:http');

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
} finally {
  rmSync(project, { recursive: true, force: true });
}

function report(line) {
  process.stdout.write(`${line}\n`);
}
