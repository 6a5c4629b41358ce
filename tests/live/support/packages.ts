/** Packages of the npm registry that are no dependencies: large files for tests, fetched on demand. */
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  createReadStream,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  renameSync,
  rmSync,
} from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';

/** The root of the repository. */
export const root: string = join(import.meta.dirname, '../../..');

/** Where what was fetched is kept. Git ignores it. */
export const cache: string = join(root, '.tmp/live');

/** Says what is being done: it may take a while. */
export function say(line: string): void {
  process.stdout.write(`${line}\n`);
}

/** A package, pinned. */
export interface Package {
  readonly name: string;
  readonly version: string;
  /** The SHA-512 of the tarball, in base64, as the registry writes it. */
  readonly sha512: string;
}

/** The folder of a package; fetched where it is not there yet. Nothing in it is run. */
export async function fetched({ name, version, sha512 }: Package): Promise<string> {
  const folder = join(cache, `${name}-${version}`);
  if (existsSync(folder)) return folder;
  mkdirSync(cache, { recursive: true });
  const scratch = mkdtempSync(join(cache, 'fetch-'));
  try {
    say(`Fetching ${name}@${version} …`);
    const args = ['pack', `${name}@${version}`, '--silent', '--pack-destination', scratch];
    execFileSync('npm', args, { cwd: scratch, stdio: ['ignore', 'ignore', 'inherit'] });
    const tarball = join(scratch, readdirSync(scratch).find((file) => file.endsWith('.tgz')) ?? '');
    const found = await digest('sha512', [tarball], 'base64');
    if (found !== sha512) throw new Error(`${name}@${version} has the SHA-512 ${found}.`);
    const unpacked = join(scratch, 'unpacked');
    mkdirSync(unpacked);
    execFileSync('tar', ['xzf', tarball, '-C', unpacked, '--strip-components=1']);
    // It appears whole or not at all.
    renameSync(unpacked, folder);
    return folder;
  } finally {
    rmSync(scratch, { recursive: true, force: true });
  }
}

/** The digest of files, one after the other. */
export async function digest(
  algorithm: 'sha256' | 'sha512',
  files: readonly string[],
  encoding: 'base64' | 'hex',
): Promise<string> {
  const hash = createHash(algorithm);
  for (const file of files) {
    await pipeline(createReadStream(file), async (chunks: AsyncIterable<Buffer>) => {
      for await (const chunk of chunks) hash.update(chunk);
    });
  }
  return hash.digest(encoding);
}

/** A port that was free a moment ago, for servers that cannot choose one themselves. */
export async function freePort(): Promise<number> {
  const listener = createServer();
  await new Promise<void>((resolve) => listener.listen(0, '127.0.0.1', resolve));
  const address = listener.address();
  await new Promise((resolve) => listener.close(resolve));
  if (address === null || typeof address === 'string') throw new Error('There is no port.');
  return address.port;
}
