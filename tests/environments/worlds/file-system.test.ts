import { rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { fileSystem } from '../../../src/environments/index.ts';
import { actCall } from './model-world.ts';
import { inOwnTemporaryFolder } from './own-temporary-folder.ts';
import { change, everything, givenUp, killEverywhere, put, userFolder } from './user-folder.ts';

inOwnTemporaryFolder();

const given = givenUp();

async function opened(options = {}) {
  const root = given.root(userFolder());
  const create = fileSystem({ root, ...options });
  return { root, folder: await given.copy(create), create };
}

describe('a copy of a folder', () => {
  test('is brought back to snapshots and to its start', async () => {
    const { root, folder } = await opened();
    const before = everything(root);
    const start = await folder.fingerprint?.();
    expect(everything(folder.root)).toEqual(before);
    await change(folder);
    const changed = everything(folder.root);
    const print = await folder.fingerprint?.();
    expect(print).not.toBe(start);
    const kept = await folder.snapshot?.();
    await folder.remove('docs');
    await folder.restore?.(kept ?? null);
    expect(everything(folder.root)).toEqual(changed);
    expect(await folder.fingerprint?.()).toBe(print);
    await folder.reset?.(actCall());
    expect(everything(folder.root)).toEqual(before);
    expect(everything(root)).toEqual(before);
    await folder.forget?.(kept ?? null);
  });

  test('leaves out what is to be ignored, also where it comes up later', async () => {
    const root = given.root(userFolder());
    put(root, 'node_modules/a/index.js', 'a');
    put(root, 'docs/node_modules/b.js', 'b');
    put(root, 'data/large.bin', 'c');
    const folder = await given.copy(
      fileSystem({ root, ignore: ['node_modules', 'data/large.bin'] }),
    );
    const all = ['README.md', 'check.sh', 'docs/guide.md', 'docs/old/notes.md', 'sum.js'];
    expect(await folder.list()).toEqual(all);
    await folder.write('node_modules/x.js', 'x');
    expect(await folder.changes?.()).toBeUndefined();
  });

  test.each(['data/', './data', './data//', 'data'])('leaves out `%s`', async (ignored) => {
    const root = given.root(userFolder());
    put(root, 'data/large.bin', 'c');
    put(root, 'd', 'd');
    const folder = await given.copy(fileSystem({ root, ignore: [ignored] }));
    const all = ['README.md', 'check.sh', 'd', 'docs/guide.md', 'docs/old/notes.md', 'sum.js'];
    expect(await folder.list()).toEqual(all);
  });

  test.each(['../x', '/abs', '', './', 'a//b'])(
    'is refused where `%s` is to be ignored',
    (path) => {
      expect(() => fileSystem({ root: '.', ignore: ['data', path] })).toThrow(
        /^Expected `ignore\[1\]` to be a name or a path below the folder/,
      );
    },
  );

  test.each<[unknown, string]>([
    ['data', '`ignore` to be an array'],
    [[5], '`ignore[0]` to be a text'],
  ])('is refused where what is to be ignored is %j', (ignore, message) => {
    expect(() => fileSystem({ root: '.', ignore: ignore as never })).toThrow(message);
  });

  test('is refused where there is no folder', async () => {
    await expect(fileSystem({ root: '/no/such/folder' })()).rejects.toThrow('There is no folder');
    expect(() => fileSystem({ rot: '.' } as never)).toThrow('Did you mean `root`?');
  });
});

describe('a folder', () => {
  test('becomes as the copy is when that is published, and as it was when that is taken back', async () => {
    const { root, folder } = await opened();
    const before = everything(root);
    await change(folder);
    const changes = (await folder.changes?.()) ?? null;
    expect(JSON.parse(JSON.stringify(changes))).toEqual(changes);
    expect(everything(root)).toEqual(before);
    await folder.unpublish?.(changes, actCall());
    expect(everything(root)).toEqual(before);
    await folder.publish?.(changes, actCall());
    expect(everything(root)).toEqual(everything(folder.root));
    // Once more is no more.
    await folder.publish?.(changes, actCall());
    expect(everything(root)).toEqual(everything(folder.root));
  });

  test('is told of what would be published, and of nothing else', async () => {
    const { folder } = await opened();
    await change(folder);
    await folder.write('two\nlines', 'x');
    writeFileSync(join(folder.root, 'two\\nlines'), 'xy');
    const changes = (await folder.changes?.()) ?? null;
    await expect(folder.diff?.(changes)).resolves.toBe(
      [
        'M README.md (link to docs/guide.md → link to sum.js)',
        'M check.sh (17 bytes, mode 755 → 17 bytes, mode 644)',
        'A docs/old (26 bytes, mode 644)',
        'D docs/old/notes.md (5 bytes, mode 644)',
        'A src/new/deep.js (4 bytes, mode 644)',
        'M sum.js (36 bytes, mode 644 → 36 bytes, mode 644)',
        'A two\\nlines (1 bytes, mode 644)',
        'A two\\\\nlines (2 bytes, mode 644)',
        'A src/',
        'A src/new/',
        'D docs/old/',
        '',
      ].join('\n'),
    );
  });

  test('is wholly published or not at all, wherever a kill comes', async () => {
    const { root, folder, create } = await opened();
    await change(folder);
    expect(await killEverywhere(folder, create, () => everything(root))).toBeGreaterThan(8);
    expect(everything(root)).toEqual(everything(folder.root));
  });
});

describe('a folder of a user who works on', () => {
  test('is not touched where the user has changed it meanwhile, or put something in the way', async () => {
    const spoil: Readonly<Record<string, (root: string) => void>> = {
      'sum.js': (root) => writeFileSync(join(root, 'sum.js'), 'mine\n'),
      'src/new/deep.js': (root) => put(root, 'src/new/deep.js', 'in the way\n'),
      'check.sh': (root) => rmSync(join(root, 'check.sh')),
      'README.md': (root) => {
        rmSync(join(root, 'README.md'));
        symlinkSync('/etc/passwd', join(root, 'README.md'));
      },
    };
    for (const [path, act] of Object.entries(spoil)) {
      const { root, folder } = await opened();
      await change(folder);
      const changes = (await folder.changes?.()) ?? null;
      act(root);
      const mine = everything(root);
      await expect(folder.publish?.(changes, actCall())).rejects.toMatchObject({
        code: 'stale',
        message: expect.stringContaining(`\`${path}\``),
      });
      expect(everything(root)).toEqual(mine);
    }
  });

  test('is not written behind a link that was put in the way', async () => {
    const { root, folder } = await opened();
    const elsewhere = given.root(userFolder());
    await folder.write('src/new.js', 'new\n');
    const changes = (await folder.changes?.()) ?? null;
    symlinkSync(elsewhere, join(root, 'src'));
    const theirs = everything(elsewhere);
    await expect(folder.publish?.(changes, actCall())).rejects.toThrow('have changed');
    expect(everything(elsewhere)).toEqual(theirs);
  });
});
