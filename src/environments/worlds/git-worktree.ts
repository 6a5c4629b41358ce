import { rm } from 'node:fs/promises';
import { EspalierError } from '../../base/errors.ts';
import { describeValue, expectText, expectTexts } from '../../base/expect.ts';
import { expectOptions } from '../../base/expect-options.ts';
import type { JsonValue } from '../../contracts/json.ts';
import { expectName, type Folder, folderAt } from './folder.ts';
import { type GitPlace, git, gitParts, resolved, toldOf } from './git.ts';
import { bringTo, openCopy, treeOf } from './git-copy.ts';
import { publishCommit, unpublishCommit } from './git-publish.ts';
import { changesOf, diffOf, type GitChanges } from './git-record.ts';
import { temporaryFolder } from './leftovers.ts';

/** Options of {@link gitWorktree}. */
export interface GitWorktreeOptions {
  /** The repository, or a folder in it. Before a commit, nothing is written to it or to its `.git`. */
  readonly repository: string;
  /** Untracked folders that programs need, such as `node_modules`; they are copied once. @defaultValue none */
  readonly copy?: readonly string[];
  /** The branch that a commit creates. @defaultValue none: commits go on the checked-out branch */
  readonly branch?: string;
  /**
   * Wraps the commands of programs in a sandbox, such as bubblewrap or a container, given the folder they must be able
   * to write.
   *
   * @defaultValue none: programs run as this user
   */
  readonly wrap?: (command: readonly string[], folder: string) => readonly string[];
}

/**
 * Opens copies of a repository at its HEAD, without uncommitted changes. The copies share its objects, and leave no
 * trace in it. A snapshot has the bytes of all files that are not ignored; like git, it has no empty folders, and of
 * file modes only the executable bit.
 *
 * Programs find a separate `.git` in a copy, so `git status` and `git diff` work. Changes to it end with the branch,
 * and nothing that programs write is ever run, or read as a setting, outside `wrap`.
 *
 * A commit of the search is one git commit on top of HEAD, with the files of the branch, provided that HEAD and these
 * files are unchanged. It is all or nothing, after a `recover` if there was a kill. Concurrent commits run one after
 * another; other git commands that change the index wait, or fail.
 *
 * @throws EspalierError `usage` for a repository with submodules, or with filtered files, such as those of LFS. A
 * branch fails if it has such files, a repository in a subfolder that is not ignored, or names that are not UTF-8.
 */
export function gitWorktree(options: GitWorktreeOptions): () => Promise<Folder> {
  expectOptions('gitWorktree', options, 'repository copy branch wrap');
  const { repository, copy = [], branch, wrap } = options;
  expectText('repository', repository);
  expectTexts('copy', copy);
  if (branch !== undefined) expectBranch(branch);
  return async () => {
    const original = await placeOf(repository);
    const base = await resolved(original, 'HEAD^{commit}');
    if (base === undefined) {
      throw new EspalierError('usage', `\`${repository}\` has no commit yet. Make one first.`);
    }
    await expectPlain(original, base);
    const folder = await temporaryFolder();
    const remove = () => rm(folder, { recursive: true, force: true, maxRetries: 3 });
    const copied = await openCopy({ original, base, folder, copy }).catch(async (error) => {
      await remove();
      throw error;
    });
    const closed = new AbortController();
    const rules = { hidden: ['.git'], unlisted: copy, signal: closed.signal, wrap };
    const snapshot = () => treeOf(copied);
    return {
      ...folderAt(copied.own.tree, rules),
      ...{ snapshot, fingerprint: snapshot },
      reset: () => bringTo(copied, copied.start),
      restore: (tree) => bringTo(copied, String(tree)),
      original: () => `${original.directory} ${base}`,
      async changes() {
        const changes = await changesOf(copied, branch);
        return changes.files.length === 0 ? undefined : (changes as unknown as JsonValue);
      },
      diff: (changes) => diffOf(copied.own, changes as unknown as GitChanges),
      publish: (changes, call) =>
        publishCommit(changes as unknown as GitChanges, copied.own.directory, call),
      unpublish: (changes, call) => unpublishCommit(changes as unknown as GitChanges, call),
      async close() {
        closed.abort(new Error('The worktree was closed.'));
        await remove();
      },
    };
  };
}

/** The rules of `git check-ref-format --branch`. */
function expectBranch(branch: unknown): void {
  const isName =
    typeof branch === 'string' &&
    branch !== 'HEAD' &&
    !/^$|^-|^\/|\/$|\.$|\/\/|\.\.|@\{|(^|\/)\.|\.lock(\/|$)|[\0- \x7f~^:?*[\\]/.test(branch);
  if (isName) return;
  throw new EspalierError(
    'usage',
    `Expected \`branch\` to be the name of a branch, such as \`fix/range\`, got ${describeValue(branch)}.`,
  );
}

/** The location of a repository. */
async function placeOf(repository: string): Promise<GitPlace> {
  const ask = (what: string) => git(undefined, ['-C', repository, 'rev-parse', what]);
  try {
    return { tree: await ask('--show-toplevel'), directory: await ask('--absolute-git-dir') };
  } catch (cause) {
    if (EspalierError.isInstance(cause)) throw cause;
    const message = `\`${repository}\` is not a checkout of a git repository. Give one as \`repository\`.`;
    throw new EspalierError('usage', message, { cause });
  }
}

/** Refuses files that a copy could not reproduce as in the checkout. */
async function expectPlain(original: GitPlace, base: string): Promise<void> {
  const list = ['ls-tree', '-r', '-z', '--full-tree', base];
  const entries = (await gitParts(original, list)).map(toldOf);
  // Git would be asked for the filters of wrong names.
  for (const { path } of entries) expectName(path);
  if (entries.some(({ told }) => told.startsWith('160000 '))) {
    throw new EspalierError('usage', `\`${original.tree}\` has submodules, which are not copied.`);
  }
}
