// Does search help an agent with tools? A greedy agent, best-of-N and searches with the same noisy policy and the same
// noisy judge on made-up tasks of shops and databases, at equal calls; and ToolChain* beside other searches on the tasks
// that both solve. Fails where a tool that cannot be taken back ran in a search, where a commit did anything but what
// was planned, and where no search is clearly above the greedy agent.
import { parseArgs } from 'node:util';
import {
  type Budget,
  bestOfN,
  type LanguageModel,
  lats,
  mcts,
  progressiveWidening,
  type SearchAlgorithm,
  search,
  solved,
} from 'espalier';
import { memoryJournal } from 'espalier/calls';
import { dfsdt, toolChainStar, treeOfThoughts } from 'espalier/methods';
import { callTools } from 'espalier/policies';
import { judge } from 'espalier/values';
import { table } from '../../src/base/table.ts';
import { pairedDifference } from '../../src/bench/metrics.ts';
import { type ToolTask as Task, worldOf } from '../../src/bench/tasks/tool-task.ts';
import { toolTasks } from '../../src/bench/tasks/tool-worlds.ts';
import { compare, type Method } from './side-by-side.ts';
import { scale, scriptFor } from './tools-script.ts';

const { values } = parseArgs({
  options: {
    tasks: { type: 'string', default: '60' },
    seed: { type: 'string', default: '0' },
    /** Budgets in calls, as `60,240`. */
    calls: { type: 'string', default: '60,120,240' },
    json: { type: 'boolean', default: false },
  },
});
/** The longest path, for all that have such a limit. */
const maxDepth = 12;
/** What ran that cannot be taken back: in a search, and in a commit that was not planned so. */
const strays = { search: 0, commit: 0 };

/** The tools of a task, and how often those ran that cannot be taken back. */
function witnessed(task: Task) {
  const witness = { runs: 0 };
  const environment = worldOf(task, () => witness.runs++);
  return { environment, witness };
}

const published = {
  dfsdt: (model: LanguageModel) => ({ method: dfsdt({ model, maxDepth }) }),
  'tool-chain-star': (model: LanguageModel) => ({ method: toolChainStar({ model }) }),
  'tree-of-thoughts': (model: LanguageModel) => ({
    method: treeOfThoughts({ model, generate: 'sample', maxDepth }),
    evaluator: judge({ model, scale }),
  }),
};

interface Part {
  readonly name: string;
  readonly algorithm?: SearchAlgorithm;
  readonly method?: keyof typeof published;
}

const greedy = 'greedy agent';
const chain = 'ToolChain*';
const parts: readonly Part[] = [
  { name: greedy, algorithm: bestOfN({ n: 1, maxDepth }) },
  { name: 'best of N', algorithm: bestOfN({ maxDepth }) },
  {
    name: 'MCTS',
    algorithm: mcts({
      evaluate: 'all',
      width: 3,
      widening: progressiveWidening({ k: 3 }),
      maxDepth,
    }),
  },
  { name: 'LATS', algorithm: lats({ maxDepth }) },
  { name: 'DFSDT', method: 'dfsdt' },
  { name: 'ToT, breadth-first', method: 'tree-of-thoughts' },
  { name: chain, method: 'tool-chain-star' },
];

interface Made {
  readonly solved: boolean;
  readonly calls: number;
  readonly expansions: number;
}

function methodFor({ name, algorithm, method }: Part, budget: Budget, made: Made[]): Method<Task> {
  return {
    name,
    async run(task, index) {
      const model = scriptFor(task, `${values.seed}/${index}`);
      const { environment, witness } = witnessed(task);
      const policy = callTools({ model });
      const evaluator = judge({ model, scale });
      const how =
        method === undefined
          ? { policy, evaluator, ...(algorithm && { algorithm }) }
          : published[method](model);
      const result = await search(environment, {
        ...how,
        budget,
        stopWhen: solved(),
        seed: `${values.seed}/${index}`,
      });
      strays.search += witness.runs;
      // What the tools hold at the best end decides, and not what the search says of itself.
      const { state } = result.best;
      const isSolved = state !== undefined && task.isDone(state.data);
      if (isSolved) {
        const committing = { journal: memoryJournal(), approve: () => true };
        const { status } = await environment.commit(result.tree, committing);
        // Each task has one call that cannot be taken back: its last one.
        if (status !== 'committed' || witness.runs !== 1) strays.commit++;
      }
      const expansions = [...result.tree.nodes()].filter(
        ({ children }) => children.length > 0,
      ).length;
      made[index] = { solved: isSolved, calls: result.spend.calls, expansions };
      return { ...result.spend, solved: isSolved };
    },
  };
}

