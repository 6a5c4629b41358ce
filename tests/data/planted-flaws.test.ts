import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { goodSets, type SetName } from './good-sets.ts';
import { auditSet, plant } from './plant-flaws.ts';
import { flaws } from './planted-flaws.ts';

const root = mkdtempSync(join(tmpdir(), 'espalier-flaws-'));
afterAll(() => rmSync(root, { recursive: true, force: true }));

let folders = 0;
const folder = (): string => join(root, String(folders++));

describe('good sets raise no alarm', () => {
  test.each(Object.keys(goodSets) as readonly SetName[])('%s', async (name) => {
    const { sets, findings } = await auditSet(folder(), name);

    expect(sets.reduce((sum, { rows }) => sum + rows, 0)).toBe(80);
    expect(findings).toEqual([]);
  });
});

describe('planted flaws are found, all of them, and nothing besides', () => {
  test.each(Object.entries(flaws))('%s', async (name, flaw) => {
    const { found, of, falseAlarms } = await plant(folder(), name, flaw);

    expect({ found, falseAlarms }).toEqual({ found: of, falseAlarms: [] });
  });
});
