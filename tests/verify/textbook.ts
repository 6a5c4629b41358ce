/**
 * `npm run verify:textbook [-- <games>]`: N and Q at every node against a UCT and a PUCT written from the papers, on
 * random games with parallel actions, rewards on the way, discounts and dead ends.
 */
import { difference, rulesOf, searched, textbook } from '../support/textbook-mcts.ts';

const games = Number(process.argv[2] ?? 1000);
const differing: string[] = [];
let nodes = 0;
for (let seed = 1; seed <= games; seed++) {
  const rules = rulesOf(seed);
  const expected = textbook(rules);
  nodes += expected.size;
  const found = difference(expected, await searched(rules));
  if (found !== undefined) differing.push(`seed ${seed} (${rules.formula}): ${found}`);
}

process.stdout.write(`${games} games, ${nodes} visited nodes, ${differing.length} games differ\n`);
for (const line of differing.slice(0, 10)) process.stdout.write(`  ${line}\n`);
process.exitCode = differing.length === 0 ? 0 : 1;
