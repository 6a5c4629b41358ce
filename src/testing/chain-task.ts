import { expectation, expectInteger, expectNumber } from '../base/expect.ts';
import { expectOptions } from '../base/expect-options.ts';
import { seededRandom } from '../base/random.ts';
import type { Random } from '../contracts/context.ts';
import type { Environment } from '../contracts/environment.ts';
import type { Evaluation } from '../contracts/evaluation.ts';
import type { Evaluator } from '../contracts/evaluator.ts';
import type { Failed, Failure } from '../contracts/failure.ts';
import type { LanguageModel } from '../contracts/language-model.ts';
import type { Policy } from '../contracts/policy.ts';
import type { RewardModel } from '../contracts/reward-model.ts';
import { withState } from '../policies/with-state.ts';
import { scriptedModel } from './scripted-model.ts';

/**
 * A reasoning task with planted mistakes and known true values. A state is a partial solution: the numbers of its
 * steps, which do not reveal whether a step is sound.
 */
export interface ChainTask {
  /** Takes steps. The end is rewarded: 1 without a mistake, else 0. Nothing before the end is. */
  readonly environment: Environment<readonly number[], number>;
  /** π: asks {@link ChainTask.model} for steps, one call per step. */
  readonly policy: Policy<readonly number[], number>;
  /** Writes steps. All samples of a state are different. */
  readonly model: LanguageModel;
  /** Whether there is a mistake in a solution. */
  isFlawed(state: readonly number[]): boolean;
  /** V^π(s): the probability that the policy ends without a mistake. */
  value(state: readonly number[]): number;
  /** V*(s): the return of the best steps that the policy can propose. */
  best(state: readonly number[]): number;
  /** A process reward model that knows the truth up to the noise set by `options`. */
  rewardModel(options?: {
    /**
     * σ: the standard deviation of the noise added to the log-odds of the truth, fixed by the steps. @defaultValue 0
     */
    readonly noise?: number;
    /** Whether it is inverted: 1 − v. @defaultValue false */
    readonly inverted?: boolean;
    /** Whether it is pure noise: a number in [0, 1) unrelated to the truth. @defaultValue false */
    readonly blind?: boolean;
  }): RewardModel;
  /** v(s) by that reward model: one call per state. The empty solution has no step to score, and fails. */
  evaluator(
    options?: Parameters<ChainTask['rewardModel']>[0],
  ): Evaluator<readonly number[], number>;
}

/**
 * A Markov chain over the steps of a solution with planted mistakes. From a flawless solution, a step is sound with
 * probability p; from a flawed one, it corrects the mistake with probability r. The state of the chain is the number of
 * steps and whether there is a mistake; the search sees neither, only steps.
 *
 * With λ = p − r, π∞ = r / (1 − λ) and n steps to go, a flawless solution ends without a mistake with probability `π∞ +
 * (1 − π∞) λⁿ`, and a flawed one with `π∞ − π∞ λⁿ`; if λ is 1, with 1 and 0.
 */
export function chainTask(
  options: {
    /** T: the number of steps of a solution. @defaultValue 8 */
    readonly steps?: number;
    /**
     * p: the probability that a step of a flawless solution is sound; otherwise it introduces a mistake. In (0, 1].
     * @defaultValue 0.7
     */
    readonly sound?: number;
    /** r: the probability that a step of a flawed solution corrects the mistake. In [0, 1). @defaultValue 0.1 */
    readonly recovers?: number;
    /** The seed of the task. @defaultValue 0 */
    readonly seed?: number | string;
  } = {},
): ChainTask {
  expectOptions('chainTask', options, 'steps sound recovers seed');
  const { steps = 8, sound = 0.7, recovers = 0.1, seed = 0 } = options;
  expectInteger('steps', steps, { min: 1 });
  if (!(sound > 0 && sound <= 1)) throw expectation('sound', 'above 0 and at most 1', sound);
  if (!(recovers >= 0 && recovers < 1)) {
    throw expectation('recovers', 'from 0 up and below 1', recovers);
  }
  const task = `chain ${JSON.stringify({ steps, sound, recovers, seed })}`;
  const chain = { task, steps, sound, recovers, random: seededRandom(seed), known: new Map() };
  const model = writer(chain);
  const rewardModel: ChainTask['rewardModel'] = (reader = {}) => readerOf(chain, reader);
  return {
    environment: {
      name: 'chain-task',
      reset: () => ({ state: [] }),
      step(state, step) {
        const next = [...state, step];
        if (next.length < steps) return { state: next };
        return { state: next, terminal: true, reward: isFlawed(chain, next) ? 0 : 1 };
      },
      key: (state) => state.join(' '),
    },
    policy: policyOf(model),
    model,
    isFlawed: (state) => isFlawed(chain, state),
    value: (state) => chanceOf(chain, state),
    best(state) {
      // A mistake can still be corrected at the last step, if it can be corrected at all.
      const isLost = isFlawed(chain, state) && (recovers === 0 || state.length === steps);
      return isLost ? 0 : 1;
    },
    rewardModel,
    evaluator: (reader) => evaluatorOf(rewardModel(reader)),
  };
}

