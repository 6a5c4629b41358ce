/** `transformers serve`, with the model of this package in the format of Hugging Face. */
import { execFileSync, spawn } from 'node:child_process';
import { existsSync, mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { cache, freePort, root, say } from './packages.ts';

/** What `make -C training tiny` leaves: a Python with torch and transformers, and the model. */
const training = join(root, 'training/.venv');
/** The model. */
export const exported: string = join(root, 'training/tiny/build/hf');

/** A Python that has all of the other one, and what a server needs besides. */
const folder = join(cache, 'transformers');
const python = join(folder, 'bin/python');

/** Gets what is needed. Rejects with the reason where that cannot be. */
export async function prepareTransformers(): Promise<void> {
  if (
    !existsSync(join(training, 'bin/transformers')) ||
    !existsSync(join(exported, 'config.json'))
  ) {
    throw new Error('there is no trained model and no Python for it: run make -C training tiny');
  }
  if (!existsSync(python)) install();
  const version = execFileSync(python, [
    '-c',
    'import transformers; print(transformers.__version__)',
  ]);
  say(`transformers: ${version.toString().trim()}`);
}

function install(): void {
  say('Installing a server for transformers …');
  const partial = `${folder}.partial`;
  rmSync(partial, { recursive: true, force: true });
  mkdirSync(cache, { recursive: true });
  const theirs = join(training, 'bin/python');
  execFileSync(theirs, ['-m', 'venv', '--without-pip', partial]);
  const [purelib, own] = [theirs, join(partial, 'bin/python')].map((program) =>
    execFileSync(program, ['-c', "import sysconfig; print(sysconfig.get_paths()['purelib'])"])
      .toString()
      .trim(),
  );
  writeFileSync(join(own ?? '', 'training.pth'), `${purelib}\n`);
  const pip = ['-m', 'pip', '--python', join(partial, 'bin/python'), 'install', '--quiet'];
  const packages = ['fastapi', 'uvicorn', 'openai', 'pydantic', 'psutil'];
  const options = { stdio: ['ignore', 'ignore', 'inherit'] as const, timeout: 300_000 };
  execFileSync(theirs, [...pip, '--disable-pip-version-check', ...packages], {
    ...options,
    stdio: [...options.stdio],
  });
  // With what it depends on it would bring a gigabyte for GPUs.
  execFileSync(theirs, [...pip, '--disable-pip-version-check', '--no-deps', 'accelerate'], {
    ...options,
    stdio: [...options.stdio],
  });
  renameSync(partial, folder);
}

/** A server that runs. */
export interface TransformersServer {
  readonly url: string;
  stop(): Promise<void>;
}

/** Starts the server; resolves when the model is there. */
export async function startTransformers(): Promise<TransformersServer> {
  const port = await freePort();
  const program = join(training, 'bin/transformers');
  const args = [program, 'serve', exported, '--device', 'cpu', '--port', String(port)];
  const child = spawn(python, args, {
    stdio: ['ignore', 'pipe', 'pipe'],
    // Nothing is to be fetched.
    env: { ...ownEnvironment(), HF_HUB_OFFLINE: '1' },
  });
  let log = '';
  const kill = () => void child.kill('SIGKILL');
  process.once('exit', kill);
  const ended = new Promise<void>((resolve) => child.once('close', () => resolve()));
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (chunk: Buffer) => {
      log += chunk.toString();
    });
  }
  const url = `http://127.0.0.1:${port}`;
  const patience = new AbortController();
  const failed = ended.then(() =>
    Promise.reject(new Error(`The server ended:\n${log.slice(-2000)}`)),
  );
  try {
    await Promise.race([healthy(`${url}/health`, patience.signal), failed]);
  } finally {
    patience.abort();
    // From here on its end is no failure.
    failed.catch(() => {});
  }
  return {
    url,
    async stop() {
      process.off('exit', kill);
      child.kill('SIGKILL');
      await ended;
    },
  };
}

async function healthy(url: string, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    const health = await fetch(url).catch(() => undefined);
    if (health?.status === 200) return;
    await sleep(200);
  }
}

function ownEnvironment(): NodeJS.ProcessEnv {
  // biome-ignore lint/style/noProcessEnv: a child needs the path of its parent
  return process.env;
}
