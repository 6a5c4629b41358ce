/**
 * Small repositories with seeded bugs, mended in worktrees by a scripted policy: best-first search with the tests as
 * verifier against best-of-N at as many executions of the tests. `npm run verify:worktrees -- 30` names how many.
 */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import * as z from 'zod';
import { pairedDifference } from '../../src/bench/metrics.ts';
import { memoryJournal } from '../../src/calls/index.ts';
import { gitWorktree, type ToolState, toolEnvironment } from '../../src/environments/index.ts';
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
import { everything, inGit, put } from '../environments/worlds/user-folder.ts';

/** How often the tests of a repository may run: what is found later does not count. */
const executions = 30;
/** Candidate patches at a node, and how likely one that mends a bug is among them. */
const [width, chance] = [6, 0.8];

/** A source file: its text with a hole, what belongs there, what a mutant puts there, and a test of it. */
interface Source {
  readonly name: string;
  readonly text: readonly [string, string];
  readonly right: string;
  readonly wrong: readonly string[];
  readonly expect: string;
}

const sources: readonly Source[] = [
  // Bounds.
  {
    name: 'range',
    text: ['(from, to) => Array.from({ length: ', ' }, (_, i) => from + i)'],
    right: 'to - from',
    wrong: ['to - from - 1', 'to - from + 1', 'to'],
    expect: 'range(2, 5), [2, 3, 4]',
  },
  {
    name: 'last',
    text: ['(list, n) => list.slice(', ')'],
    right: '-n',
    wrong: ['n', '-n - 1', 'n - 1'],
    expect: 'last([1, 2, 3, 4, 5], 2), [4, 5]',
  },
  {
    name: 'clamp',
    text: ['(x) => (x ', ' ? 9 : x)'],
    right: '> 9',
    wrong: ['> 10', '< 9', '>= 8'],
    expect: 'clamp(10) + clamp(8), 17',
  },
  // Operators.
  {
    name: 'mean',
    text: ['(list) => list.reduce((a, b) => a + b, 0) ', ''],
    right: '/ list.length',
    wrong: ['* list.length', '- list.length', '/ (list.length - 1)'],
    expect: 'mean([1, 2, 6]), 3',
  },
  {
    name: 'area',
    text: ['(a, b) => ', ''],
    right: 'a * b',
    wrong: ['a + b', 'a ** b', 'a * a'],
    expect: 'area(2, 5), 10',
  },
  {
    name: 'both',
    text: ['(a, b) => ', ''],
    right: 'a && b',
    wrong: ['a || b', 'a !== b', '!a && b'],
    expect: '[both(true, false), both(true, true)], [false, true]',
  },
  // Swapped arguments.
  {
    name: 'power',
    text: ['(base, exponent) => ', ''],
    right: 'Math.pow(base, exponent)',
    wrong: ['Math.pow(exponent, base)', 'Math.pow(base, base)', 'Math.pow(exponent, 2)'],
    expect: 'power(2, 3), 8',
  },
  {
    name: 'less',
    text: ['(a, b) => ', ''],
    right: 'Math.max(a - b, 0)',
    wrong: ['Math.max(b - a, 0)', 'Math.min(a - b, 0)', 'Math.max(a, b)'],
    expect: 'less(5, 3), 2',
  },
];

interface Repository {
  readonly root: string;
  /** Where the tests count how often they ran: outside of the repository. */
  readonly counter: string;
  readonly own: readonly Source[];
}

function shuffled<Item>(items: readonly Item[], random: Random): readonly Item[] {
  return items
    .map((item) => ({ item, at: random.next() }))
    .toSorted((one, other) => one.at - other.at)
    .map(({ item }) => item);
}

