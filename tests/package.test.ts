import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';

const root = join(import.meta.dirname, '..');
const manifest = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
  readonly exports: Readonly<Record<string, string | Readonly<Record<string, string>>>>;
  readonly dependencies: Readonly<Record<string, string>>;
};

/** Everything that a module loads, directly and indirectly: files of ours, and names of other packages. */
function reach(entry: string, seen: Set<string> = new Set()): Set<string> {
  if (seen.has(entry)) return seen;
  seen.add(entry);
  if (!entry.startsWith('/')) return seen;
  const text = readFileSync(entry, 'utf8');
  for (const [, kind, specifier = ''] of text.matchAll(
    /^(?:import|export)\s+(type\s)?[^;]*?from '([^']+)'|^import '([^']+)'/gms,
  )) {
    if (kind !== undefined) continue;
    reach(specifier.startsWith('.') ? join(dirname(entry), specifier) : specifier, seen);
  }
  return seen;
}

test('each export has a source, and its built files are where the bundle puts them', () => {
  for (const [path, target] of Object.entries(manifest.exports)) {
    if (typeof target === 'string') continue;
    expect(existsSync(join(root, target['espalier-source'] ?? '')), path).toBe(true);
    const built = target['espalier-source']?.replace('./src/', './dist/').replace(/\.ts$/, '');
    expect(target['types'], path).toBe(`${built}.d.ts`);
    expect(target['default'], path).toBe(`${built}.js`);
  }
});

test('the root export loads neither a model SDK, nor node:http, nor the CLI', () => {
  const loaded = [...reach(join(root, 'src/index.ts'))];
  const packages = loaded.filter((name) => !name.startsWith('/'));
  const known = ['#platform', 'zod/locales', 'zod/mini'];
  expect(packages.toSorted()).toEqual(known);
  expect(loaded.filter((name) => name.includes('/src/cli/'))).toEqual([]);
});

test('the walk sees what is really loaded', () => {
  const loaded = reach(join(root, 'src/cli/demo.ts'));
  expect(loaded.has('node:fs')).toBe(true);
  expect(loaded.has(join(root, 'src/search/run.ts'))).toBe(true);
});
