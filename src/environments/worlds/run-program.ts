import { type ChildProcess, type SpawnOptions, spawn } from 'node:child_process';
import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { accessSync, constants } from 'node:fs';
import { delimiter, isAbsolute, resolve } from 'node:path';
import { withDeadline } from '../../base/deadline.ts';
import { messageOf } from '../../base/failure.ts';
import { endOrphans, marked, markOf, owner, ownerVariable } from './leftovers.ts';

/** Limits of a program. */
export interface RunOptions {
  /** The timeout, in milliseconds. @defaultValue 60,000 */
  readonly timeoutMs?: number;
  /** The bytes of output kept: the first half and the last. @defaultValue 65,536 */
  readonly maxOutput?: number;
  /** Variables of its environment, besides `PATH`, `HOME`, `LANG` and `TMPDIR`. @defaultValue none */
  readonly env?: Readonly<Record<string, string>>;
  /** Kills the program. */
  readonly signal?: AbortSignal | undefined;
}

/** The result of a program. */
export interface Ran {
  /** Its exit code; `null` if it was killed. */
  readonly code: number | null;
  /** Its standard output and standard error, in order of arrival. */
  readonly output: string;
}

/** A running program, with everything that it starts. */
export interface Program {
  readonly child: ChildProcess;
  /**
   * Ends it with everything that it has started: its process group, and on Linux also processes that have left the
   * group and the session and cleared their environment. Only a sandbox stops processes that others start on its
   * behalf, such as system services.
   *
   * @returns whether nothing is left, after trying for two seconds.
   */
  end(): Promise<boolean>;
}

/** Starts a program, without a shell, in its own process group. It inherits no variable that may be a secret. */
export function startProgram(
  command: readonly string[],
  { env: told, ...options }: Pick<SpawnOptions, 'cwd' | 'stdio'> & Pick<RunOptions, 'env'>,
): Program {
  const env = { ...plainVariables(), ...told, [ownerVariable]: owner };
  const mark = randomInt(2 ** 47, 2 ** 48 - 1);
  const [program = '', ...args] = canMark(command, String(options.cwd ?? '.'), env)
    ? marked(command, mark)
    : command;
  const child = spawn(program, args, { ...options, env, detached: true });
  const endGroup = (): void => {
    try {
      if (child.pid !== undefined) process.kill(-child.pid, 'SIGKILL');
    } catch {
      // It has already ended.
    }
  };
  let hasExited = false;
  // Its number may later belong to another process.
  child.once('exit', () => {
    hasExited = true;
    endGroup();
  });
  return {
    child,
    async end() {
      if (!hasExited) endGroup();
      return (await endOrphans((pid) => markOf(pid) === String(mark))).isDone;
    },
  };
}

/** Whether the program exists: the system reports a missing one better than a shell. */
function canMark(
  [program = '']: readonly string[],
  cwd: string,
  env: Readonly<Record<string, string>>,
): boolean {
  if (process.platform !== 'linux' || program === '' || program.startsWith('-')) return false;
  const folders = program.includes('/') ? [''] : (env['PATH'] ?? '').split(delimiter);
  return folders.some((folder) => {
    try {
      accessSync(resolve(cwd, folder, program), constants.X_OK);
      return true;
    } catch {
      return false;
    }
  });
}

/** Runs a program until it ends or reaches its limits; nothing that it has started remains. */
export async function runProgram(
  command: readonly string[],
  { cwd, ...options }: RunOptions & { readonly cwd: string },
): Promise<Ran> {
  const { timeoutMs = 60_000, maxOutput = 65_536, env = {} } = options;
  const { signal = new AbortController().signal } = options;
  signal.throwIfAborted();
  const program = startProgram(command, { cwd, env, stdio: ['ignore', 'pipe', 'pipe'] });
  const { child, end } = program;
  const output = new CutOutput(maxOutput);
  for (const stream of [child.stdout, child.stderr]) {
    stream?.on('data', (chunk: Buffer) => output.add(chunk));
  }
  try {
    const code = await withDeadline(signal, timeoutMs, () => endOf(child));
    const isDone = await end();
    await written(child);
    return { code, output: `${output.text()}${isDone ? '' : stillThere}` };
  } catch (error) {
    const isDone = await end();
    if (signal.aborted) throw signal.reason;
    await written(child);
    const isLate = error instanceof DOMException && error.name === 'TimeoutError';
    const why = isLate ? `ended after ${timeoutMs} ms` : messageOf(error);
    return { code: null, output: `${output.text()}[${why}]${isDone ? '' : stillThere}` };
  } finally {
    child.stdout?.destroy();
    child.stderr?.destroy();
  }
}

const stillThere = '[the processes that it started could not be killed]';

function endOf(child: ChildProcess): Promise<number | null> {
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('exit', (code) => resolve(code));
  });
}

/** Waits for the output written before its end. A process that has left the group may keep the output open forever. */
async function written({ stdout, stderr }: ChildProcess): Promise<void> {
  const never = new AbortController().signal;
  const ends = [stdout, stderr].map(async (stream) => {
    if (stream?.readableEnded === false) await once(stream, 'close');
  });
  await withDeadline(never, 500, () => Promise.all(ends)).catch(() => {});
}

/** The variables needed to find programs. */
export function plainVariables(): Readonly<Record<string, string>> {
  const names = ['PATH', 'HOME', 'LANG', 'TMPDIR', 'SystemRoot'];
  // biome-ignore lint/style/noProcessEnv: whoever starts a program passes an environment on
  const env = process.env;
  const found = Object.fromEntries(
    names.flatMap((name) => (env[name] ? [[name, env[name]]] : [])),
  ) as Record<string, string>;
  // A branch may have put a program into a relative folder, and the sandbox is the first program to run.
  const folders = found['PATH']?.split(delimiter).filter(isAbsolute);
  return { ...found, ...(folders && { PATH: folders.join(delimiter) }) };
}

/** The first and the last bytes of an output, in bounded memory. */
class CutOutput {
  readonly #half: number;
  readonly #head: Buffer[] = [];
  #headBytes = 0;
  #tail: Buffer[] = [];
  #tailBytes = 0;
  #left = 0;

  constructor(limit: number) {
    this.#half = Math.max(1, Math.ceil(limit / 2));
  }

  add(chunk: Buffer): void {
    const first = chunk.subarray(0, this.#half - this.#headBytes);
    if (first.length > 0) this.#head.push(Buffer.from(first));
    this.#headBytes += first.length;
    const rest = chunk.subarray(first.length);
    if (rest.length === 0) return;
    this.#tail.push(Buffer.from(rest.subarray(-this.#half)));
    this.#left += rest.length - Math.min(rest.length, this.#half);
    this.#tailBytes += Math.min(rest.length, this.#half);
    if (this.#tailBytes > 2 * this.#half || this.#tail.length > 1_000) this.#cut();
  }

  text(): string {
    this.#cut();
    const [head, tail] = [this.#head, this.#tail].map((parts) => Buffer.concat(parts).toString());
    return this.#left === 0
      ? `${head}${tail}`
      : `${head}\n[… ${this.#left} bytes left out …]\n${tail}`;
  }

  #cut(): void {
    const all = Buffer.concat(this.#tail);
    const tail = all.subarray(-this.#half);
    this.#left += all.length - tail.length;
    this.#tail = [Buffer.from(tail)];
    this.#tailBytes = tail.length;
  }
}
