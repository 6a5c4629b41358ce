import type { BenchCell } from '../../src/bench/cell.ts';
import type { BenchBudget } from '../../src/bench/report.ts';
import {
  beam,
  bestOfN,
  mcts,
  progressiveWidening,
  type SearchAlgorithm,
  search,
  seededRandom,
} from '../../src/index.ts';
import { chainTask } from '../../src/testing/index.ts';

/** A benchmark of chains with planted mistakes, of which it is known whether search pays. */
export interface VerdictTask {
  readonly name: string;
  /** Whether search gains 20 points or more, or nothing. */
  readonly pays: boolean;
  readonly steps: number;
  /** From where the chances of a sound step are drawn, one for each instance. */
  readonly sound: readonly [number, number];
  /** What values are: of noise they cost nothing, so that nothing but their worth tells. */
  readonly reader: 'noise' | 'none' | 'truth';
  /** In calls. */
  readonly budgets: readonly number[];
}

/** What the issue asks about: the first is the only one in which search pays. */
export const verdictTasks: readonly VerdictTask[] = [
  {
    name: 'only look-ahead solves',
    pays: true,
    steps: 7,
    sound: [0.45, 0.65],
    reader: 'truth',
    budgets: [14, 56],
  },
  // One step: a tree has nowhere to look ahead, and the best of all samples is what any method finds.
  {
    name: 'best of N is enough',
    pays: false,
    steps: 1,
    sound: [0, 0.3],
    reader: 'none',
    budgets: [4, 12],
  },
  {
    name: 'the value is noise',
    pays: false,
    steps: 3,
    sound: [0.3, 0.8],
    reader: 'noise',
    budgets: [6, 18],
  },
  {
    name: 'the budget is too small',
    pays: false,
    steps: 6,
    sound: [0.3, 0.5],
    reader: 'truth',
    budgets: [6, 12],
  },
];

export const verdictBaseline = 'best-of-n';

const methods: readonly {
  readonly name: string;
  readonly algorithm: () => SearchAlgorithm;
}[] = [
  { name: verdictBaseline, algorithm: () => bestOfN() },
  { name: 'beam', algorithm: () => beam({ width: 2, samples: 2 }) },
  {
    name: 'mcts',
    algorithm: () =>
      mcts({ width: 2, widening: progressiveWidening({ k: 2, alpha: 0.5 }), evaluate: 'all' }),
  },
];

/** Best of N by other names, each with samples of its own: no search is better than another. */
const twins = [verdictBaseline, 'first twin', 'second twin'].map((name) => ({
  name,
  algorithm: () => bestOfN(),
}));

/** All searches of so many instances: real ones, and each sample of a solution is the same for all of them. */
export function searchesOf(task: VerdictTask, instances: number): Promise<BenchCell[][]> {
  return everySearch(task, { instances, arms: methods, stream: () => 'shared' });
}

/** The same of best of N by three names, of which none has seen the samples of another. */
export function twinSearchesOf(task: VerdictTask, instances: number): Promise<BenchCell[][]> {
  return everySearch(task, { instances, arms: twins, stream: (name) => name });
}

async function everySearch(
  task: VerdictTask,
  plan: {
    readonly instances: number;
    readonly arms: typeof methods;
    readonly stream: (method: string) => string;
  },
): Promise<BenchCell[][]> {
  const found: BenchCell[][] = [];
  for (let instance = 0; instance < plan.instances; instance++) {
    const cells: BenchCell[] = [];
    for (const { name, algorithm } of plan.arms) {
      for (const limit of task.budgets) {
        const budget: BenchBudget = { unit: 'calls', limit };
        const arm = { name, algorithm: algorithm(), budget, stream: plan.stream(name) };
        cells.push(await cellOf(task, instance, arm));
      }
    }
    found.push(cells);
  }
  return found;
}

async function cellOf(
  task: VerdictTask,
  instance: number,
  arm: {
    readonly name: string;
    readonly algorithm: SearchAlgorithm;
    readonly budget: BenchBudget;
    readonly stream: string;
  },
): Promise<BenchCell> {
  const name = `${task.name} ${instance}`;
  const seed = `${name} ${arm.stream}`;
  const [least, most] = task.sound;
  const sound = least + (most - least) * seededRandom(name).next();
  const chain = chainTask({ steps: task.steps, sound: sound || 1e-9, recovers: 0, seed });
  const result = await search(chain.environment, {
    policy: chain.policy,
    ...(task.reader === 'truth' && { evaluator: chain.evaluator() }),
    ...(task.reader === 'noise' && {
      evaluator: ({ state }) =>
        seededRandom(seed)
          .split(...state)
          .next(),
    }),
    algorithm: arm.algorithm,
    budget: { calls: arm.budget.limit },
    stopWhen: ({ best }) => best.terminal && best.reward === 1 && 'solved',
    seed,
  });
  const { spend, tree, stopReason } = result;
  return {
    instance: String(instance),
    cluster: String(instance),
    method: arm.name,
    budget: arm.budget,
    attempt: 0,
    status: 'scored',
    right: result.solved,
    isGuided: false,
    anyRight: false,
    ends: [],
    stopReason,
    calls: spend.calls,
    reused: 0,
    tokens: spend.tokens,
    inputTokens: 0,
    cachedTokens: 0,
    outputTokens: spend.tokens,
    usd: null,
    ms: null,
    tree: { nodes: tree.size, depth: 0, width: 0 },
  };
}
