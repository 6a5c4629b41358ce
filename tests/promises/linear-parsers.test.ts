import { expect, test } from 'vitest';
import { fault, hostile, readers } from './hostile-readers.ts';

test.each(Object.entries(readers))('%s: a good text is read', async (_name, [read, good]) => {
  const reading = await read(good);
  const items: readonly unknown[] = Array.isArray(reading) ? reading : [reading];
  expect(items.filter((item) => item === undefined || 'failure' in Object(item))).toEqual([]);
  expect(items).not.toEqual([]);
});

// `npm run verify:parsers` goes on to 1 MiB.
test.each(Object.entries(readers))(
  '%s: a hostile text is read in a time that grows with it, to 64 KiB',
  async (_name, [read]) => {
    const faults: string[] = [];
    for (const pattern of hostile) {
      const why = await fault(read, pattern, 1 << 16);
      if (why !== undefined) faults.push(`${JSON.stringify(pattern)}: ${why}`);
    }
    expect(faults).toEqual([]);
  },
  300_000,
);