function repositoryOf(random: Random): Repository {
  const root = mkdtempSync(join(tmpdir(), 'mended-'));
  const counter = `${root}.count`;
  writeFileSync(counter, '');
  // With the tests 3 to 6 files.
  const own = shuffled(sources, random).slice(0, 2 + random.integer(4));
  const bugs = 1 + random.integer(Math.min(3, own.length));
  for (const [place, { name, text, right, wrong }] of own.entries()) {
    const held = place < bugs ? wrong[random.integer(wrong.length)] : right;
    put(root, `${name}.mjs`, `export const ${name} = ${text.join(held)};\n`);
  }
  const lines = own.map(
    ({ name, expect }) =>
      `import { ${name} } from './${name}.mjs';\ntest('${name}', () => deepEqual(${expect}));\n`,
  );
  const counting = `appendFileSync(${JSON.stringify(counter)}, 'x');\n`;
  const imports =
    "import { deepEqual } from 'node:assert/strict';\nimport { appendFileSync } from 'node:fs';\nimport { test } from 'node:test';\n";
  put(root, 'all.test.mjs', `${imports}${counting}${lines.join('')}`);
  inGit(root, 'init', '--quiet');
  inGit(root, 'config', 'user.name', 'Ada');
  inGit(root, 'config', 'user.email', 'ada@example.org');
  inGit(root, 'add', '--all');
  inGit(root, 'commit', '--quiet', '-m', 'Begin');
  return { root, counter, own };
}

interface Patch {
  readonly file: string;
  readonly text: string;
}

/** What stands in the files behind a path, and what may be put there. */
function patchesAt(
  { root, own }: Repository,
  taken: readonly Patch[],
  random: Random,
): readonly Patch[] {
  const all = own.flatMap(({ name, text, right, wrong }) => {
    const file = `${name}.mjs`;
    const whole = (held: string) => `export const ${name} = ${text.join(held)};\n`;
    const now =
      taken.findLast((patch) => patch.file === file)?.text ??
      readFileSync(join(root, file), 'utf8');
    return [right, ...wrong]
      .map((held) => ({ file, text: whole(held), mends: held === right }))
      .filter((patch) => patch.text !== now);
  });
  const mending = shuffled(
    all.filter(({ mends }) => mends),
    random,
  );
  const others = shuffled(
    all.filter(({ mends }) => !mends),
    random,
  );
  const right = random.next() < chance ? mending.slice(0, 1) : [];
  return shuffled([...right, ...others].slice(0, width), random).map(({ file, text }) => ({
    file,
    text,
  }));
}

/** Searches in a repository, and commits what it has found. */
async function mend(repository: Repository, algorithm: SearchAlgorithm, seed: number) {
  const { root, counter, own } = repository;
  const before = everything(root);
  await using environment = toolEnvironment(gitWorktree({ repository: root }), {
    name: 'mend',
    task: 'Make the tests pass.',
    tools: (tool) => ({
      patch: tool({
        input: z.object({ file: z.string(), text: z.string() }),
        effect: 'reversible',
        async run(folder, { file, text }) {
          await folder.write(file, text);
          const command = [process.execPath, '--test', '--test-reporter=tap'];
          const { output } = await folder.run(command, { timeoutMs: 20_000 });
          return Number(/^# pass (\d+)$/m.exec(output)?.[1] ?? 0);
        },
      }),
    }),
    done: (_, output) => output === own.length,
  });
  const { tree, best } = await search(environment, {
    policy: ({ state }) => {
      const taken = state.calls.map(({ input }) => input as unknown as Patch);
      const random = seededRandom(`${seed} ${JSON.stringify(taken)}`);
      const patches = patchesAt(repository, taken, random);
      return patches.map((input) => ({ action: { tool: 'patch' as const, input } }));
    },
    evaluator: heuristic(({ turns }: ToolState) => {
      const passing = Number(/\d+/.exec(turns.at(-1)?.content ?? '')?.[0] ?? 0);
      return passing / own.length / 2;
    }),
    algorithm,
    // The look at the start is a call too. Where a state is come to by doing its calls again, the tests run once more.
    budget: { calls: executions + 1 },
    stopWhen: solved(),
    seed,
  });
  const isUntouched = JSON.stringify(everything(root)) === JSON.stringify(before);
  const runs = readFileSync(counter, 'utf8').length;
  writeFileSync(counter, '');
  const isSolved = best.reward === 1 && runs <= executions;
  let isCommitted = false;
  if (isSolved) {
    const { status } = await environment.commit(tree, { journal: memoryJournal() });
    execFileSync(process.execPath, ['--test'], { cwd: root });
    isCommitted = status === 'committed' && inGit(root, 'status', '--porcelain') === '';
  }
  return { isSolved, runs, faults: Number(!isUntouched) + Number(isSolved && !isCommitted) };
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
    const repository = repositoryOf(seededRandom(`repository ${seed}`));
    row.push(await mend(repository, way(), seed));
    rmSync(repository.root, { recursive: true });
    rmSync(repository.counter);
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
