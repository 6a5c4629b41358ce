import { execFile } from 'node:child_process';
import { parse } from 'node:path';
import { EspalierError } from '../../base/errors.ts';
import { sentenceOf } from '../../base/failure.ts';
import { plainVariables } from './run-program.ts';

/** The folders that git works in. */
export interface GitPlace {
  /** The folder of files. */
  readonly tree: string;
  /** The git folder: given explicitly, because git might find one further up. */
  readonly directory: string;
  /** Whether to ignore the settings of the user and of the system. */
  readonly isOwn?: true;
}

/** Options of a git command. */
export interface GitOptions {
  /** Its standard input. */
  readonly input?: string | undefined;
  /** Further variables, such as another index. */
  readonly env?: Readonly<Record<string, string>>;
}

/** Nothing of a repository or of the system is run or changed beyond the request. */
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

/** The output of git. @throws Error with its error output */
export function gitBytes(
  place: GitPlace | undefined,
  args: readonly string[],
  { input = '', env = {} }: GitOptions = {},
): Promise<Buffer> {
  const at = place && [`--git-dir=${place.directory}`, `--work-tree=${place.tree}`];
  const settings = quiet.flatMap((setting) => ['-c', setting]);
  const options = {
    // Not the folder of the files: with a relative folder in `PATH`, a `git` put there by a program would be run.
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
  const message = 'Expected the program `git` to be installed. Install it, or use `fileSystem`.';
  return new EspalierError('usage', message, { cause });
}

/** The output of git as text, without its final line break. */
export async function git(
  place: GitPlace | undefined,
  args: readonly string[],
  options: GitOptions = {},
): Promise<string> {
  return (await gitBytes(place, args, options)).toString().replace(/\n$/, '');
}

/** The parts of git's output with `-z`. */
export async function gitParts(
  place: GitPlace,
  args: readonly string[],
  options: GitOptions = {},
): Promise<readonly string[]> {
  return (await gitBytes(place, args, options)).toString().split('\0').slice(0, -1);
}

/** The text before the first tab of a line of git, and the path after it, which may contain further tabs. */
export function toldOf(line: string): { readonly told: string; readonly path: string } {
  const at = line.indexOf('\t');
  return { told: line.slice(0, at), path: line.slice(at + 1) };
}

/** Paths in the form that git reads with `-z --stdin`. */
export function pathList(paths: readonly string[]): string {
  return paths.map((path) => `${path}\0`).join('');
}

/** The object that a name refers to; `undefined` if there is none. */
export async function resolved(place: GitPlace, name: string): Promise<string | undefined> {
  try {
    return await git(place, ['rev-parse', '--verify', '--quiet', '--end-of-options', name]);
  } catch {
    return undefined;
  }
}