interface Chain {
  /** Identifies the task in calls. */
  readonly task: string;
  readonly steps: number;
  readonly sound: number;
  readonly recovers: number;
  readonly random: Random;
  /** Whether solutions are flawed, as far as this was computed. */
  readonly known: Map<string, boolean>;
}

/** The range of step numbers: large enough that no two samples are equal. */
const numbers = 2 ** 31;

/** Whether a solution is flawed: each step's effect is determined by the task and all steps up to it. */
function isFlawed(chain: Chain, state: readonly number[]): boolean {
  if (state.length === 0) return false;
  const { sound, recovers, random, known } = chain;
  const key = state.join(' ');
  const before = known.get(key);
  if (before !== undefined) return before;
  const chance = isFlawed(chain, state.slice(0, -1)) ? recovers : sound;
  const flawed = random.split('step', key).next() >= chance;
  known.set(key, flawed);
  return flawed;
}

function chanceOf(chain: Chain, state: readonly number[]): number {
  const { steps, sound, recovers } = chain;
  const flawed = isFlawed(chain, state);
  const lambda = sound - recovers;
  if (lambda === 1) return flawed ? 0 : 1;
  const limit = recovers / (1 - lambda);
  const rest = lambda ** (steps - state.length);
  return flawed ? limit * (1 - rest) : limit + (1 - limit) * rest;
}

/** Writes the number of a step, determined by the task, the steps before it and the index of the sample. */
function writer({ task, random }: Chain): LanguageModel {
  return scriptedModel({
    provider: 'chain',
    modelId: task,
    answer: ({ messages }, index) =>
      String(random.split('write', messages.at(-1)?.content ?? '', index).integer(numbers)),
  });
}

function policyOf(model: LanguageModel): Policy<readonly number[], number> {
  return {
    async propose(node, { context, count, offset }) {
      const samples = Number.isFinite(count) ? count : 1;
      const messages = [
        { role: 'user' as const, content: `Steps: ${withState(node).state.join(' ')}` },
      ];
      const request = { messages, samples, offset, maxTokens: 8 };
      const { completions } = await context.generate(model, request);
      return completions.map((completion) => ({ action: Number(completion.text), completion }));
    },
  };
}

function readerOf(
  chain: Chain,
  reader: NonNullable<Parameters<ChainTask['rewardModel']>[0]>,
): RewardModel {
  expectOptions('rewardModel', reader, 'noise inverted blind');
  const { noise = 0, inverted = false, blind = false } = reader;
  expectNumber('noise', noise, { min: 0 });
  const look = (state: readonly number[]): number => {
    const random = chain.random.split('read', state.join(' '));
    if (blind) return random.next();
    const seen = chanceOf(chain, state);
    const read = noise === 0 ? seen : logistic(logOdds(seen) + noise * normal(random));
    return inverted ? 1 - read : read;
  };
  return {
    provider: 'chain',
    modelId: `reader of ${chain.task} ${JSON.stringify({ noise, inverted, blind })}`,
    score: async ({ solutions }) => ({
      scores: solutions.map(({ steps }) => {
        const state = steps.map(Number);
        return state.map((_, place) => look(state.slice(0, place + 1)));
      }),
    }),
  };
}

function evaluatorOf(model: RewardModel): Evaluator<readonly number[], number> {
  return {
    needs: 'realised',
    evaluate: (nodes, { context }) =>
      Promise.all(
        nodes.map(async (node): Promise<Evaluation | Failed> => {
          const steps = withState(node).state.map(String);
          if (steps.length === 0) return failed('empty', 'There is no step yet.');
          const solution = { prompt: 'chain', steps };
          const { scores } = await context.score(model, { solutions: [solution] });
          const [given] = scores;
          if (given === undefined) return failed('invalid', 'Expected scores, got none.');
          if ('kind' in given) return { failure: given };
          return { value: given.at(-1) ?? 0 };
        }),
      ),
  };
}

function failed(kind: Failure['kind'], message: string): Failed {
  return { failure: { kind, message } };
}

/** Kept away from 0 and 1, where noise would have no effect. */
function logOdds(chance: number): number {
  const inside = Math.min(0.999, Math.max(0.001, chance));
  return Math.log(inside / (1 - inside));
}

function logistic(odds: number): number {
  return 1 / (1 + Math.exp(-odds));
}

/** A draw from the standard normal distribution (Box and Muller, 1958). */
function normal(random: Random): number {
  const radius = Math.sqrt(-2 * Math.log(1 - random.next()));
  return radius * Math.cos(2 * Math.PI * random.next());
}
