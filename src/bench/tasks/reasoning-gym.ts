import { EspalierError } from '../../base/errors.ts';
import { expectation } from '../../base/expect.ts';
import { expectOptions } from '../../base/expect-options.ts';
import { seededRandom } from '../../base/random.ts';
import type { Oracle } from '../../contracts/verifier.ts';
import { type ReasoningState, reasoning, remoteEnvironment } from '../../environments/index.ts';
import { answerOfStep } from '../../environments/text/extract-answer.ts';
import type { BenchTask } from '../task.ts';
import type { BenchTaskEntry } from './entry.ts';
import { aside, pythonCommand, startedAside } from './python-side.ts';
import { readRequest } from './request.ts';

/** The generators of a Python package, which score the answers themselves. */
export const reasoningGymEntry: BenchTaskEntry = {
  name: 'reasoning-gym',
  title: 'a generator of reasoning-gym, in Python',
  paper: 'Stojanovski et al., Reasoning Gym, 2025, arXiv:2505.24760',
  argument: { option: 'generator', example: 'chain_sum', required: true },
  create(options = {}) {
    expectOptions('reasoning-gym', options, 'generator');
    const { generator } = options;
    if (generator === undefined) throw expectation('generator', 'the name of one', generator);
    return reasoningGym(generator);
  },
};

/** What the Python side shows first. */
interface Shown {
  readonly questions?: readonly string[];
  readonly problem?: string;
}

interface Answered {
  readonly index: number;
  readonly answer: string;
}

function reasoningGym(generator: string): BenchTask {
  const open: { [Symbol.asyncDispose](): PromiseLike<void> }[] = [];
  return {
    name: `reasoning-gym-${generator.toLowerCase().replace(/[^a-z0-9]+/g, '-')}`,
    title: `reasoning-gym: ${generator}`,
    source: 'reasoning-gym, PyPI',
    licence: 'Apache-2.0',
    async instances(request) {
      const { count, seed } = readRequest(this, request);
      const drawn = seededRandom(seed)
        .split('reasoning-gym')
        .integer(2 ** 31);
      const remote = remoteEnvironment<Answered, Shown | null>({
        name: 'reasoning-gym',
        command: pythonCommand('espalier_reasoning_gym.py'),
        task: { name: generator, seed: drawn, size: count },
        // Some generators take long for the first question.
        timeoutMs: 300_000,
      });
      open.push(remote);
      const { state } = await startedAside(remote, missing);
      const { questions, problem = 'missing' } = state.start.observation ?? {};
      if (questions === undefined) {
        throw new EspalierError('usage', problem === 'missing' ? missing : problem);
      }
      return questions.map((question, index) => ({
        id: `${index + 1}`,
        environment: reasoning({ question, system, extract }),
        oracle: oracleOf(async (answer) => {
          const { reward = 0 } = await remote.step(state, { index, answer }, aside);
          return reward;
        }),
      }));
    },
    async close() {
      await Promise.all(open.splice(0).map((remote) => remote[Symbol.asyncDispose]()));
    },
  };
}

const missing =
  'The task `reasoning-gym` needs a `python3` of version 3.11 or later with its package first on the PATH: run `python3 -m pip install reasoning-gym`.';

function oracleOf(scoreOf: (answer: string) => Promise<number>): Oracle<ReasoningState> {
  return {
    async label({ answer }) {
      if (answer === undefined) return { correct: false, rationale: 'There is no answer.' };
      const score = await scoreOf(answer);
      return { correct: score >= 1, score };
    },
  };
}

const system =
  'Think step by step. Write the final answer, and nothing else, between <answer> and </answer>.';

/** The longest answer, in characters: some are grids. */
const longest = 20_000;

/** What stands in the last `<answer>…</answer>`, or an answer in another form. */
function extract(step: string): string | undefined {
  const end = step.lastIndexOf('</answer>');
  const start = end < 0 ? -1 : step.lastIndexOf('<answer>', end);
  const answer = start < 0 ? '' : step.slice(start + '<answer>'.length, end).trim();
  return answer === '' || answer.length > longest ? answerOfStep(step) : answer;
}
