/**
 * Every code block of the guides on datasets and training, run as it stands there, one after the other in one folder: the
 * commands of the shell against emulated servers, TypeScript compiled and run. With `--python` those of Python and YAML
 * too, by the trainers that `make -C training trainers` installs; without it they are skipped.
 *
 *     node --import tsx tests/verify/guides.ts [--python <program> --llama-factory <its packages>] [--why <reason>]
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { type AddressInfo, connect, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { basename, delimiter, join } from 'node:path';
import { env, execPath } from 'node:process';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { emulator } from '../../src/testing/index.ts';
import { answerOfGuides, writeGuideFiles } from '../support/guide-world.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const trainers = join(root, 'training/verify');
const { values } = parseArgs({
  options: {
    python: { type: 'string' },
    'llama-factory': { type: 'string' },
    why: { type: 'string', default: 'run by make -C training trainers' },
  },
});

/** A block, and where it stands. */
interface Block {
  readonly at: string;
  readonly language: string;
  readonly text: string;
}

function blocksOf(guide: string): readonly Block[] {
  const text = readFileSync(join(root, guide), 'utf8');
  return [...text.matchAll(/^```(\w*)\n(.*?)^```$/gms)].map(
    ({ index, 1: language = '', 2: code = '' }) => ({
      at: `${basename(guide)}:${text.slice(0, index).split('\n').length + 1}`,
      language,
      text: code,
    }),
  );
}

/** How long a block may take, in milliseconds. */
const timeout = 300_000;

type Ran = readonly [code: number | null, output: string];

async function run(
  program: string,
  args: readonly string[],
  more: NodeJS.ProcessEnv = {},
): Promise<Ran> {
  const child = spawn(program, args, {
    cwd: folder,
    timeout,
    env: { ...env, ...surroundings, ...more },
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (piece) => (output += String(piece)));
  const code = await new Promise<number | null>((resolve) => {
    child.once('close', resolve);
    child.once('error', () => resolve(null));
  });
  return [code, output];
}

/** The port that the guides name, where it is free: blocks that name it are led to another one else. */
async function listen(url: string): Promise<number> {
  const { port } = new URL(url);
  const server = createServer((socket) => {
    const onward = connect(Number(port), '127.0.0.1');
    socket.pipe(onward).pipe(socket);
    for (const each of [socket, onward]) each.on('error', () => socket.destroy());
  }).unref();
  server.listen(8000, '127.0.0.1');
  const isFree = await once(server, 'listening').then(
    () => true,
    () => false,
  );
  if (!isFree) await once(server.listen(0, '127.0.0.1'), 'listening');
  return (server.address() as AddressInfo).port;
}

/** Runs a block, or says in a sentence why not. */
type Runner = (file: string) => Promise<Ran> | string;

const llamaFactory = values['llama-factory'];
const runners: Readonly<Record<string, Runner>> = {
  sh: (file) => run('bash', ['-euo', 'pipefail', file]),
  ts: async (file) => {
    const compiled = await run(execPath, [
      join(root, 'node_modules/typescript/bin/tsc'),
      ...['-p', 'tsconfig.json'],
    ]);
    if (compiled[0] !== 0) return compiled;
    return run(execPath, ['--import', import.meta.resolve('tsx'), file]);
  },
  python: (file) =>
    values.python === undefined ? values.why : run(values.python, ['-W', 'ignore', file]),
  yaml: (file) => {
    if (values.python === undefined) return values.why;
    if (llamaFactory === undefined) return 'LLaMA-Factory could not be installed';
    const path = [llamaFactory, trainers].join(delimiter);
    return run(values.python, [join(trainers, 'guide_yaml.py'), file], { PYTHONPATH: path });
  },
};

const extensions: Readonly<Record<string, string>> = { python: 'py' };

/** What a newcomer has: a clone of the package, a model, and what the guides say to copy. */
async function prepare(): Promise<void> {
  writeFileSync(join(folder, 'package.json'), JSON.stringify({ type: 'module' }));
  mkdirSync(join(folder, 'node_modules/.bin'), { recursive: true });
  // As npm links the program of an installed package, for npx.
  const program = `#!/bin/sh\nexec node ${JSON.stringify(join(root, 'dist/cli/main.js'))} "$@"\n`;
  writeFileSync(join(folder, 'node_modules/.bin/espalier'), program, { mode: 0o755 });
  symlinkSync(root, join(folder, 'node_modules/espalier'), 'dir');
  const compilerOptions = {
    // As who installs the package: against what is built.
    customConditions: [],
    isolatedDeclarations: false,
    typeRoots: [join(root, 'node_modules/@types')],
  };
  const config = { extends: join(root, 'tsconfig.json'), compilerOptions, include: ['*.ts'] };
  writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify(config));
  for (const name of ['recipes.py', 'qwen_style.jinja'])
    copyFileSync(join(trainers, name), join(folder, name));
  mkdirSync(join(folder, 'model'));
  copyFileSync(join(trainers, 'qwen_style.jinja'), join(folder, 'model/chat_template.jinja'));
  writeGuideFiles(folder);
  if (values.python === undefined) return;
  const [code, output] = await run(values.python, [join(trainers, 'guide_model.py'), 'model']);
  if (code !== 0) throw new Error(output);
}

