import { join } from 'node:path';
import { beforeAll, expect, test } from 'vitest';
import { seededRandom } from '../../src/runtime/index.ts';
import { temporaryFolder } from '../cli/espalier.ts';
import { flipsOf, runFiles, writeRun } from './run-folder-flips.ts';

const folder = temporaryFolder();
const run = join(folder, 'whole');
beforeAll(() => writeRun(run));

test.each(runFiles)('a flipped bit in %s is found out', (name) => {
  const random = seededRandom(`flipped in ${name}`);
  const flips = flipsOf(run, { name, count: 500, random });
  expect(flips).toMatchObject({ silent: 0 });
  expect(flips.refused).toBeGreaterThan(500);
});
