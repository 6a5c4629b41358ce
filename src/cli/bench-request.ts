import { basename, join } from 'node:path';
import { defined } from '../backends/transport/json.ts';
import { EspalierError } from '../base/errors.ts';
import type { BenchBudget } from '../bench/report.ts';
import { budgetsOf, type Check, parseCheck, readSuite } from '../bench/suite.ts';
import type { BenchArguments } from './bench-options.ts';
import { modelOption } from './model.ts';

/** What is asked for, from a suite and from the command line, which has the last word. */
export interface BenchRequest extends Omit<BenchArguments, 'task'> {
  readonly task: string;
  readonly methods: readonly string[];
  readonly budgets: readonly BenchBudget[];
  readonly out: string;
  readonly failIfWorse: readonly Check[];
}

/**
 * What is asked for.
 *
 * @throws EspalierError `usage` if a suite is not what it should be, or nothing says what is measured.
 */
export function requestFrom(path: string | undefined, given: BenchArguments): BenchRequest {
  const suite = path === undefined ? {} : readSuite(path);
  const { failIfWorse = [], budgets, model, times = true, ...rest } = suite;
  const fromSuite = {
    ...rest,
    // What is named on the command line is not measured on what the suite names.
    ...(given.task !== undefined && { replay: undefined }),
    ...(budgets !== undefined && { budgets: budgetsOf(budgets) }),
    ...(model !== undefined && { model: modelOption(model) }),
  };
  expectOneSource(given, 'on the command line');
  if (path !== undefined) expectOneSource(suite, `in \`${path}\``);
  const merged = { ...defined(fromSuite), ...defined(given), times: given.times && times };
  expectOneSource({ replay: merged.replay, model: merged.model }, 'here');
  const task = merged.replay ?? merged.task;
  if (task === undefined) {
    throw new EspalierError(
      'usage',
      'Expected `--task`, `--replay` or a suite with a `task` to say what is measured. `espalier bench --help` has examples.',
    );
  }
  if (merged.replay !== undefined && merged.budgetUsd !== undefined) {
    throw new EspalierError(
      'usage',
      '`--budget-usd` limits what a model is paid, and `--replay` asks none: leave one of them out.',
    );
  }
  return {
    methods: ['mcts'],
    budgets: [1_000, 2_000, 4_000].map((limit) => ({ unit: 'tokens', limit })),
    out: join('bench', folderFor({ ...merged, task })),
    ...merged,
    task,
    failIfWorse: given.failIfWorse ?? failIfWorse.map(parseCheck),
  };
}

/** A recorded run is a task, and has its own model. */
function expectOneSource(
  { replay, task, model }: Partial<Record<'model' | 'replay' | 'task', unknown>>,
  where: string,
): void {
  if (replay === undefined) return;
  const name = task === undefined ? 'model' : 'task';
  if (task === undefined && model === undefined) return;
  throw new EspalierError(
    'usage',
    `\`replay\` and \`${name}\` contradict each other ${where}: a recorded run has its own problems and answers. Leave one of them out.`,
  );
}

/** A folder holds one benchmark: whatever makes it another one is in the name. */
function folderFor(request: Omit<BenchArguments, 'task'> & { readonly task: string }): string {
  const { task, split, model, effort, judgeEffort, thoughtTokens, maxTokens } = request;
  const { temperature, seed, times, policy, value } = request;
  const rest = { effort, judgeEffort, thoughtTokens, maxTokens, temperature, policy, value, seed };
  return [
    basename(task),
    ...[split, model].flatMap((name) => name ?? []),
    ...Object.entries(defined(rest)).map(([name, value]) => `${name} ${value}`),
    ...(times ? [] : ['no-times']),
  ]
    .join(' ')
    .replaceAll(/[^\p{L}\p{M}\p{N}_]+/gu, '-');
}