const folder = mkdtempSync(join(tmpdir(), 'espalier-guides-'));
const vllm = await emulator({ dialect: 'vllm', models: ['emulated'], answer: answerOfGuides });
const anthropic = await emulator({
  dialect: 'anthropic',
  models: ['claude-haiku-5-5'],
  answer: answerOfGuides,
});
const port = await listen(vllm.url);
const surroundings = {
  ANTHROPIC_API_KEY: 'emulated',
  ANTHROPIC_BASE_URL: anthropic.url,
  // Nothing of the machine, such as an accelerator, changes what the blocks do.
  ACCELERATE_USE_CPU: 'true',
  HF_HUB_OFFLINE: '1',
  HF_HOME: join(folder, '.cache'),
};
const counts = { ran: 0, failed: 0 };
const blocks = ['docs/guides/datasets.md', 'docs/guides/training.md'].flatMap(blocksOf);
try {
  await prepare();
  for (const [place, { at, language, text }] of blocks.entries()) {
    const file = join(folder, `block-${place + 1}.${extensions[language] ?? language}`);
    writeFileSync(file, text.replaceAll('localhost:8000', `localhost:${port}`));
    const started = performance.now();
    const ran = await (runners[language]?.(file) ??
      `nothing runs ${language || 'blocks without a language'}`);
    if (typeof ran === 'string') {
      process.stdout.write(`skipped ${at} ${language}: ${ran}\n`);
      continue;
    }
    const [code, output] = ran;
    counts.ran += 1;
    counts.failed += code === 0 ? 0 : 1;
    const seconds = ((performance.now() - started) / 1000).toFixed(1);
    process.stdout.write(`${code === 0 ? 'ok     ' : 'FAILED '} ${at} ${language}, ${seconds} s\n`);
    if (code !== 0) process.stdout.write(`${output.trimEnd()}\n`);
  }
  for (const name of readdirSync(join(folder, 'data'))) {
    const card = readFileSync(join(folder, 'data', name, 'README.md'), 'utf8');
    if (/^[1-9]\d* rows? made by/m.test(card)) continue;
    counts.failed += 1;
    process.stdout.write(`FAILED  the dataset data/${name} has no rows\n`);
  }
} finally {
  rmSync(folder, { recursive: true, force: true });
  await vllm.close();
  await anthropic.close();
}
process.stdout.write(
  `guides: ${counts.ran} of ${blocks.length} blocks run, ${counts.failed} failed\n`,
);
if (counts.failed > 0) process.exitCode = 1;
