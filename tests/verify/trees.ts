/** `npm run verify:trees`: 1,000 random searches, saved, loaded and continued. */
import { expectWhole } from '../promises/whole-trees.ts';

const count = 1_000;
for (let seed = 0; seed < count; seed++) {
  try {
    await expectWhole(seed);
  } catch (cause) {
    throw new Error(`The search of seed ${seed} was not saved as a whole.`, { cause });
  }
}
process.stdout.write(
  `${count} searches: each tree, saved and loaded, is what it was, and goes on as it did.\n`,
);
