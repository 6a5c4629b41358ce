// Bundles src/ into dist/: a file for each export, the command line and the programs of threads, what they share in chunks,
// the types of each export in one file, and the model of the package, compressed. Types are checked by `npm run types`, and
// not here.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { rolldown } from 'rolldown';
import { dts } from 'rolldown-plugin-dts';

/** What is started by its path, and imported by nobody. */
const programs = [
  'cli/main',
  'backends/tiny/worker',
  'bench/tasks/python-worker',
  'bench/tasks/sandbox-worker',
  'data/audit/parquet-worker',
  'base/platform/node',
  'base/platform/browser',
];

/** Small parts of packages whose whole would be slow to load: they are taken into the bundle. */
const inlined = ['zod/mini', 'zod/locales', '@noble/hashes/sha2.js'];

/** Writes a build of the package in `root` to the folder `dist`. */
export async function bundle(root, dist) {
  const manifest = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
  const packages = Object.keys({ ...manifest.dependencies, ...manifest.peerDependencies });
  const external = (id) =>
    id.startsWith('node:') ||
    id === '#platform' ||
    (!inlined.includes(id) && packages.some((name) => id === name || id.startsWith(`${name}/`)));

  const exported = Object.values(manifest.exports)
    .filter((target) => target['espalier-source'] !== undefined)
    .map((target) => target['espalier-source'].replace(/^\.\/src\/(.*)\.ts$/, '$1'));
  const inputs = (names) =>
    Object.fromEntries(names.map((name) => [name, join(root, `src/${name}.ts`)]));
  const common = { cwd: root, external, logLevel: 'silent' };
  const output = { dir: dist, format: 'esm' };

  const code = await rolldown({
    ...common,
    input: inputs([...exported, ...programs]),
    platform: 'node',
    transform: { target: 'es2023' },
  });
  await code.write({
    ...output,
    chunkFileNames: 'chunks/[name].js',
    minify: true,
    sourcemap: true,
  });
  const types = await rolldown({
    ...common,
    input: inputs(exported),
    plugins: [
      dts({ emitDtsOnly: true, oxc: true, sourcemap: false, tsconfig: 'tsconfig.build.json' }),
    ],
  });
  await types.write({ ...output, chunkFileNames: 'types/[name].js' });
  const model = readFileSync(join(root, 'models/tiny.gguf'));
  writeFileSync(join(dist, 'tiny.gguf.gz'), gzipSync(model, { level: 9 }));
}
