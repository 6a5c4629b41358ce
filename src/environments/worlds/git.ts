import { execFile } from 'node:child_process';
import { parse } from 'node:path';
import { EspalierError } from '../../base/errors.ts';
import { sentenceOf } from '../../base/failure.ts';
import { plainVariables } from './run-program.ts';

/** Where git works. */
export interface GitPlace {
  /** The folder of files. */
  readonly tree: string;
  /** The folder of git: never looked for, or one above might be found. */
  readonly directory: string;
  /** Whether the settings of the user and of the system are left out. */
  readonly isOwn?: true;
}

/** How git is asked. */
export interface GitOptions {
  /** Told on its standard input. */
  readonly input?: string | undefined;
  /** Further variables, such as another index. */
  readonly env?: Readonly<Record<string, string>>;
}

/** Nothing of a repository or of the system is run or changed besides what is asked for. */
const quiet = [
  'core.hooksPath=/dev/null',
  'core.fsmonitor=false',
  'core.splitIndex=false',
  'core.sparseCheckout=false',
  'gc.auto=0',
  'maintenance.auto=false',
];

const noSettings = {
  GIT_CONFIG_NOSYSTEM: '1',
  GIT_CONFIG_GLOBAL: '/dev/null',
  GIT_ATTR_NOSYSTEM: '1',
};

/** What git writes to its output. @throws Error with what it writes to its errors */
export function gitBytes(
  place: GitPlace | undefined,
  args: readonly string[],
  { input = '', env = {} }: GitOptions = {},
): Promise<Buffer> {
  const at = place && [`--git-dir=${place.directory}`, `--work-tree=${place.tree}`];
  const settings = quiet.flatMap((setting) => ['-c', setting]);
  const options = {
    // Not the files: a `PATH` with a relative folder would find a `git` that a program has put there.
    ...(place && { cwd: parse(place.directory).root }),
    env: {
      ...plainVariables(),
      ...{ LC_ALL: 'C', GIT_TERMINAL_PROMPT: '0', GIT_OPTIONAL_LOCKS: '0' },
      ...(place?.isOwn && noSettings),
      ...env,
    },
    encoding: 'buffer',
    maxBuffer: 1 << 30,
  } as const;
  return new Promise((resolve, reject) => {
    const all = [...settings, ...(at ?? []), ...args];
    const child = execFile('git', all, options, (error, stdout, stderr) => {
      if (error === null) resolve(stdout);
      else if ('code' in error && error.code === 'ENOENT') reject(noGit(error));
      else
        reject(
          new Error(`git ${args[0]} failed: ${sentenceOf(stderr.toString() || error.message)}`),
        );
    });
    child.stdin?.on('error', () => {});
    child.stdin?.end(input);
  });
}

function noGit(cause: Error): EspalierError {
  const message = 'Expected the program `git` to be there. Install it, or use `fileSystem`.';
  return new EspalierError('usage', message, { cause });
}

/** What git writes, as a text without its end. */
export async function git(
  place: GitPlace | undefined,
  args: readonly string[],
  options: GitOptions = {},
): Promise<string> {
  return (await gitBytes(place, args, options)).toString().replace(/\n$/, '');
}

/** The parts of what git writes with `-z`. */
export async function gitParts(
  place: GitPlace,
  args: readonly string[],
  options: GitOptions = {},
): Promise<readonly string[]> {
  return (await gitBytes(place, args, options)).toString().split('\0').slice(0, -1);
}

/** What stands before the first tab of a line of git, and the path behind it, which may hold others. */
export function toldOf(line: string): { readonly told: string; readonly path: string } {
  const at = line.indexOf('\t');
  return { told: line.slice(0, at), path: line.slice(at + 1) };
}

/** Paths, as git reads them with `-z --stdin`. */
export function pathList(paths: readonly string[]): string {
  return paths.map((path) => `${path}\0`).join('');
}

/** What a name stands for; `undefined` where it stands for nothing. */
export async function resolved(place: GitPlace, name: string): Promise<string | undefined> {
  try {
    return await git(place, ['rev-parse', '--verify', '--quiet', '--end-of-options', name]);
  } catch {
    return undefined;
  }
}
