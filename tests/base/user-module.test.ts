import { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { expect, test } from 'vitest';
import { moduleRevision } from '../../src/base/user-module.ts';

const folder = mkdtempSync(join(tmpdir(), 'espalier-modules-'));
const gold = join(folder, 'gold.ts');
mkdirSync(join(folder, 'golden'));
writeFileSync(join(folder, 'golden', 'index.ts'), `export { gold } from '../gold.ts';`);

test.each([
  ['its own ending', `import { gold } from './gold.ts';`],
  ['the ending of what it becomes', `import { gold } from './gold.js';`],
  ['no ending', `import { gold } from './gold';`],
  ['the name of a folder', `import { gold } from './golden';`],
  ['an absolute path', `import { gold } from '${gold}';`],
  ['an address', `import { gold } from '${pathToFileURL(gold).href}';`],
  ['a template', 'const { gold } = await import(`./gold.ts`);'],
  ['require', `const { gold } = require('./gold.ts');`],
])('the revision of a module knows a file that it imports by %s', (_how, line) => {
  const path = join(folder, 'task.ts');
  writeFileSync(path, line);
  writeFileSync(gold, 'export const gold = 1;');
  const before = moduleRevision(path);
  expect(moduleRevision(path)).toBe(before);
  writeFileSync(gold, 'export const gold = 2;');
  expect(moduleRevision(path)).not.toBe(before);
});
