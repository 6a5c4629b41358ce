// Does a value help a search, and what does a bad one cost? On chains of reasoning steps with planted mistakes, whose
// true values are known: best-of-N, MCTS without a value and MCTS behind a process reward model at equal calls, on the
// same problems; then a reward model that is noise, and one that is inverted. Fails where a claim does.
import { parseArgs } from 'node:util';
import {
  type Budget,
  bestOfN,
  descend,
  type Evaluator,
  mcts,
  progressiveWidening,
  type SearchAlgorithm,
  type SearchNode,
  type SearchResult,
  solved,
  uct,
  type WideningRule,
} from 'espalier';
import { type ChainTask, chainTask } from 'espalier/testing';
import { pairedDifference } from '../../src/bench/metrics.ts';
import {
  type Reliability,
  reliability,
  renderReliability,
} from '../../src/values/calibrate/report.ts';
import { labelledFrom } from '../../src/values/calibrate/samples.ts';
import { compare, type Method } from '../perf/side-by-side.ts';
import { searchOf } from '../support/search-of.ts';

const { values } = parseArgs({
  options: {
    problems: { type: 'string', default: '250' },
    seed: { type: 'string', default: '0' },
    /** Whether the reliability of each reward model is printed. */
    diagrams: { type: 'boolean', default: false },
  },
});

/** How hard the problems are, and what a search may spend on each. */
interface Setting {
  readonly steps: number;
  readonly sound: number;
  readonly recovers: number;
  readonly calls: number;
}

const settings: readonly Setting[] = [
  { steps: 8, sound: 0.5, recovers: 0.02, calls: 120 },
  { steps: 10, sound: 0.6, recovers: 0.02, calls: 120 },
  { steps: 12, sound: 0.7, recovers: 0.02, calls: 120 },
];

/** σ of the reward model: an error of a factor of 1.65 in the odds. */
const noise = 0.5;
/** How many steps a node may get. */
const most = 4;
/**
 * What a value that is noise may cost: no more than three quarters of the calls, give or take 5 points. A step that is
 * valued is paid for twice, and half of those drawn for the sake of noise are drawn in vain.
 */
const bound = { share: 0.25, margin: 0.05 };

type ChainEvaluator = Evaluator<readonly number[], number>;

interface Arm {
  readonly name: string;
  readonly algorithm: SearchAlgorithm;
  /** What guides it; nothing where only ends are rewarded. */
  readonly evaluator?: (task: ChainTask) => ChainEvaluator;
  /** The share of the calls that it gets. */
  readonly share?: number;
}

// Without a value: one step at a time, and further ones where the search comes again.
const unguided = mcts({ width: 1, rollout: true, widening: progressiveWidening() });

/** A value is a martingale under the policy: where no step keeps up with the state before it, a better one is to come. */
const untilAsGood: WideningRule = ({ children, samples, rawValue = 0 }) =>
  samples < most && !children.some((child) => (child.rawValue ?? 0) >= rawValue);

// With a value: one step at a time, until one is as good as the state before.
const guided = mcts({ width: 1, rollout: true, evaluate: 'all', widening: untilAsGood });

// What the search without a value does, with a value that only ranks steps not tried yet: it costs what it costs, and
// is not asked where another step should be drawn. For comparison, without a claim.
const sameRule = mcts({
  width: 1,
  rollout: true,
  evaluate: 'all',
  widening: progressiveWidening(),
});

// Hears what a value says, and does not follow it.
const unmoved = mcts({
  width: 1,
  rollout: true,
  evaluate: 'all',
  widening: progressiveWidening(),
  selection: descend(uct(), { widening: progressiveWidening() }),
});

const prm = (task: ChainTask): ChainEvaluator => task.evaluator({ noise });
const blind = (task: ChainTask): ChainEvaluator => task.evaluator({ blind: true });
const inverted = (task: ChainTask): ChainEvaluator => task.evaluator({ noise, inverted: true });

const arms: readonly Arm[] = [
  { name: 'best of N', algorithm: bestOfN() },
  { name: 'MCTS', algorithm: unguided },
  { name: 'MCTS, PRM', algorithm: guided, evaluator: prm },
  { name: 'MCTS, PRM, widened as without', algorithm: sameRule, evaluator: prm },
  { name: 'MCTS, noise', algorithm: guided, evaluator: blind },
  { name: 'MCTS, inverted PRM', algorithm: guided, evaluator: inverted },
  { name: 'MCTS, a quarter of the calls', algorithm: unguided, share: bound.share },
];

