// Recorded Tree-of-Thoughts runs, searched again: every proposal and every value is that of the recording, and nothing
// is asked of a model. First the recorded search itself, which must keep the recorded states at every level; then how many
// expansions each algorithm needs where a solution was recorded. An expansion of a state that the recorded run never
// expanded counts, and brings nothing.
import { readFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { z } from 'zod';
import { table } from '../../src/base/table.ts';
import {
  algorithms,
  beam,
  bestFirst,
  type Environment,
  type SearchAlgorithm,
  type SearchOptions,
  search,
  solved,
} from '../../src/index.ts';

const runs = z.array(
  z.object({
    steps: z
      .array(
        z.object({
          ys: z.array(z.string()),
          new_ys: z.array(z.string()),
          values: z.array(z.number()),
          select_new_ys: z.array(z.string()),
        }),
      )
      .min(1),
    ys: z.array(z.string()),
    infos: z.array(z.object({ r: z.number() })),
  }),
);
type Recorded = z.infer<typeof runs>[number];

/** A thought, and its place among those of its level. */
interface Thought {
  readonly place: number;
  readonly text: string;
}

/** The thoughts of a recorded run as a problem, whose states are the text so far. */
function problemOf({ steps, ys, infos }: Recorded, { ends }: { readonly ends: boolean }) {
  const next = new Map<string, Thought[]>();
  for (const { ys: expanded, new_ys } of steps) {
    for (const state of expanded) next.set(state, []);
    for (const [place, text] of new_ys.entries()) {
      const from = expanded.filter((state) => text.startsWith(state));
      const [longest = ''] = from.toSorted((a, b) => b.length - a.length);
      next.get(longest)?.push({ place, text: text.slice(longest.length) });
    }
  }
  const most = Math.max(...steps.flatMap(({ values }) => values), Number.MIN_VALUE);
  const outcomes = new Map(ys.map((text, place) => [text, infos[place]?.r ?? 0]));
  const last = new Set(steps.at(-1)?.new_ys);
  const asked = new Set<string>();
  const environment: Environment<string, Thought> = {
    name: 'recorded',
    reset: () => ({ state: steps[0]?.ys[0] ?? '' }),
    step(before, { text }) {
      const state = before + text;
      const isEnd = ends && last.has(state);
      return isEnd ? { state, terminal: true, reward: outcomes.get(state) ?? 0 } : { state };
    },
  };
  const parts: Pick<SearchOptions<string, Thought>, 'evaluator' | 'policy'> = {
    policy: ({ state, children }, { count }) => {
      asked.add(state);
      const known = new Set(children.map(({ action }) => action.place));
      const proposed = (next.get(state) ?? []).filter(({ place }) => !known.has(place));
      return proposed.slice(0, count).map((action) => ({ action }));
    },
    evaluator: ({ depth, action }) =>
      (steps[depth - 1]?.values[action?.place ?? Number.NaN] ?? 0) / most,
  };
  return { environment, parts, expansions: () => asked.size };
}

/** b, how many states a level kept. */
function widthOf({ steps }: Recorded): number {
  return Math.max(...steps.map(({ select_new_ys }) => select_new_ys.length));
}

/** The recorded search. @returns the first level at which it keeps other states, and whether it solves. */
async function repeat(run: Recorded) {
  const { steps, ys, infos } = run;
  const { environment, parts } = problemOf(run, { ends: false });
  const algorithm = beam({ width: widthOf(run), maxDepth: steps.length });
  const { tree } = await search(environment, { ...parts, algorithm, budget: { nodes: 1_000_000 } });
  const kept = steps.map((_, level) =>
    [...tree.nodes()]
      .filter(({ depth, status }) => depth === level + 1 && status !== 'pruned')
      .map(({ state }) => state),
  );
  const differs = steps.findIndex(
    ({ select_new_ys }, level) =>
      JSON.stringify(select_new_ys.toSorted()) !== JSON.stringify(kept[level]?.toSorted()),
  );
  const right = ys.filter((_, place) => (infos[place]?.r ?? 0) >= 1);
  return { differs, isSolved: right.some((text) => kept.at(-1)?.includes(text) === true) };
}

/** The recorded search ends with its last level, all others with the first solution. */
const asRecorded = 'tree-of-thoughts';
const rivals: Readonly<Record<string, (run: Recorded) => SearchAlgorithm>> = {
  [asRecorded]: (run) => beam({ width: widthOf(run) }),
  [`${asRecorded}, depth-first`]: () => bestFirst({ order: 'depth' }),
  ...Object.fromEntries(
    algorithms
      // Votes need an answer, and a few paths are best-of-N cut short.
      .filter(({ votes, paths }) => votes !== true && paths === undefined)
      .map(({ name, create }) => [name, () => create({ asksModel: false })]),
  ),
};

function median(sorted: readonly number[]): number | null {
  const middle = sorted.length / 2;
  const [low, high] = [sorted[Math.ceil(middle) - 1], sorted[Math.floor(middle)]];
  return low === undefined || high === undefined ? null : (low + high) / 2;
}

async function rowOf(
  algorithm: string,
  create: (run: Recorded) => SearchAlgorithm,
  solvable: readonly Recorded[],
) {
  const needed: number[] = [];
  for (const run of solvable) {
    const { environment, parts, expansions } = problemOf(run, { ends: true });
    const stopWhen = algorithm === asRecorded ? [] : solved();
    const budget = { simulations: 2000 };
    const found = await search(environment, { ...parts, algorithm: create(run), stopWhen, budget });
    if (found.solved) needed.push(expansions());
  }
  const sum = needed.reduce((total, count) => total + count, 0);
  return {
    ...{ algorithm, solved: needed.length, of: solvable.length },
    medianExpansions: median(needed.toSorted((a, b) => a - b)),
    meanExpansions: needed.length === 0 ? null : sum / needed.length,
  };
}

const { values: options, positionals } = parseArgs({
  allowPositionals: true,
  options: { json: { type: 'boolean', default: false } },
});
const [file] = positionals;
if (file === undefined) {
  process.stderr.write('Usage: npm run bench:recorded -- <file> [--json]\n');
  process.exit(2);
}
const recorded = runs.parse(JSON.parse(readFileSync(file, 'utf8')));
const repeated = await Promise.all(recorded.map(repeat));
for (const [place, { differs }] of repeated.entries()) {
  if (differs < 0) continue;
  process.stderr.write(
    `Run ${place} keeps other states than the recorded ones at level ${differs + 1}.\n`,
  );
  process.exitCode = 1;
}
const solvable = recorded.filter(({ infos }) => infos.some(({ r }) => r >= 1));
const rows = [];
for (const [name, create] of Object.entries(rivals)) rows.push(await rowOf(name, create, solvable));
const treeOfThoughts = {
  solved: repeated.filter(({ isSolved }) => isSolved).length,
  of: recorded.length,
};
if (options.json) {
  process.stdout.write(`${JSON.stringify({ treeOfThoughts, rows }, undefined, 2)}\n`);
} else {
  const exact = (count: number | null) => (count === null ? '–' : count.toFixed(1));
  const rowsOfTable = rows.map((row) => [
    row.algorithm,
    `${row.solved} of ${row.of}`,
    exact(row.medianExpansions),
    exact(row.meanExpansions),
  ]);
  process.stdout.write(
    [
      `Tree of Thoughts as recorded: ${treeOfThoughts.solved} of ${treeOfThoughts.of} solved.`,
      'On the same thoughts, where a solution was recorded: Tree of Thoughts to the end of its last level, the others to',
      'their first solution. A state that the recorded search never expanded counts where it is met, and brings nothing.',
      '',
      table([['algorithm', 'solved', 'median expansions', 'mean expansions'], ...rowsOfTable]),
      '',
    ].join('\n'),
  );
}
