import { execFileSync } from 'node:child_process';
import { linkSync, mkdtempSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { type Folder, fileSystem } from '../../../src/environments/index.ts';
import { inOwnTemporaryFolder } from './own-temporary-folder.ts';
import { processesWith, removeAll, userFolder } from './user-folder.ts';

inOwnTemporaryFolder();

const root = userFolder();
const outside = mkdtempSync(join(tmpdir(), 'outside-'));
const secret = join(outside, 'secret.txt');
let folder: Folder;

beforeAll(async () => {
  writeFileSync(secret, 'secret');
  folder = await fileSystem({ root })();
  symlinkSync(outside, join(folder.root, 'out'));
  symlinkSync('out', join(folder.root, 'further'));
  symlinkSync(secret, join(folder.root, 'file-out'));
  symlinkSync('../../../../../../nowhere', join(folder.root, 'dangling'));
  symlinkSync('circle', join(folder.root, 'circle'));
  symlinkSync('docs', join(folder.root, 'within'));
  execFileSync('mkfifo', [join(folder.root, 'pipe')]);
});
afterAll(async () => {
  await folder.close?.();
  removeAll(root, outside);
});

describe('a path in a folder', () => {
  const ways = [
    ...[
      '..',
      '../secret.txt',
      'docs/../../secret.txt',
      '/etc/passwd',
      'docs//guide.md',
      './sum.js',
    ],
    ...['', '.', 'docs/', 'C:\\secret.txt', 'docs\\..\\..\\secret.txt', 'sum.js\0.txt', '..\\x'],
    ...['out/secret.txt', 'further/secret.txt', 'file-out', 'dangling', 'dangling/x', 'circle'],
    ...['out/new.txt', 'within/../../x', 'circle/x', `/${'x'.repeat(5_000)}`],
  ];

  test.each(ways)('cannot leave it: %j', async (path) => {
    await expect(folder.read(path)).rejects.toThrow(/below the folder|leads out/);
    await expect(folder.write(path, 'mine')).rejects.toThrow(/below the folder|leads out/);
    const isLink = ['file-out', 'dangling', 'circle'].includes(path);
    if (!isLink) await expect(folder.remove(path)).rejects.toThrow(/below the folder|leads out/);
    expect(readFileSync(secret, 'utf8')).toBe('secret');
  });

  test.each([null, 7, {}, ['sum.js']])('is a text, and not %j', async (path) => {
    await expect(folder.read(path as never)).rejects.toThrow('Expected a path below the folder');
  });

  test.each(['sum.js/z', 'x'.repeat(230), 'x'.repeat(300), 'docs'])(
    'that cannot be written is named within the folder: %.9s',
    async (path) => {
      const error: unknown = await folder.write(path, 'text').catch((thrown) => thrown);
      expect(error).toMatchObject({ message: expect.stringContaining(`\`${path}\`: `) });
      // The place and the temporary name of a copy are random.
      expect(error).toMatchObject({ message: expect.not.stringMatching(/espalier|[0-9a-f]{8}-/) });
    },
  );

  test('may be a link that stays within', async () => {
    expect(await folder.read('within/guide.md')).toBe('# Guide\n');
    await folder.write('README.md', '# Read me\n');
    expect(await folder.read('docs/guide.md')).toBe('# Read me\n');
    await folder.write('within/new/deep.md', 'Deep.');
    expect(await folder.list()).toContain('docs/new/deep.md');
  });

  test('that is a hard link leaves the other name as it was', async () => {
    linkSync(secret, join(folder.root, 'hard'));
    await folder.write('hard', 'mine');
    expect(readFileSync(secret, 'utf8')).toBe('secret');
    expect(await folder.read('hard')).toBe('mine');
  });

  test('is told of where it is no file, and nobody waits for a pipe', async () => {
    await expect(folder.read('pipe')).rejects.toThrow('`pipe`: It is not a file.');
    await expect(folder.write('pipe', 'x')).rejects.toThrow('`pipe`: It is not a file.');
    await expect(folder.read('docs')).rejects.toThrow('`docs`: ');
    await expect(folder.write('docs', 'x')).rejects.toThrow('`docs`: It is not a file.');
    await expect(folder.read('none.txt')).rejects.toThrow(/^`none.txt`: ENOENT/);
    await expect(folder.write('sum.js/x', 'x')).rejects.toThrow('`sum.js/x`: ');
    await expect(folder.read('none.txt')).rejects.not.toThrow(folder.root);
  });

  test('that is removed takes a link with it, and not what that leads to', async () => {
    symlinkSync(secret, join(folder.root, 'bait'));
    await folder.remove('bait');
    expect(readFileSync(secret, 'utf8')).toBe('secret');
    expect(await folder.list()).not.toContain('bait');
  });

  test('keeps its mode when it is written', async () => {
    await folder.write('check.sh', '#!/bin/sh\nexit 3\n');
    expect((await folder.run(['./check.sh'])).code).toBe(3);
  });
});

describe('a program in a folder', () => {
  const node = (program: string, options = {}) =>
    folder.run([process.execPath, '-e', program], options);

  test('says what it writes, and how it ends', async () => {
    expect(await folder.run(['cat', 'docs/old/notes.md'])).toEqual({ code: 0, output: 'Old.\n' });
    expect(await node('console.error("no"); process.exit(4)')).toEqual({ code: 4, output: 'no\n' });
    const none = await folder.run(['no-such-program-7']);
    expect(none).toEqual({ code: null, output: '[spawn no-such-program-7 ENOENT]' });
  });

  test('is no shell, and is told no secret', async () => {
    expect((await folder.run(['echo', '$HOME; ls'])).output).toBe('$HOME; ls\n');
    vi.stubEnv('SOME_API_KEY', 'sk-secret');
    const { output } = await folder.run(['env'], { env: { MORE: 'told' } });
    vi.unstubAllEnvs();
    expect(output).toContain('MORE=told');
    expect(output).not.toContain('sk-secret');
  });

  test('is ended at the limit of time', async () => {
    const { code, output } = await node('console.log("begun"); setInterval(() => {}, 1000)', {
      timeoutMs: 1_500,
    });
    expect({ code, output }).toEqual({ code: null, output: 'begun\n[ended after 1500 ms]' });
  });

  test('is cut where it writes too much, in the middle', async () => {
    const { code, output } = await node(
      'process.stdout.write("a".repeat(25e6)); process.stdout.write("b".repeat(25e6))',
      { maxOutput: 100 },
    );
    expect(code).toBe(0);
    expect(output).toBe(`${'a'.repeat(50)}\n[… 49999900 bytes left out …]\n${'b'.repeat(50)}`);
  });

  test('takes with it whatever it has started', async () => {
    const started = ['sleep 98701 &', 'setsid sleep 98702 &', '(setsid sleep 98703 &)', ''].join(
      '\n',
    );
    const began = performance.now();
    const { code, output } = await folder.run(['sh', '-c', `${started} echo done`]);
    expect({ code, output }).toEqual({ code: 0, output: 'done\n' });
    expect(performance.now() - began).toBeLessThan(30_000);
    expect(processesWith('sleep 9870')).toEqual([]);
  });

  test('ends with the signal, and with the folder', async () => {
    const signal = AbortSignal.timeout(300);
    await expect(folder.run(['sleep', '98704'], { signal })).rejects.toThrow('timeout');
    const other = await fileSystem({ root })();
    const running = other.run(['sleep', '98705']);
    const ended = expect(running).rejects.toThrow('The folder was closed.');
    await other.close?.();
    await ended;
    expect(processesWith('sleep 98704')).toEqual([]);
    expect(processesWith('sleep 98705')).toEqual([]);
  });
});

describe('what a program starts', () => {
  test.each([
    ['in its group', 'env -i sleep 98731 &'],
    ['in a session of its own', 'env -i setsid sleep 98731 > /dev/null 2>&1 &'],
    ['twice removed', '(env -i setsid setsid sleep 98731 > /dev/null 2>&1 < /dev/null &);'],
    ['with other variables of ours', 'ESPALIER_OWNER= ESPALIER_RUN= setsid sleep 98731 &'],
    [
      'started again and again',
      'env -i setsid sh -c "while :; do setsid sleep 98731 & sleep 0.01; done" &',
    ],
  ])('takes with it what has cleared its environment: %s', async (_, script) => {
    const { output } = await folder.run(['sh', '-c', `${script} sleep 0.3; echo done`]);
    expect(output).toBe('done\n');
    expect(processesWith('sleep 98731')).toEqual([]);
  });

  test('may have a sandbox put around it', async () => {
    const wrap = (command: readonly string[]) => ['echo', 'instead of', ...command];
    const wrapped = await fileSystem({ root, wrap })();
    expect((await wrapped.run(['rm', '-rf', '/'])).output).toBe('instead of rm -rf /\n');
    await wrapped.close?.();
    const told: string[] = [];
    const other = await fileSystem({
      root,
      wrap(command, writable) {
        told.push(writable);
        return command;
      },
    })();
    expect((await other.run(['pwd'])).output).toBe(`${told[0]}\n`);
    await other.close?.();
  });
});
