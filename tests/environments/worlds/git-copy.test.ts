import { execFileSync } from 'node:child_process';
import {
  appendFileSync,
  chmodSync,
  existsSync,
  readFileSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { type Folder, gitWorktree } from '../../../src/environments/index.ts';
import { actCall } from './model-world.ts';
import { inOwnTemporaryFolder } from './own-temporary-folder.ts';
import { everything, givenUp, inGit, put, userRepository } from './user-folder.ts';

inOwnTemporaryFolder();

const given = givenUp();

/** A repository with more files in it, and a copy. */
async function opened(files: Readonly<Record<string, string>> = {}, options = {}) {
  const root = given.root(userRepository());
  for (const [path, text] of Object.entries(files)) put(root, path, text);
  inGit(root, 'add', '--all');
  inGit(root, 'commit', '--quiet', '--allow-empty', '-m', 'More');
  // As git would check them out.
  inGit(root, 'rm', '--quiet', '--cached', '-r', '.');
  inGit(root, 'reset', '--quiet', '--hard');
  const folder = await given.copy(gitWorktree({ repository: root, ...options }));
  return { root, folder };
}

async function publish(folder: Folder): Promise<void> {
  await folder.publish?.((await folder.changes?.()) ?? null, actCall());
}

/** Says what ran outside of a sandbox that is no more than a variable. */
async function sandboxed() {
  const wrap = (command: readonly string[]) => ['env', 'SANDBOX=in', ...command];
  const { root, folder } = await opened({}, { wrap });
  const told = `${root}.ran`;
  writeFileSync(told, '');
  given.root(told);
  const spy = given.root(`${root}.spy`);
  writeFileSync(spy, `#!/bin/sh\necho "ran $SANDBOX" >> ${told}; cat\n`, { mode: 0o755 });
  const sh = (script: string) => folder.run(['sh', '-c', script]);
  const ranOutside = () => /^ran $/m.test(readFileSync(told, 'utf8'));
  return { root, folder, spy, sh, ranOutside };
}

describe('a program in a copy', () => {
  const settings = [
    'git config filter.e.clean "$SPY"; git config filter.e.smudge "$SPY"; echo "* filter=e" > .gitattributes',
    'git config core.fsmonitor "$SPY"; git config core.sshCommand "$SPY"; git config core.pager "$SPY"',
    'printf "#!/bin/sh\\n$SPY\\n" > .git/hooks/post-index-change; chmod +x .git/hooks/*; git config core.hooksPath "$PWD/.git/hooks"',
    'printf "[filter \\"e\\"]\\nclean = \\"$SPY\\"\\n" > evil; git config include.path "$PWD/evil"; echo "* filter=e" > .gitattributes',
    'git config diff.e.textconv "$SPY"; git config diff.external "$SPY"; echo "* diff=e" > .gitattributes',
    'mkdir -p .git/info; echo "* filter=e" > .git/info/attributes; git config filter.e.clean "$SPY"',
    'rm -rf .git; mkdir -p at; git init -q --separate-git-dir=at/x .; git config filter.e.process "$SPY"; echo "* filter=e" > .gitattributes',
  ];
  test.each(settings)('has nothing run outside of its sandbox: %s', async (script) => {
    const { folder, root, spy, sh, ranOutside } = await sandboxed();
    const before = everything(root);
    const settle = `mkdir -p .git/hooks; SPY="${spy}"; ${script}; echo more >> sum.js`;
    await sh(settle);
    // Refused or not: nothing is run.
    const tried = async (act?: () => unknown) => {
      try {
        return (await act?.()) as string;
      } catch {
        return undefined;
      }
    };
    const kept = await tried(folder.snapshot);
    await tried(folder.changes);
    await folder.reset?.(actCall());
    await folder.restore?.(kept ?? (await folder.snapshot?.()) ?? null);
    expect(ranOutside()).toBe(false);
    expect(everything(root)).toEqual(before);
  });

  test('has nothing run by a repository of its own in a subfolder', async () => {
    const { folder, sh, spy, ranOutside } = await sandboxed();
    const identity = '-c user.name=a -c user.email=a@b';
    await sh(
      `mkdir sub; cd sub; git init -q; echo 1 > x; git add x; git ${identity} commit -qm x; git config filter.e.clean "${spy}"; git config core.fsmonitor "${spy}"; echo "* filter=e" > .gitattributes; echo 2 >> x`,
    );
    for (let look = 0; look < 2; look++) {
      await expect(folder.snapshot?.()).rejects.toThrow('git repository within the worktree');
      await sh('echo 3 >> sub/x');
    }
    expect(ranOutside()).toBe(false);
  });

  test('decides nothing about the programs of a user', async () => {
    const { folder, root, spy } = await sandboxed();
    inGit(root, 'config', 'filter.mine.clean', spy);
    await folder.write('.gitattributes', '*.js filter=mine\n');
    await folder.write('sum.js', 'changed\n');
    await expect(folder.changes?.()).rejects.toThrow('`sum.js` of the branch goes through');
  });

  test('finds a `.git` of its own, which is as at the start in each branch', async () => {
    const { folder, root } = await opened();
    const git = async (...args: string[]) => (await folder.run(['git', ...args])).output.trim();
    await folder.write('sum.js', 'changed\n');
    await folder.write('new.js', 'new\n');
    expect(await git('status', '--porcelain')).toBe('M sum.js\n?? new.js');
    expect(await git('diff', '--name-only')).toBe('sum.js');
    expect(await git('rev-parse', 'HEAD')).toBe(inGit(root, 'rev-parse', 'HEAD'));
    const kept = await folder.snapshot?.();
    await git('-c', 'user.name=a', '-c', 'user.email=a@b', 'commit', '-qam', 'mine');
    await git('config', 'some.key', 'mine');
    await folder.restore?.(kept ?? null);
    expect(await git('config', 'some.key')).toBe('');
    expect(await git('status', '--porcelain')).toBe('M sum.js\n?? new.js');
    await folder.run(['rm', '-rf', '.git']);
    await folder.reset?.(actCall());
    expect(await git('status', '--porcelain')).toBe('');
  });
});

describe('a filter of a user', () => {
  test.each(['set', 'unset', 'unspecified'])('that is called `%s` is not run', async (name) => {
    const { folder, root, spy, ranOutside } = await sandboxed();
    inGit(root, 'config', `filter.${name}.clean`, spy);
    inGit(root, 'config', `filter.${name}.smudge`, spy);
    await folder.write('.gitattributes', `*.js filter=${name}\n`);
    await folder.write('sum.js', 'changed\n');
    await expect(folder.changes?.()).rejects.toThrow('`sum.js` of the branch goes through');
    put(root, '.git/info/attributes', `sum.js filter=${name}\n`);
    await expect(gitWorktree({ repository: root })()).rejects.toThrow('through a filter');
    expect(ranOutside()).toBe(false);
  });

  test('is not run for a name that is not UTF-8', async () => {
    const { root } = await opened();
    const name = Buffer.from(`${root}/caf\xe9.bin`, 'latin1');
    writeFileSync(name, 'x');
    inGit(root, 'add', '--all');
    inGit(root, 'commit', '--quiet', '-m', 'Strange');
    inGit(root, 'config', 'filter.mine.smudge', `touch ${root}.smudged; cat`);
    writeFileSync(join(root, '.git/info/attributes'), 'caf\xe9.bin filter=mine\n', 'latin1');
    await expect(gitWorktree({ repository: root })()).rejects.toThrow('is not UTF-8');
    expect(existsSync(given.root(`${root}.smudged`))).toBe(false);
  });
});

describe('a repository in a subfolder of a copy', () => {
  test.each(['sub', 'docs'])('is refused, and gone in other branches: %s', async (at) => {
    const { folder } = await opened();
    const start = await folder.snapshot?.();
    await folder.run(['git', 'init', '-q', at]);
    await folder.write(`${at}/v`, 'of a branch');
    await expect(folder.snapshot?.()).rejects.toThrow(`in \`${at}/.git\``);
    await folder.reset?.(actCall());
    expect(existsSync(join(folder.root, at, '.git'))).toBe(false);
    expect(await folder.snapshot?.()).toBe(start);
  });

  test('is nobody’s business where git ignores it', async () => {
    const { folder } = await opened();
    const start = await folder.snapshot?.();
    await folder.run(['git', 'init', '-q', 'build/tool']);
    expect(await folder.snapshot?.()).toBe(start);
    await folder.reset?.(actCall());
    expect(existsSync(join(folder.root, 'build/tool'))).toBe(false);
  });
});

const utf16 = (text: string) => Buffer.from(text, 'utf16le').toString('latin1');

describe('bytes', () => {
  const attributes =
    '*.bat text eol=crlf\n*.t text eol=lf\n*.c ident\n*.u text working-tree-encoding=UTF-16LE eol=lf\n';
  const write = (folder: Folder, path: string, text: string) =>
    writeFileSync(join(folder.root, path), text, 'latin1');

  test('come back from snapshots as they were', async () => {
    const { folder } = await opened({ '.gitattributes': attributes, 'a.bat': 'x\r\n' });
    const texts = {
      'x.bat': 'a\nb\n',
      'y.t': 'a\r\nb\r\n',
      'z.c': '$Id: mine$\n',
      'odd.u': 'a',
      'u.u': utf16('h\n'),
      'a.bat': 'x\n',
    };
    for (const [path, text] of Object.entries(texts)) write(folder, path, text);
    const kept = await folder.snapshot?.();
    await folder.reset?.(actCall());
    expect(readFileSync(join(folder.root, 'a.bat'), 'latin1')).toBe('x\r\n');
    await folder.restore?.(kept ?? null);
    for (const [path, text] of Object.entries(texts)) {
      expect(readFileSync(join(folder.root, path), 'latin1')).toBe(text);
    }
  });

  test('are published as they are, and recorded as git does', async () => {
    const files = {
      '.gitattributes': attributes,
      'a.bat': 'x\r\ny\r\n',
      'a.c': '$Id$\n',
    };
    const { root, folder } = await opened(files);
    const before = everything(root, ['.git']);
    const changed = { 'a.bat': 'x\r\nz\r\n', 'a.c': '$Id$ 2\n', 'new.u': utf16('ho\n') };
    for (const [path, text] of Object.entries(changed)) write(folder, path, text);
    const changes = (await folder.changes?.()) ?? null;
    await folder.publish?.(changes, actCall());
    for (const [path, text] of Object.entries(changed)) {
      expect(readFileSync(join(root, path), 'latin1')).toBe(text);
    }
    const recorded = (path: string) =>
      execFileSync('git', ['-C', root, 'cat-file', 'blob', `HEAD:${path}`], { encoding: 'latin1' });
    expect(recorded('a.bat')).toBe('x\nz\n');
    expect(recorded('a.c')).toBe('$Id$ 2\n');
    expect(recorded('new.u')).toBe('ho\n');
    expect(inGit(root, 'status', '--porcelain')).toBe('');
    await folder.unpublish?.(changes, actCall());
    expect(everything(root, ['.git'])).toEqual(before);
  });

  test('are recorded by attributes that the branch has written', async () => {
    const { root, folder } = await opened();
    await folder.write('.gitattributes', '* text eol=crlf\n');
    write(folder, 'sum.js', 'one\r\ntwo\r\n');
    await publish(folder);
    expect(inGit(root, 'cat-file', 'blob', 'HEAD:sum.js')).toBe('one\ntwo');
    expect(inGit(root, 'status', '--porcelain', 'sum.js')).toBe('');
  });
});

describe('names and modes', () => {
  test('with tabs, newlines and quotes are published', async () => {
    const names = ['a\tb.txt', 'a\nb.txt', '-a', ':(top)x', '"q"', 'ü', '__proto__'];
    const { root, folder } = await opened(Object.fromEntries(names.map((name) => [name, '1'])));
    for (const name of names) await folder.write(name, '2');
    await folder.write('new\ttab', '2');
    await publish(folder);
    for (const name of [...names, 'new\ttab']) {
      expect(readFileSync(join(root, name), 'utf8')).toBe('2');
    }
    expect(inGit(root, 'status', '--porcelain')).toBe('');
  });

  test('that are not UTF-8 are refused before anything is done', async () => {
    const { root, folder } = await opened();
    const strange = (at: string) => writeFileSync(Buffer.from(`${at}/b\xff`, 'latin1'), 'x');
    strange(folder.root);
    await expect(folder.snapshot?.()).rejects.toThrow('is not UTF-8');
    await expect(folder.changes?.()).rejects.toThrow('is not UTF-8');
    await expect(folder.write('x\ud800', '1')).rejects.toThrow('Expected a path');
    strange(root);
    inGit(root, 'add', '--all');
    inGit(root, 'commit', '--quiet', '-m', 'Strange');
    await expect(gitWorktree({ repository: root })()).rejects.toThrow('is not UTF-8');
  });

  test('of modes the user’s are kept', async () => {
    const { root, folder } = await opened();
    chmodSync(join(root, 'sum.js'), 0o600);
    chmodSync(join(root, 'check.sh'), 0o700);
    await folder.write('sum.js', 'changed\n');
    await folder.run(['chmod', '-x', 'check.sh']);
    const changes = (await folder.changes?.()) ?? null;
    await folder.publish?.(changes, actCall());
    expect(statSync(join(root, 'sum.js')).mode & 0o777).toBe(0o600);
    expect(statSync(join(root, 'check.sh')).mode & 0o777).toBe(0o600);
    await folder.unpublish?.(changes, actCall());
    expect(statSync(join(root, 'sum.js')).mode & 0o777).toBe(0o600);
    expect(statSync(join(root, 'check.sh')).mode & 0o777).toBe(0o700);
  });

  test('of a branch are those that git takes', () => {
    const names = [
      ...['main', 'fix/range', 'refs/heads/q', 'a.b', 'ü', 'a{b', '@a', 'a@', 'a.lock.b', 'HEAD/x'],
      ...['-d', 'a..b', '../x', 'HEAD', '@', 'a b', 'x\ny', 'x\x7f', '', '/a', 'a/', 'a//b', 'a.'],
      ...['.a', 'a/.b', 'a.lock', 'a.lock/b', 'a@{b', 'a~', 'a^', 'a:b', 'a?', 'a*', 'a[', 'a\\b'],
    ];
    for (const branch of names) {
      const take = () => gitWorktree({ repository: '.', branch });
      let isTaken = true;
      try {
        execFileSync('git', ['check-ref-format', '--branch', branch], { stdio: 'ignore' });
      } catch {
        isTaken = false;
      }
      if (isTaken) expect(take).not.toThrow();
      else expect(take).toThrow('Expected `branch` to be the name of a branch');
    }
    expect(() => gitWorktree({ repository: '.', branch: 7 as never })).toThrow('`branch`');
  });

  test('that the user does not want to see are in no commit', async () => {
    const root = given.root(userRepository());
    const list = given.root(`${root}.ignored`);
    writeFileSync(list, '*.swp\n');
    inGit(root, 'config', 'core.excludesFile', list);
    appendFileSync(join(root, '.git/info/exclude'), '*.log\n');
    const folder = await given.copy(gitWorktree({ repository: root }));
    for (const path of ['sum.js', 'x.swp', 'y.log']) await folder.write(path, 'changed\n');
    expect(await folder.changes?.()).toMatchObject({ files: [{ path: 'sum.js' }] });
  });
});

test('what git ignores does not depend on what was there in between', async () => {
  const { folder } = await opened();
  await folder.write('x.log', 'x');
  await folder.snapshot?.();
  await folder.write('.gitignore', 'build/\n*.log\n');
  const one = await folder.snapshot?.();
  await folder.reset?.(actCall());
  await folder.write('.gitignore', 'build/\n*.log\n');
  await folder.write('x.log', 'x');
  expect(await folder.snapshot?.()).toBe(one);
});

test('what is copied beside the repository stays out of commits, whatever a branch ignores', async () => {
  const root = given.root(userRepository());
  for (const name of ['build', 'dep[1]']) put(root, `${name}/tool.txt`, 'tool');
  put(root, '.gitignore', 'build/\ndep*/\n');
  inGit(root, 'commit', '--quiet', '--all', '-m', 'Ignore more');
  const folder = await given.copy(gitWorktree({ repository: root, copy: ['build', 'dep[1]'] }));
  await folder.write('.gitignore', '!build\n!dep*\n');
  await folder.write('dep[1]/new.txt', 'new');
  expect(await folder.changes?.()).toMatchObject({ files: [{ path: '.gitignore' }] });
  await folder.reset?.(actCall());
  for (const name of ['build', 'dep[1]']) {
    expect(await folder.read(`${name}/tool.txt`)).toBe('tool');
  }
});
