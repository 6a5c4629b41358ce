import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { openJournal, readJournal, replayed } from '../../src/calls/index.ts';
import { EspalierError, mcts, type Random, treeToJson } from '../../src/index.ts';
import { scriptedModel, syntheticTree } from '../../src/testing/index.ts';
import { hashedAnswer, throughModel } from '../../src/testing/through-model.ts';
import { type SearchOf, searchOf } from '../support/search-of.ts';

/** What became of a journal in which one bit was flipped. */
export interface Flips {
  /** It replays to another tree, or costs another sum, and nobody says so. */
  silent: number;
  /** It is refused, with a sentence. */
  refused: number;
  /** It replays as before. */
  same: number;
}

const problem = syntheticTree({ branching: 3 });

async function run(journal: SearchOf<unknown, unknown>['journal']) {
  const result = await searchOf({
    ...throughModel(problem, { model: scriptedModel({ answer: hashedAnswer }) }),
    algorithm: mcts(),
    budget: { simulations: 12 },
    ...(journal !== undefined && { journal }),
  });
  const { ms: _ms, ...spend } = result.spend;
  return JSON.stringify([treeToJson(result.tree), spend, result.stopReason]);
}

/** Writes a journal, flips single bits of it, one at a time, and replays it. */
export async function flipsOf(
  path: string,
  { count, random }: { readonly count: number; readonly random: Random },
): Promise<Flips> {
  rmSync(path, { force: true });
  const journal = openJournal(path);
  const whole = await run(journal);
  journal.close();
  const bytes = readFileSync(path);
  const flips: Flips = { silent: 0, refused: 0, same: 0 };
  for (let flip = 0; flip < count; flip++) {
    const bit = random.integer(bytes.length * 8);
    const flipped = Buffer.from(bytes);
    flipped[bit >> 3] = (flipped[bit >> 3] ?? 0) ^ (1 << (bit & 7));
    writeFileSync(path, flipped);
    try {
      const again = await run(replayed(readJournal(path)));
      if (again === whole) flips.same += 1;
      else flips.silent += 1;
    } catch (error) {
      if (!EspalierError.isInstance(error) || error.code !== 'invalid-journal') throw error;
      flips.refused += 1;
    }
  }
  return flips;
}
