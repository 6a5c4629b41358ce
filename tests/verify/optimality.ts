/**
 * `npm run verify:optimality [-- <graphs>]`: what A* claims on random graphs with parallel edges, against a
 * Dijkstra of its own. No claim may be wrong, and where nothing is broken none may be missing; a search that was
 * stopped and continued must grow the tree of one that was not.
 */
import { type Claim, claimOf, faultOf, numbers } from '../support/multigraphs.ts';

const graphs = Number(process.argv[2] ?? 1500);
const faults: Record<string, number> = {};
const examples: string[] = [];
let claims = 0;
let claimed = 0;
let continued = 0;

function tell(what: string, { seed, concurrency, found, least, optimal }: Claim): void {
  faults[what] = (faults[what] ?? 0) + 1;
  if (examples.length < 10) {
    const claim = optimal ? 'claimed' : 'not claimed';
    examples.push(
      `${what}: seed ${seed}, concurrency ${concurrency}: ${found} of ${least}, ${claim}`,
    );
  }
}

for (let seed = 1; seed <= graphs; seed++) {
  const whole = await claimOf(seed, 1);
  const next = numbers(seed * 7);
  const pauses = Array.from(
    { length: 1 + Math.floor(next() * 3) },
    () => 1 + Math.floor(next() * 6),
  );
  const resumed = await claimOf(seed, 1, pauses);
  for (const claim of [whole, resumed, await claimOf(seed, 8), await claimOf(seed, 8, pauses)]) {
    claims++;
    if (claim.optimal) claimed++;
    const fault = faultOf(claim);
    if (fault !== undefined) tell(fault, claim);
  }
  continued++;
  if (resumed.tree !== whole.tree) tell('another tree when continued', resumed);
}

process.stdout.write(
  `${graphs} graphs, ${claims} searches at concurrency 1 and 8, ${claimed} claims, ${continued} continued trees\n`,
);
for (const [what, count] of Object.entries(faults)) process.stdout.write(`${what}: ${count}\n`);
for (const example of examples) process.stdout.write(`  ${example}\n`);
if (Object.keys(faults).length === 0) process.stdout.write('no fault found\n');
process.exitCode = Object.keys(faults).length === 0 ? 0 : 1;
