/**
 * 10,000 searches and commits that are killed at any line and any request, judged by a witness: `npm run verify:worlds`.
 * Every fiftieth witness is in another process. Name the first case and how many there are to run others.
 */
import { fuzzWorlds } from '../promises/world-fuzz.ts';
import { startWitness } from '../support/witness-process.ts';

const [, , first = '0', count = '10000'] = process.argv;
const distant = await startWitness();
const ends: Record<string, number> = {};
let kills = 0;
let faults = 0;
const until = Number(first) + Number(count);
for (let from = Number(first); from < until; from += 500) {
  const seeds = Array.from({ length: Math.min(500, until - from) }, (_, place) => from + place);
  const tally = await fuzzWorlds(seeds, distant);
  kills += tally.kills;
  faults += tally.faults.length;
  for (const [end, times] of Object.entries(tally.ends)) ends[end] = (ends[end] ?? 0) + times;
  for (const fault of tally.faults) process.stdout.write(`${fault}\n`);
  process.stdout.write(
    `${from + seeds.length - Number(first)} cases, ${kills} kills, ${faults} faults, ends: ${JSON.stringify(ends)}
`,
  );
}
await distant.close();
// Processes that were killed in the middle of something have left timers behind.
process.exit(faults > 0 ? 1 : 0);
