import { expectOptions } from '../../base/expect-options.ts';
import { seededRandom } from '../../base/random.ts';
import type { Environment, Notation, Transition } from '../../contracts/environment.ts';
import type { Oracle } from '../../contracts/verifier.ts';
import type { BenchTask } from '../task.ts';
import { type CodeProblem, type CodeTest, drawCode } from './code-problems.ts';
import type { BenchTaskEntry } from './entry.ts';
import { readRequest } from './request.ts';
import { expectSandbox, runInSandbox } from './sandbox.ts';

/** Functions over lists of integers, two to five stages long. They run in QuickJS, and never in the host. */
export const codeEntry: BenchTaskEntry = {
  name: 'code',
  title: 'functions in JavaScript, with tests',
  create(options = {}) {
    expectOptions('code', options, '');
    return code;
  },
};

/** A function that was asked for, as far as it has come. Plain JSON. */
export interface CodeState {
  readonly text: string;
  readonly visible: readonly CodeTest[];
  /** What was written last. Left out: nothing yet. */
  readonly code?: string;
  /** What came of the visible tests, a line each. */
  readonly report?: readonly string[];
  /** How often something was written. */
  readonly attempts: number;
}

/** How often a function may be written anew. */
const mostAttempts = 4;
/** The longest function, in characters. */
const longestCode = 20_000;

const code: BenchTask<CodeState, string> = {
  name: 'code',
  title: 'Code with tests',
  async instances(request) {
    await expectSandbox();
    const { count, seed } = readRequest(this, request);
    const random = seededRandom(seed).split('code');
    return Array.from({ length: count }, (_, index) => {
      const own = random.split(index);
      const steps = 2 + own.integer(4);
      const problem = drawCode(own, steps);
      return {
        id: `${index + 1}-of-${steps}-stages`,
        environment: codeEnvironment(problem),
        oracle: hiddenTests(problem),
        maxTokens: 1_024,
      };
    });
  },
};

/**
 * An action is a whole function: no part of one can be tested. One that passes the tests that are shown is an end; one
 * that does not is an answer that may be refined, with what the tests said.
 */
function codeEnvironment({ text, visible }: CodeProblem): Environment<CodeState, string> {
  return {
    name: 'code',
    reset: () => ({ state: { text, visible, attempts: 0 } }),
    async step(state, action): Promise<Transition<CodeState>> {
      const results = await resultsOf(action, visible);
      const report = results.map(({ line }) => line);
      const passed = results.filter(({ isRight }) => isRight).length;
      const next = { ...state, code: action, report, attempts: state.attempts + 1 };
      const isEnd = passed === visible.length || next.attempts === mostAttempts;
      const reward = passed / visible.length;
      return { state: next, answer: true, ...(isEnd && { terminal: true, reward }) };
    },
    notation,
  };
}

function hiddenTests({ hidden }: CodeProblem): Oracle<CodeState> {
  return {
    async label(state) {
      if (state.code === undefined) return { correct: false, rationale: 'There is no function.' };
      const results = await resultsOf(state.code, hidden);
      const passed = results.filter(({ isRight }) => isRight).length;
      return { correct: passed === hidden.length, score: passed / hidden.length };
    },
  };
}

async function resultsOf(source: string, tests: readonly CodeTest[]) {
  const calls = tests.map(({ input }) => `solve(${JSON.stringify(input)})`);
  const results = await runInSandbox(source.replace(/^\s*export\s+(?:default\s+)?/, ''), calls);
  return tests.map(({ output }, place) => {
    const result = results[place] ?? { error: 'It gave nothing.' };
    const wanted = JSON.stringify(output);
    const got = 'error' in result ? result.error : result.value;
    const isRight = 'value' in result && result.value === wanted;
    const line = isRight
      ? `${calls[place]} is right`
      : `${calls[place]} should be ${wanted}, got ${got.slice(0, 200)}`;
    return { isRight, line };
  });
}

const notation: Notation<CodeState, string> = {
  prompt({ text, visible, code: written, report = [] }) {
    const shown = visible.map(
      ({ input, output }) => `solve(${JSON.stringify(input)}) is ${JSON.stringify(output)}`,
    );
    const asked = `${text}\n\n${shown.join('\n')}\n\nAnswer with the function in a code block, and nothing else.`;
    if (written === undefined) return [{ role: 'user', content: asked }];
    return [
      { role: 'user', content: asked },
      { role: 'assistant', content: notation.format(written) },
      { role: 'user', content: `${report.join('\n')}\n\nMend it: answer with the whole function.` },
    ];
  },
  format: (action) => `\`\`\`js\n${action}\n\`\`\``,
  parse(text) {
    const [, block] = /```[a-z]*\n([\s\S]*?)\n?```/.exec(text) ?? [];
    const action = (block ?? text).trim();
    if (!action.includes('solve')) {
      return { failure: { kind: 'invalid', message: 'Expected a function `solve`.' } };
    }
    if (action.length > longestCode) {
      return {
        failure: { kind: 'invalid', message: `Expected at most ${longestCode} characters.` },
      };
    }
    return { action };
  },
};
