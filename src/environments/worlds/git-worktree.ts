import { constants } from 'node:fs';
import { appendFile, cp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { EspalierError } from '../../base/errors.ts';
import { expectOptions } from '../../base/expect-options.ts';
import type { JsonValue } from '../../contracts/json.ts';
import { placeIn, statusOf } from './confined.ts';
import { type Folder, folderAt } from './folder.ts';
import { type GitPlace, git, resolved } from './git.ts';
import { type GitChanges, publishCommit, unpublishCommit } from './git-publish.ts';
import { temporaryFolder } from './leftovers.ts';
import type { Entry, FileChange } from './publishing.ts';

/** A repository that is searched in copies. */
export interface GitWorktreeOptions {
  /** The repository, or a folder in it. Nothing is written to it before a commit, and nothing to its `.git`. */
  readonly repository: string;
  /** Folders that git does not know and programs need, such as `node_modules`; they are copied once. @defaultValue none */
  readonly copy?: readonly string[];
  /** The branch that a commit makes. @defaultValue none: a commit goes on the branch that is checked out */
  readonly branch?: string;
  /** Puts a sandbox around programs, such as bubblewrap or a container. @defaultValue none: they run as this user */
  readonly wrap?: (command: readonly string[]) => readonly string[];
}

/**
 * Opens copies of a repository as it is at its HEAD: what was not committed is not seen. The copies share its objects,
 * and leave no trace in it. A snapshot is a tree of git, without the files that are ignored.
 *
 * A commit of the search is one commit on top of HEAD, with its files in the checkout: only where HEAD and these files
 * are as they were, and wholly or not at all, after a `recover` that follows a kill.
 *
 * @throws EspalierError `usage` of a repository with submodules, or with filters such as those of LFS.
 */
export function gitWorktree(options: GitWorktreeOptions): () => Promise<Folder> {
  expectOptions('gitWorktree', options, 'repository copy branch wrap');
  const { repository, copy = [], branch, wrap } = options;
  return async () => {
    const original = await placeOf(repository);
    const base = await resolved(original, 'HEAD^{commit}');
    if (base === undefined) {
      throw new EspalierError('usage', `\`${repository}\` has no commit yet. Make one first.`);
    }
    await expectPlain(original, base);
    const folder = await temporaryFolder();
    const tree = join(folder, 'files');
    const clone: GitPlace = { tree, directory: join(tree, '.git') };
    const from = ['clone', '--quiet', '--shared', '--no-checkout', '--no-tags'];
    await git(undefined, [...from, '--', original.tree, tree]);
    // A push would reach the original.
    await git(clone, ['remote', 'remove', 'origin']);
    await git(clone, ['config', 'core.autocrlf', 'false']);
    for (const path of copy) await copyOver(original.tree, tree, path);
    const excluded = copy.map((path) => `/${path}\n`).join('');
    await appendFile(join(clone.directory, 'info/exclude'), excluded);
    const closed = new AbortController();
    const rules = { hidden: ['.git'], unlisted: copy, signal: closed.signal, wrap };
    const identity = { original, base, branch };
    return {
      ...folderAt(tree, rules),
      ...waysBack(clone, base, copy),
      changes: async () => (await changesOf(clone, identity)) as unknown as JsonValue,
      publish: (changes, { signal }) =>
        publishCommit(changes as unknown as GitChanges, clone, signal),
      diff: (changes) => diffOf(clone, changes as unknown as GitChanges),
      unpublish: (changes) => unpublishCommit(changes as unknown as GitChanges),
      async close() {
        closed.abort(new Error('The worktree was closed.'));
        await rm(folder, { recursive: true, force: true, maxRetries: 3 });
      },
    };
  };
}

/** Where a repository is. */
async function placeOf(repository: string): Promise<GitPlace> {
  const args = ['-C', repository, 'rev-parse', '--show-toplevel', '--absolute-git-dir'];
  try {
    const [tree = '', directory = ''] = (await git(undefined, args)).split('\n');
    return { tree, directory };
  } catch (cause) {
    if (EspalierError.isInstance(cause)) throw cause;
    const message = `\`${repository}\` is no checkout of a git repository. Name one as \`repository\`.`;
    throw new EspalierError('usage', message, { cause });
  }
}

/** Refuses what a copy would not hold as the checkout does. */
async function expectPlain(original: GitPlace, base: string): Promise<void> {
  const entries = (await git(original, ['ls-tree', '-r', '-z', '--full-tree', base])).split('\0');
  if (entries.some((entry) => entry.startsWith('160000 '))) {
    throw new EspalierError('usage', `\`${original.tree}\` has submodules, which are not copied.`);
  }
  const paths = entries.map((entry) => entry.split('\t')[1] ?? '');
  for (const path of paths.filter((each) => /(^|\/)\.gitattributes$/.test(each))) {
    const attributes = await git(original, ['cat-file', 'blob', `${base}:${path}`]);
    if (!/\bfilter=/.test(attributes)) continue;
    throw new EspalierError(
      'usage',
      `\`${path}\` of \`${original.tree}\` names a filter, such as that of LFS, which is not run for copies.`,
    );
  }
}

async function copyOver(original: string, tree: string, path: string): Promise<void> {
  const [from, to] = [await placeIn(original, path), await placeIn(tree, path)];
  if ((await statusOf(from)) === undefined) {
    throw new EspalierError('usage', `There is no \`${path}\` in \`${original}\` to be copied.`);
  }
  await cp(from, to, { recursive: true, mode: constants.COPYFILE_FICLONE, verbatimSymlinks: true });
}

/** Trees of git as snapshots. */
function waysBack(clone: GitPlace, base: string, copy: readonly string[]) {
  const bringTo = async (tree: string): Promise<void> => {
    // A program may have been killed in the middle of git.
    await rm(join(clone.directory, 'index.lock'), { force: true });
    await git(clone, ['update-ref', '--no-deref', 'HEAD', base]);
    await git(clone, ['read-tree', tree]);
    await git(clone, ['checkout-index', '--all', '--force', '--quiet']);
    const kept = copy.flatMap((path) => ['--exclude', `/${path}`]);
    await git(clone, ['clean', '-ffdxq', ...kept]);
  };
  const snapshot = () => treeOf(clone);
  return {
    reset: () => bringTo(base),
    snapshot,
    restore: (tree: JsonValue) => bringTo(String(tree)),
    fingerprint: snapshot,
  };
}

/** How the files stand, as a tree of git. */
async function treeOf(clone: GitPlace): Promise<string> {
  await rm(join(clone.directory, 'index.lock'), { force: true });
  await git(clone, ['add', '--all']);
  return git(clone, ['write-tree']);
}

/** What a commit would change. The same files make the same commit: its time is that of the one before. */
function diffOf(clone: GitPlace, { base, target }: GitChanges): Promise<string> {
  return git(clone, ['diff', '--no-color', '--no-ext-diff', '--no-textconv', base, target]);
}

async function changesOf(
  clone: GitPlace,
  {
    original,
    base,
    branch,
  }: {
    readonly original: GitPlace;
    readonly base: string;
    readonly branch: string | undefined;
  },
): Promise<GitChanges> {
  const tree = await treeOf(clone);
  const date = await git(original, ['show', '--no-patch', '--format=%cI', base]);
  const [name, email] = await Promise.all([
    git(original, ['config', 'user.name']).catch(() => 'espalier'),
    git(original, ['config', 'user.email']).catch(() => 'espalier@localhost'),
  ]);
  const people = ['AUTHOR', 'COMMITTER'].flatMap((role) => [
    [`GIT_${role}_NAME`, name],
    [`GIT_${role}_EMAIL`, email],
    [`GIT_${role}_DATE`, date],
  ]);
  const message = ['-m', 'Take over what espalier has found'];
  const target = await git(clone, ['commit-tree', tree, '-p', base, ...message], {
    env: Object.fromEntries(people) as Readonly<Record<string, string>>,
  });
  const raw = ['diff-tree', '-r', '-z', '--raw', '--no-renames', '--no-abbrev', base, target];
  const files = changesIn(await git(clone, raw));
  return { ...{ original, base, target, files }, ...(branch !== undefined && { branch }) };
}

/** Reads what `git diff-tree --raw -z` writes. */
function changesIn(raw: string): readonly FileChange[] {
  const parts = raw.split('\0');
  const files: FileChange[] = [];
  for (let at = 0; at + 1 < parts.length; at += 2) {
    const [modeBefore = '', modeAfter = '', before = '', after = ''] = (parts[at] ?? '')
      .slice(1)
      .split(' ');
    files.push({
      path: parts[at + 1] ?? '',
      before: entryOf(modeBefore, before),
      after: entryOf(modeAfter, after),
    });
  }
  return files;
}

function entryOf(mode: string, hash: string): Entry | null {
  if (mode === '000000') return null;
  if (mode === '100644' || mode === '100755' || mode === '120000') return { mode, hash };
  throw new Error('A repository lies within the worktree. Remove it before a commit.');
}
