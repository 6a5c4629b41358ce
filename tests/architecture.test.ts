import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { expect, test } from 'vitest';

const source = join(import.meta.dirname, '../src');

/** Which layers a layer may import from, besides itself. */
const allowed: Readonly<Record<string, readonly string[]>> = {
  spec: [],
  tree: ['spec'],
  runtime: ['spec'],
  search: ['spec', 'tree', 'runtime'],
  policies: ['spec', 'runtime'],
  values: ['spec', 'runtime'],
  memory: ['spec', 'runtime'],
  environments: ['spec', 'runtime'],
  backends: ['spec', 'runtime'],
  data: ['spec', 'tree', 'runtime'],
  testing: ['spec', 'runtime', 'tree', 'search'],
  methods: [
    'spec',
    'runtime',
    'tree',
    'search',
    'policies',
    'values',
    'memory',
    'environments',
    'data',
  ],
  runs: ['spec', 'runtime', 'tree', 'search', 'policies', 'values', 'environments', 'data'],
  bench: [
    'spec',
    'runtime',
    'tree',
    'search',
    'policies',
    'values',
    'environments',
    'methods',
    'runs',
    'testing',
  ],
  cli: [
    'spec',
    'runtime',
    'tree',
    'search',
    'policies',
    'values',
    'environments',
    'memory',
    'backends',
    'data',
    'methods',
    'runs',
    'bench',
  ],
};

const files = readdirSync(source, { recursive: true, encoding: 'utf8' }).filter(
  (file) => file.endsWith('.ts') && file !== 'index.ts',
);

test('every folder of src is a layer of the table', () => {
  const folders = new Set(files.map((file) => file.split('/')[0]));
  expect([...folders].filter((folder) => !(String(folder) in allowed))).toEqual([]);
});

test.each(Object.keys(allowed))('%s imports only what lies below it', (layer) => {
  const wrong = files
    .filter((file) => file.startsWith(`${layer}/`))
    .flatMap((file) => importsOf(file).map((target) => ({ file, target })))
    .filter(({ target }) => {
      const [below = ''] = target.split('/');
      return below !== layer && !allowed[layer]?.includes(below);
    });
  expect(wrong).toEqual([]);
});

/** The files of src that a file imports, types included. */
function importsOf(file: string): readonly string[] {
  const text = readFileSync(join(source, file), 'utf8');
  return [...text.matchAll(/from '(\.[^']+)'|import\('(\.[^']+)'\)/g)].map((match) =>
    relative(source, join(source, dirname(file), match[1] ?? match[2] ?? '')),
  );
}
