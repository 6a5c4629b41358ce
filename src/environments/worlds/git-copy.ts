import { constants } from 'node:fs';
import { copyFile, cp, mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { EspalierError } from '../../base/errors.ts';
import { placeIn, statusOf } from './confined.ts';
import { filesBelow } from './folder.ts';
import { type GitPlace, git, gitParts, pathList } from './git.ts';

/** A copy of a repository. */
export interface GitCopy {
  readonly original: GitPlace;
  /** The commit that was copied. */
  readonly base: string;
  /** The files, with a separate git folder that programs do not see. */
  readonly own: GitPlace;
  /** The content of the `.git` in the files, for programs. */
  readonly shown: string;
  /** The checked-out files of the commit, as a tree of raw bytes. */
  readonly start: string;
  /** Folders in the copy that are not in the repository. */
  readonly copy: readonly string[];
}

/** Whatever attributes the files declare, they are stored byte by byte, and no filter program is run. */
const asBytes = '* -text -eol -ident -working-tree-encoding -filter !diff -merge\n';

/** Creates a copy in a folder. */
export async function openCopy({
  original,
  base,
  folder,
  copy,
}: Pick<GitCopy, 'base' | 'copy' | 'original'> & { readonly folder: string }): Promise<GitCopy> {
  const own = { tree: join(folder, 'files'), directory: join(folder, 'git'), isOwn: true } as const;
  const shown = join(folder, 'shown');
  await mkdir(own.tree);
  await begin(own, original, base);
  // As for its user: with the settings and attributes of the repository.
  const env = { GIT_INDEX_FILE: join(own.directory, 'index') };
  const checkout = { tree: own.tree, directory: original.directory };
  await git(checkout, ['read-tree', base], { env });
  await expectNoFilters(checkout, env);
  await git(checkout, ['checkout-index', '--all', '--force', '--quiet', '--index'], { env });
  for (const path of copy) await copyOver(original.tree, own.tree, path);
  await exclude(own, original, copy);
  await cp(own.directory, shown, { recursive: true });
  await writeFile(join(own.directory, 'info/attributes'), asBytes);
  await rm(env.GIT_INDEX_FILE);
  const copied = { original, base, own, shown, copy, start: '' };
  return { ...copied, start: await treeOf(copied) };
}

/** Attributes may be beside the files, in the git folder, and in the settings of the user. */
async function expectNoFilters(checkout: GitPlace, env: Record<string, string>): Promise<void> {
  const filtered = await filteredOf(
    checkout,
    await gitParts(checkout, ['ls-files', '-z'], { env }),
    env,
  );
  if (filtered === undefined) return;
  throw new EspalierError(
    'usage',
    `\`${filtered}\` goes through a filter by its git attributes, such as that of LFS, and filters are not run for copies. Remove the filter, or use \`fileSystem\`.`,
  );
}

/** The first of the paths with a filter, according to the attributes in an index and those of the user. */
export async function filteredOf(
  place: GitPlace,
  paths: readonly string[],
  env: Readonly<Record<string, string>>,
): Promise<string | undefined> {
  const ask = ['check-attr', '--cached', '-z', '--stdin', 'filter'];
  const told = await gitParts(place, ask, { input: pathList(paths), env });
  // The name of a filter may equal the text that git prints if there is none.
  const settings = await gitParts(place, ['config', '--list', '--name-only', '-z']);
  const none = ['unspecified', 'unset', 'set'].filter(
    (word) => !settings.some((name) => name.startsWith(`filter.${word}.`)),
  );
  const at = told.findIndex((value, index) => index % 3 === 2 && !none.includes(value));
  return told[at - 2];
}

/** Creates a separate repository with the objects of another one, without its settings. */
async function begin(own: GitPlace, original: GitPlace, base: string): Promise<void> {
  const format = await git(original, ['rev-parse', '--show-object-format']);
  const kind = ['--bare', '--template=', `--object-format=${format}`];
  await git(undefined, ['init', '--quiet', ...kind, own.directory]);
  await git(own, ['config', 'core.bare', 'false']);
  const objects = await pathOf(original, 'objects');
  const told = /^"|\n/.test(objects) ? JSON.stringify(objects) : objects;
  await writeFile(join(own.directory, 'objects/info/alternates'), `${told}\n`);
  const shallow = await pathOf(original, 'shallow');
  if ((await statusOf(shallow)) !== undefined) {
    await copyFile(shallow, join(own.directory, 'shallow'));
  }
  await git(own, ['update-ref', '--no-deref', 'HEAD', base]);
}

/** Files that the user has excluded must not get into commits either. */
async function exclude(own: GitPlace, original: GitPlace, copy: readonly string[]): Promise<void> {
  const asked = ['config', '--type=path', '--get', 'core.excludesFile'];
  const file = await git(original, asked).catch(() => '');
  if (file !== '') await git(own, ['config', 'core.excludesFile', file]);
  const theirs = await readFile(await pathOf(original, 'info/exclude'), 'utf8').catch(() => '');
  await mkdir(join(own.directory, 'info'), { recursive: true });
  const lines = copy.map((path) => `${patternOf(path)}\n`).join('');
  await writeFile(join(own.directory, 'info/exclude'), `${theirs}\n${lines}`);
}

/** A path as a pattern that matches nothing else. */
function patternOf(path: string): string {
  return `/${path.replace(/[\\[\]*? ]/g, '\\$&')}`;
}

/** The path of a repository's internal file. */
export function pathOf(place: GitPlace, name: string): Promise<string> {
  return git(place, ['rev-parse', '--path-format=absolute', '--git-path', name]);
}

async function copyOver(original: string, tree: string, path: string): Promise<void> {
  const [from, to] = [await placeIn(original, path), await placeIn(tree, path)];
  if ((await statusOf(from)) === undefined) {
    throw new EspalierError('usage', `There is no \`${path}\` in \`${original}\` to copy.`);
  }
  await cp(from, to, { recursive: true, mode: constants.COPYFILE_FICLONE, verbatimSymlinks: true });
}

/** Restores the files to a tree, and `.git` to its start. */
export async function bringTo({ own, shown, copy }: GitCopy, tree: string): Promise<void> {
  await unlock(own);
  for (const path of ['.git', ...(await repositoriesIn(own, copy, []))]) {
    await rm(join(own.tree, path), { recursive: true, force: true, maxRetries: 3 });
  }
  await git(own, ['read-tree', '--reset', '-u', tree]);
  await git(own, ['clean', '-ffdxq', ...copy.flatMap((path) => ['--exclude', patternOf(path)])]);
  await cp(shown, join(own.tree, '.git'), { recursive: true, preserveTimestamps: true });
}

/** The current files, as a tree of raw bytes. */
export async function treeOf({
  own,
  start,
  copy,
}: Pick<GitCopy, 'copy' | 'own' | 'start'>): Promise<string> {
  await unlock(own);
  // So that ignored files do not depend on earlier states.
  if (start !== '') await git(own, ['read-tree', '--reset', start]);
  const ignored = ['--others', '--ignored', '--exclude-standard', '--directory'];
  const unseen = await gitParts(own, ['ls-files', '-z', ...ignored]);
  const [found] = await repositoriesIn(own, copy, unseen);
  if (found !== undefined) {
    throw new Error(
      `There is a git repository within the worktree, in \`${found}\`. Remove it, or have git ignore its folder.`,
    );
  }
  await git(own, ['add', '--all']);
  // A `.gitignore` written by a branch takes precedence over our own list.
  const named = copy.map((path) => `:(top,literal)${path}`);
  const remove = ['rm', '-r', '--cached', '--quiet', '--ignore-unmatch', '--', ...named];
  if (named.length > 0) await git(own, remove);
  return git(own, ['write-tree']);
}

/** A program may have been killed while git was running. */
async function unlock(own: GitPlace): Promise<void> {
  await rm(join(own.directory, 'index.lock'), { force: true });
}

/** The `.git` folders below the files: git would treat their folders as submodules, and read their settings. */
async function repositoriesIn(
  own: GitPlace,
  copy: readonly string[],
  unseen: readonly string[],
): Promise<readonly string[]> {
  const leftOut = new Set(['.git', ...copy, ...unseen.map((path) => path.replace(/\/$/, ''))]);
  const files = await filesBelow(own.tree, (path) => leftOut.has(path));
  const found = files.flatMap((path) => /^.*?\/\.git(?=\/|$)/i.exec(path)?.[0] ?? []);
  return [...new Set(found)];
}
