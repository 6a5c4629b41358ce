/**
 * Small repositories with seeded bugs, mended in worktrees by a scripted policy: best-first search with the tests as
 * verifier against best-of-N at as many executions of the tests. `npm run verify:worktrees -- 30` names how many.
 */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pairedDifference } from '../../src/bench/metrics.ts';
import { shuffled } from '../../src/bench/tasks/drawn-questions.ts';
import { drawFiles, type HoledFile, writeRepository } from '../../src/bench/tasks/seeded-bugs.ts';
import type { Call } from '../../src/bench/tasks/tool-task.ts';
import { changesIn, mending, passingIn } from '../../src/bench/tasks/worktrees.ts';
import { memoryJournal } from '../../src/calls/index.ts';
import { gitWorktree, type ToolState } from '../../src/environments/index.ts';
import {
  bestFirst,
  bestOfN,
  type Random,
  type SearchAlgorithm,
  search,
  seededRandom,
  solved,
} from '../../src/index.ts';
import { heuristic } from '../../src/values/index.ts';
import { everything, inGit } from '../environments/worlds/user-folder.ts';

/** How often the tests of a repository may run: what is found later does not count. */
const executions = 30;
/** Candidate patches at a node, and how likely one that mends a bug is among them. */
const [width, chance] = [6, 0.8];

/** Some of what may be put into files: as a rule one that mends is among them. */
function proposed(files: readonly HoledFile[], state: ToolState, random: Random): readonly Call[] {
  const rightOf = new Map(files.map(({ path, right }) => [path, right]));
  const mends = ({ input: { file = '', expression } }: Call) => rightOf.get(file) === expression;
  const all = shuffled(random, changesIn(files)(state));
  const right = random.next() < chance ? all.filter(mends).slice(0, 1) : [];
  const wrong = all.filter((call) => !mends(call));
  return shuffled(random, [...right, ...wrong].slice(0, width));
}

/** Searches in a repository, and commits what it has found. */
async function mend(files: readonly HoledFile[], algorithm: SearchAlgorithm, seed: number) {
  const { root, folder } = await writeRepository(files);
  const before = everything(root);
  let runs = 0;
  const wrap = (command: readonly string[]) => {
    runs++;
    return command;
  };
  await using environment = mending(files, gitWorktree({ repository: root, wrap }));
  const { tree, best } = await search(environment, {
    policy: ({ state }: { readonly state: ToolState }) => {
      const calls = state.calls.map(({ input }) => input);
      const random = seededRandom(`${seed} ${JSON.stringify(calls)}`);
      return proposed(files, state, random).map((action) => ({ action }));
    },
    evaluator: heuristic((state: ToolState) => passingIn(state) / files.length / 2),
    algorithm,
    // The look at the start is a call too. Where a state is come to by doing its calls again, the tests run once more.
    budget: { calls: executions + 1 },
    stopWhen: solved(),
    seed,
  });
  const isUntouched = JSON.stringify(everything(root)) === JSON.stringify(before);
  const isSolved = best.reward === 1 && runs <= executions;
  const searched = runs;
  let isCommitted = false;
  if (isSolved) {
    const { status } = await environment.commit(tree, { journal: memoryJournal() });
    execFileSync(process.execPath, ['--test'], { cwd: root });
    isCommitted = status === 'committed' && inGit(root, 'status', '--porcelain') === '';
  }
  rmSync(folder, { recursive: true });
  const faults = Number(!isUntouched) + Number(isSolved && !isCommitted);
  return { isSolved, runs: searched, faults };
}

const [, , count = '30'] = process.argv;
const outside = tmpdir();
const own = mkdtempSync(join(outside, 'verify-worktrees-'));
// biome-ignore lint/style/noProcessEnv: what is left behind is looked for where nothing else is
process.env['TMPDIR'] = own;
const ways = [() => bestFirst({ maxDepth: 6 }), () => bestOfN({ maxDepth: 6 })];
const found: { readonly isSolved: boolean; readonly runs: number; readonly faults: number }[][] =
  [];
for (let seed = 0; seed < Number(count); seed++) {
  const row: (typeof found)[number] = [];
  for (const way of ways) {
    row.push(await mend(drawFiles(seededRandom(`repository ${seed}`)), way(), seed));
  }
  found.push(row);
  const told = row.map(({ isSolved, runs }) => `${isSolved ? 'solved' : 'not'} ${runs}`);
  process.stdout.write(`${seed}: search ${told[0]}, best-of-N ${told[1]}\n`);
}
const left = readdirSync(own);
rmSync(own, { recursive: true });
const [searched = [], drawn = []] = ways.map((_, way) =>
  found.map((row) => row[way]?.isSolved === true),
);
const most = Math.max(...found.flat().map(({ runs }) => runs));
const faults = found.flat().reduce((sum, each) => sum + each.faults, 0);
const { difference, low, high } = pairedDifference(searched, drawn);
const solvedBy = (way: readonly boolean[]) => way.filter(Boolean).length;
process.stdout.write(
  `solved: search ${solvedBy(searched)}, best-of-N ${solvedBy(drawn)} of ${count}, difference ${difference.toFixed(3)} [${low.toFixed(3)}, ${high.toFixed(3)}]; at most ${most} executions\n${faults} faults, left behind: ${left.join(', ') || 'nothing'}\n`,
);
process.exitCode = faults > 0 || left.length > 0 ? 1 : 0;
