/**
 * The official clients of OpenAI and Anthropic, for JavaScript and for Python, against our emulator of their servers. They
 * come from the registries, into a folder of their own; where those cannot be reached, this is skipped.
 */
import { spawn } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type EmulatorOptions, emulator } from '../../src/testing/index.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const folder = join(root, '.tmp/clients');
const node = `node-${process.platform}-${process.arch}`;

/** Clients that are installed beside each other. */
interface Suite {
  readonly name: string;
  readonly packages: readonly string[];
}

const suites: readonly Suite[] = [
  { name: 'oldest', packages: ['openai@6.49.0', '@anthropic-ai/sdk@0.137.0'] },
  // The newest ones need Node 22.
  { name: 'newest', packages: ['openai@7', '@anthropic-ai/sdk@1', `${node}@22`] },
];

/** Runs a program. Resolves to what it wrote, or to `undefined` where it failed. */
async function run(command: string, args: readonly string[], cwd = root) {
  const child = spawn(command, args, { cwd, timeout: 300_000 });
  let told = '';
  child.stdout.on('data', (piece) => (told += String(piece)));
  child.stderr.on('data', (piece) => (told += String(piece)));
  const code = await new Promise<number | null>((resolve) => {
    child.once('close', resolve);
    child.once('error', () => resolve(null));
  });
  if (code !== 0) process.stdout.write(told);
  return code === 0 ? told : undefined;
}

/** Installs the clients for JavaScript. Resolves to whether it could. */
async function installed({ name, packages }: Suite): Promise<boolean> {
  const place = join(folder, name);
  mkdirSync(place, { recursive: true });
  writeFileSync(join(place, 'package.json'), '{ "private": true, "type": "module" }\n');
  writeFileSync(
    join(place, 'bridge.js'),
    "export { default as OpenAI, toFile } from 'openai';\nexport { default as Anthropic } from '@anthropic-ai/sdk';\n",
  );
  // `npm run` hands the settings of this project on, and one suite brings a Node of its own.
  const free = ['--engine-strict=false', '--ignore-scripts', '--fetch-retries=1'];
  const quiet = ['--loglevel=error', '--no-audit', '--no-fund', ...free];
  return (await run('npm', ['install', ...quiet, ...packages], place)) !== undefined;
}

const python = join(folder, 'python/bin/python');

/** Installs the clients for Python. Resolves to whether it could. */
async function installedPython(): Promise<boolean> {
  if ((await run('python3', ['-m', 'venv', join(folder, 'python')])) === undefined) return false;
  const install = ['-m', 'pip', '--disable-pip-version-check', 'install', '--quiet'];
  return (await run(python, [...install, 'openai', 'anthropic'])) !== undefined;
}

/** What was installed for JavaScript, with its version. */
function versions({ name, packages }: Suite): string {
  const told = packages.map((one) => {
    const bare = one.replace(/(?<=.)@[^@/]*$/, '');
    const path = join(folder, name, 'node_modules', bare, 'package.json');
    return `${bare} ${(JSON.parse(readFileSync(path, 'utf8')) as { version: string }).version}`;
  });
  return told.join(', ');
}

/** What the programs expect of the model: a call of a tool, then what came of it, or what is asked for. */
const answer: EmulatorOptions['answer'] = ({ messages, schema, tools = [], sample }) => {
  const last = messages.at(-1);
  if (last?.role === 'tool') return { text: `The sum is ${last.content}.` };
  if (tools.length > 0) {
    return { reasoning: 'I add.', toolCalls: [{ name: 'add', input: { a: 2, b: 3 } }] };
  }
  if (schema !== undefined) return { text: '{"sum":5}' };
  return { text: `Two words. ${sample}` };
};

const faults: EmulatorOptions['faults'] = ({ body, customId }) => {
  if (customId === 'late') return 'expires';
  const isBusy = JSON.stringify(body ?? '').includes('Be busy');
  return isBusy && customId === undefined ? { kind: 'rate-limited', retryAfterMs: 10 } : undefined;
};

const since = performance.now();
const areInstalled = (await Promise.all([...suites.map(installed), installedPython()])).every(
  Boolean,
);
if (areInstalled) {
  const options = { apiKey: 'right', answer, faults };
  const openAi = await emulator({ dialect: 'openai', ...options });
  const anthropic = await emulator({ dialect: 'anthropic', ...options });
  const urls = [openAi.url, anthropic.url];
  for (const suite of suites) {
    process.stdout.write(`${versions(suite)}\n`);
    const place = join(folder, suite.name);
    const isOwn = suite.packages.some((one) => one.startsWith(node));
    const runner = isOwn ? join(place, 'node_modules', node, 'bin/node') : process.execPath;
    const program = join(root, 'tests/verify/clients-javascript.ts');
    const told = await run(runner, [
      ...['--import', 'tsx', program, join(place, 'bridge.js'), ...urls],
    ]);
    if (told === undefined) process.exitCode = 1;
    else process.stdout.write(told);
  }
  const told = await run(python, [join(root, 'tests/verify/clients_python.py'), ...urls]);
  if (told === undefined) process.exitCode = 1;
  else process.stdout.write(told);
  await openAi.close();
  await anthropic.close();
  process.stdout.write(`${((performance.now() - since) / 1_000).toFixed(0)} s\n`);
} else {
  process.stdout.write('Skipped: the clients could not be installed from the registries.\n');
}
