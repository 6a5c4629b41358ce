/** What a live tree knows, a loaded one knows. `npm run verify:trees` does the same for 1,000 searches. */
import { test } from 'vitest';
import { expectWhole } from './whole-trees.ts';

test.each(Array.from({ length: 40 }, (_, seed) => [seed]))(
  'a random search, saved and loaded, knows and does what the live one does: seed %i',
  (seed) => expectWhole(seed),
);
