import { mkdtemp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { type GitPlace, git, gitParts, pathList } from './git.ts';
import { filteredOf, type GitCopy, treeOf } from './git-copy.ts';
import type { Entry, FileChange } from './publishing.ts';

/** A commit to be published to a repository, as recorded before. */
export interface GitChanges {
  /** The repository. */
  readonly original: GitPlace;
  /** Its HEAD. */
  readonly base: string;
  /** The new HEAD. */
  readonly target: string;
  /** A commit after that, which keeps the bytes of all files before and after. */
  readonly held: string;
  /** The differences of the files. */
  readonly files: readonly FileChange[];
  /** The differences of the recorded entries. */
  readonly entries: readonly FileChange[];
  /** The branch to create instead of moving HEAD. */
  readonly branch?: string;
}

/** The changes that a commit would make. Equal files give equal commits: the time is that of the parent commit. */
export async function changesOf(copied: GitCopy, branch: string | undefined): Promise<GitChanges> {
  const { original, base, own, start } = copied;
  const now = await treeOf(copied);
  const files = await differing(own, start, now);
  const tree = await recorded(copied, files);
  const env = await peopleOf(original, base);
  const made = async (of: string, parent: string) =>
    git(own, ['commit-tree', of, '-p', parent, '-m', 'Take over what espalier has found'], { env });
  const target = await made(tree, base);
  const entries = await differing(own, base, target);
  const ends = pathList([`040000 tree ${now}\tafter`, `040000 tree ${start}\tbefore`]);
  const held = await made(await git(own, ['mktree', '-z'], { input: ends }), target);
  return {
    ...{ original: { tree: original.tree, directory: original.directory }, base, target, held },
    // If nothing would be recorded, the checkout need not change.
    files: entries.length === 0 ? [] : files,
    entries,
    ...(branch !== undefined && { branch }),
  };
}

/** The recorded changes, as a git diff. */
export function diffOf(own: GitPlace, { base, target }: GitChanges): Promise<string> {
  return git(own, ['diff', '--no-color', '--no-ext-diff', '--no-textconv', base, target]);
}

/** The author and the time of the commit. */
async function peopleOf(
  original: GitPlace,
  base: string,
): Promise<Readonly<Record<string, string>>> {
  const show = ['show', '--no-patch', '--no-show-signature', '--format=%cI', base];
  const date = await git(original, show);
  const [name, email] = await Promise.all([
    git(original, ['config', 'user.name']).catch(() => 'espalier'),
    git(original, ['config', 'user.email']).catch(() => 'espalier@localhost'),
  ]);
  const people = ['AUTHOR', 'COMMITTER'].flatMap((role) => [
    [`GIT_${role}_NAME`, name],
    [`GIT_${role}_EMAIL`, email],
    [`GIT_${role}_DATE`, date],
  ]);
  return Object.fromEntries(people) as Readonly<Record<string, string>>;
}

const isAttributes = ({ path }: FileChange) => /(^|\/)\.gitattributes$/.test(path);

/**
 * The tree that git would record: with line endings and encodings according to the attributes, including those written
 * by the branch. Filters are excluded, because a branch must not decide which programs run.
 */
async function recorded(
  { original, base, own }: GitCopy,
  files: readonly FileChange[],
): Promise<string> {
  // Attributes are read from the index, since this folder has no files.
  const tree = await mkdtemp(`${own.tree}-recorded-`);
  const env = {
    GIT_INDEX_FILE: join(own.directory, 'recorded'),
    GIT_OBJECT_DIRECTORY: join(own.directory, 'objects'),
  };
  const recording = { tree, directory: original.directory };
  const plain = files.filter((file) => !isAttributes(file));
  const paths = plain.map(({ path }) => path);
  await git(recording, ['read-tree', base], { env });
  await setEntries(recording, files.filter(isAttributes), { side: 'after', env });
  const filtered = await filteredOf(recording, paths, env);
  if (filtered !== undefined) {
    throw new Error(
      `\`${filtered}\` of the branch goes through a filter by its git attributes, and filters are not run for branches. Remove the attribute, or commit it manually.`,
    );
  }
  const kept = pathList(plain.flatMap(({ path, after }) => (after === null ? [] : path)));
  const write = ['checkout-index', '-z', '--stdin', '--quiet', `--prefix=${tree}/`];
  await git(own, write, { input: kept });
  const add = ['update-index', '--add', '--remove', '--replace', '-z', '--stdin'];
  await git(recording, add, { input: pathList(paths), env });
  await rm(tree, { recursive: true });
  return git(recording, ['write-tree'], { env });
}

/** Changes these entries of an index, and no others. */
export async function setEntries(
  place: GitPlace,
  files: readonly FileChange[],
  { side, env }: { readonly side: 'after' | 'before'; readonly env: Record<string, string> },
): Promise<void> {
  // A folder may have replaced a file, and vice versa.
  const removalsFirst = files.toSorted(
    (one, other) => Number(one[side] !== null) - Number(other[side] !== null),
  );
  const lines = removalsFirst.map((change) => {
    const { mode, hash } = change[side] ?? {
      mode: '0',
      hash: '0'.repeat(change.before?.hash.length ?? change.after?.hash.length ?? 40),
    };
    return `${mode} ${hash}\t${change.path}\0`;
  });
  const input = lines.join('');
  if (input !== '') await git(place, ['update-index', '-z', '--index-info'], { input, env });
}

/** The differences between two trees. */
async function differing(
  place: GitPlace,
  from: string,
  to: string,
): Promise<readonly FileChange[]> {
  const raw = ['diff-tree', '-r', '-z', '--raw', '--no-renames', '--no-abbrev', from, to];
  const parts = await gitParts(place, raw);
  const files: FileChange[] = [];
  for (let at = 0; at < parts.length; at += 2) {
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
  return mode === '000000' ? null : { mode, hash };
}