function methodOf(arm: Arm, { calls, ...chain }: Setting): Method<string> {
  const budget = { calls: Math.floor(calls * (arm.share ?? 1)) };
  return {
    name: arm.name,
    async run(problem) {
      const result = await grow(arm, chainTask({ ...chain, seed: problem }), {
        budget,
        problem,
      });
      const { solved: isSolved, spend } = result;
      return { solved: isSolved, ...spend };
    },
  };
}

function grow(
  { algorithm, evaluator }: Pick<Arm, 'algorithm' | 'evaluator'>,
  task: ChainTask,
  { budget, problem }: { readonly budget: Budget; readonly problem: string },
): Promise<SearchResult<readonly number[], number>> {
  const { environment, policy } = task;
  return searchOf({
    environment,
    policy,
    algorithm,
    ...(evaluator !== undefined && { evaluator: evaluator(task) }),
    budget,
    ...(budget.calls !== undefined && { stopWhen: solved() }),
    seed: problem,
  });
}

/** What calibration says of a value, on trees that grew without its help. */
async function calibration(
  setting: Setting,
  evaluator: (task: ChainTask) => ChainEvaluator,
): Promise<Reliability> {
  const nodes: SearchNode<readonly number[], number>[] = [];
  for (let index = 0; index < 40; index++) {
    const problem = `${values.seed}/calibration ${index}`;
    const task = chainTask({ ...setting, seed: problem });
    const budget = { simulations: 10 };
    const result = await grow({ algorithm: unmoved, evaluator }, task, { budget, problem });
    nodes.push(...result.tree.nodes());
  }
  return reliability(labelledFrom(nodes, ({ reward }) => reward === 1));
}

const failed: string[] = [];

function claim(text: string, holds: boolean): void {
  process.stdout.write(`  ${holds ? 'holds' : 'FAILS'}: ${text}\n`);
  if (!holds) failed.push(text);
}

const points = (share: number) => `${share < 0 ? '−' : '+'}${Math.abs(100 * share).toFixed(1)}`;

/** One arm less another, on the same problems. */
type Less = (one: string, other: string) => { readonly low: number; readonly text: string };

async function compared(setting: Setting): Promise<Less> {
  const { steps, sound, recovers, calls } = setting;
  const problems = Array.from(
    { length: Number(values.problems) },
    (_, index) => `${values.seed}/${index}`,
  );
  const methods = arms.map((arm) => methodOf(arm, setting));
  const { rows, solved: outcomes } = await compare({ problems, methods });
  const tries = 1 / chainTask({ steps, sound, recovers }).value([]);
  process.stdout.write(
    `\n${steps} steps, sound ${sound}, mended ${recovers}: one try in ${tries.toFixed(0)} succeeds. ` +
      `${problems.length} problems, at most ${calls} calls each.\n`,
  );
  for (const { method, solved: count, of, calls: mean } of rows) {
    const share = ((100 * count) / of).toFixed(1).padStart(6);
    process.stdout.write(
      `  ${method.padEnd(30)} ${share} %  ${mean.toFixed(1).padStart(6)} calls\n`,
    );
  }
  return (one, other) => {
    const solvedBy = (name: string) => outcomes[arms.findIndex((arm) => arm.name === name)] ?? [];
    const { difference, low, high } = pairedDifference(solvedBy(one), solvedBy(other));
    return {
      low,
      text: `${one} less ${other}: ${points(difference)} [${points(low)}, ${points(high)}]`,
    };
  };
}

async function examine(setting: Setting): Promise<void> {
  const less = await compared(setting);
  for (const [one, other] of [
    ['MCTS', 'best of N'],
    ['MCTS, PRM', 'MCTS'],
  ] as const) {
    const { low, text } = less(one, other);
    claim(`${text}, above 0`, low > 0);
  }
  const price = less('MCTS, noise', 'MCTS, a quarter of the calls');
  claim(`${price.text}, above ${points(-bound.margin)}`, price.low > -bound.margin);
  process.stdout.write(`         ${less('MCTS, noise', 'MCTS').text}\n`);
  for (const [name, evaluator, wanted] of [
    ['PRM', prm, 'sound'],
    ['noise', blind, 'noise'],
    ['inverted PRM', inverted, 'inverted'],
  ] as const) {
    const report = await calibration(setting, evaluator);
    const found = report.inverted ? 'inverted' : report.noise ? 'noise' : 'sound';
    claim(`calibration of ${name}: ${report.sentence}`, found === wanted);
    if (values.diagrams) process.stdout.write(renderReliability(report));
  }
}

for (const setting of settings) await examine(setting);
if (failed.length > 0) {
  process.stdout.write(`\n${failed.length} claims fail.\n`);
  process.exitCode = 1;
}
