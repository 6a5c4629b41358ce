import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { afterAll, vi } from 'vitest';
import { runCli } from '../../src/cli/program.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const main = 'dist/cli/main.js';

/** What a finished process left. */
export interface Finished {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** The process of a command, and what it will have left. */
export interface Running {
  readonly process: ChildProcess;
  readonly finished: Promise<Finished>;
}

/** Builds the command line if needed, as `npm run espalier` does. */
export async function build(): Promise<void> {
  const { code, stderr } = await run(process.execPath, ['scripts/espalier.js', '--version'])
    .finished;
  if (code !== 0) throw new Error(stderr);
}

/** Starts the built command line. */
export function start(...args: readonly string[]): Running {
  return run(process.execPath, [main, ...args]);
}

/** Runs the command line to its end, in this process: one command after the other, as all write to one output. */
export function espalier(...args: readonly string[]): Promise<Finished> {
  const finished = before.then(() => runHere(args));
  before = finished.catch(() => undefined);
  return finished;
}

let before: Promise<unknown> = Promise.resolve();

async function runHere(args: readonly string[]): Promise<Finished> {
  const written = { stdout: '', stderr: '' };
  const spies = (['stdout', 'stderr'] as const).map((stream) =>
    vi.spyOn(process[stream], 'write').mockImplementation((text) => {
      written[stream] += String(text);
      return true;
    }),
  );
  const listening = process.listeners('SIGINT');
  try {
    return { code: await runCli(args), ...written };
  } finally {
    for (const spy of spies) spy.mockRestore();
    for (const listener of process.listeners('SIGINT')) {
      if (!listening.includes(listener)) process.off('SIGINT', listener);
    }
  }
}

/** Runs a command of the shell in which the command line comes first. */
export function shell(command: string): Promise<Finished> {
  return run('sh', ['-c', `node ${main} ${command}`]).finished;
}

function run(program: string, args: readonly string[]): Running {
  const child = spawn(program, args, { cwd: root, stdio: ['ignore', 'pipe', 'pipe'] });
  return { process: child, finished: finish(child) };
}

async function finish(child: ChildProcess): Promise<Finished> {
  const { stdout, stderr } = child;
  if (stdout === null || stderr === null) throw new Error('Expected pipes.');
  const [[code], output, errors] = await Promise.all([
    once(child, 'close') as Promise<[number | null]>,
    text(stdout),
    text(stderr),
  ]);
  return { code, stdout: output, stderr: errors };
}

/** A folder that is gone after the tests of the file. */
export function temporaryFolder(): string {
  const path = mkdtempSync(join(tmpdir(), 'espalier-cli-'));
  afterAll(() => rmSync(path, { recursive: true, force: true }));
  return path;
}

/** Resolves when the search of a run folder has begun. */
export async function untilRunning(run: string): Promise<void> {
  while (!existsSync(join(run, 'run.json'))) await sleep(20);
}

/** Writes a file and returns its path. */
export function fileIn(folder: string, name: string, content: string): string {
  const path = join(folder, name);
  writeFileSync(path, content);
  return path;
}

/** A board whose search takes far longer than any test. */
export const endless: readonly string[] = [
  'search',
  ...['--task', 'tiles', '--input', '14 15 8 12 / 10 11 9 13 / 2 6 5 1 / 3 7 4 0'],
  ...['--simulations', '100000000'],
];

/** A Blocksworld problem of two steps. */
export const pddl = `(define (problem small)
  (:domain blocksworld-4ops)
  (:objects a b)
  (:init (handempty) (ontable a) (ontable b) (clear a) (clear b))
  (:goal (and (on a b))))
`;
