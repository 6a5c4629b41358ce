// Runs the packaged model on several versions of Node and compares all that it wrote, bit by bit. The
// versions come from the package registry; the first one is the Node that runs this program.
import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../..', import.meta.url));
const program = 'tests/fixtures/tiny-samples.js';

function installed(major: number): string {
  const folder = join(root, '.tmp/nodes', String(major));
  const name = `node-${process.platform}-${process.arch}`;
  execFileSync('npm', ['install', '--silent', '--prefix', folder, `${name}@${major}`], {
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  return join(folder, 'node_modules', name, 'bin/node');
}

function run(node: string, ...options: readonly string[]): string {
  return execFileSync(node, [...options, program], { cwd: root, encoding: 'utf8' }).trim();
}

const expected = run(process.execPath);
process.stdout.write(`${process.version}  ${expected}\n`);
let different = 0;
for (const major of [20, 22, 24]) {
  const node = installed(major);
  const version = execFileSync(node, ['--version'], { encoding: 'utf8' }).trim();
  for (const options of [[], ['--liftoff-only'], ['--no-liftoff']]) {
    const equal = run(node, ...options) === expected;
    process.stdout.write(`${[version, ...options].join(' ')}  ${equal ? 'equal' : 'DIFFERENT'}\n`);
    if (!equal) different++;
  }
}
process.exitCode = different === 0 ? 0 : 1;