const tasks = toolTasks(values.seed, Number(values.tasks));
const results: object[] = [];
const say = (text: string) => void (values.json || process.stdout.write(text));
const times = (ratio: number) => (Number.isNaN(ratio) ? '–' : `${ratio.toFixed(2)}×`);
const points = (share: number) => (100 * share).toFixed(1);
const sum = (numbers: readonly number[]) => numbers.reduce((all, one) => all + one, 0);
/** Searches that are clearly above the greedy agent. */
const above: string[] = [];

for (const calls of values.calls.split(',').map(Number)) {
  const made = parts.map((): Made[] => []);
  const methods = parts.map((part, place) => methodFor(part, { calls }, made[place] ?? []));
  const { rows, solved: outcomes } = await compare({ problems: tasks, methods });
  const told = rows.map((row, place) => {
    const trapped = (outcomes[place] ?? []).filter(
      (isSolved, index) => isSolved && tasks[index]?.hasTraps === true,
    );
    const expansions = sum((made[place] ?? []).map((one) => one.expansions)) / row.of;
    const less =
      row.method === greedy
        ? undefined
        : pairedDifference(outcomes[place] ?? [], outcomes[0] ?? []);
    if (less !== undefined && row.method !== 'best of N' && less.low > 0) above.push(row.method);
    return { ...row, withTraps: trapped.length, expansions, less };
  });
  const ratios = parts.flatMap(({ name }, place) => {
    const own = made.at(-1) ?? [];
    const other = made[place] ?? [];
    if (name === chain || name === greedy) return [];
    const both = other.flatMap((one, index) =>
      one.solved && own[index]?.solved === true ? [{ one, own: own[index] }] : [],
    );
    const ratio = (unit: 'calls' | 'expansions') =>
      sum(both.map(({ one }) => one[unit])) / sum(both.map((pair) => pair.own[unit]));
    return [
      { method: name, both: both.length, calls: ratio('calls'), expansions: ratio('expansions') },
    ];
  });
  results.push({ calls, rows: told, ratios });
  const traps = tasks.filter(({ hasTraps }) => hasTraps).length;
  say(
    `${tasks.length} tasks, ${traps} with traps, at most ${calls} calls each, seed ${values.seed}.\n\n`,
  );
  say(
    `${table([
      [
        'method',
        'solved',
        'with traps',
        'calls',
        'tokens',
        'expansions',
        'less greedy, paired 95 %',
      ],
      ...told.map(({ method, solved: count, of, withTraps, expansions, less, ...row }) => [
        ...[
          method,
          `${count} of ${of}`,
          `${withTraps} of ${traps}`,
          row.calls.toFixed(1),
          row.tokens.toFixed(0),
          expansions.toFixed(1),
        ],
        less === undefined
          ? '–'
          : `${points(less.difference)} [${points(less.low)}, ${points(less.high)}]`,
      ]),
    ])}\n\n`,
  );
  say(
    `${table([
      [`over ${chain}, where both solve`, 'tasks', 'calls', 'expansions'],
      ...ratios.map((row) => [
        row.method,
        String(row.both),
        times(row.calls),
        times(row.expansions),
      ]),
    ])}\n\n`,
  );
}

say(
  `Calls that cannot be taken back: ${strays.search} in searches; ${strays.commit} commits went otherwise than planned.\n`,
);
if (values.json) process.stdout.write(`${JSON.stringify({ results, strays }, undefined, 2)}\n`);
if (strays.search + strays.commit > 0 || above.length === 0) {
  if (above.length === 0) process.stderr.write('No search is clearly above the greedy agent.\n');
  process.exitCode = 1;
}
