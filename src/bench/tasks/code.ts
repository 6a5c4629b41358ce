import { expectOptions } from '../../base/expect-options.ts';
import { seededRandom } from '../../base/random.ts';
import type { BenchTask } from '../task.ts';
import { type CodeTest, type DrawnCode, drawCode } from './code-problems.ts';
import type { BenchTaskEntry } from './entry.ts';
import { readRequest } from './request.ts';
import { expectSandbox, runInSandbox } from './sandbox.ts';
import {
  type CodeProblem,
  type CodeResult,
  type CodeState,
  codeEnvironment,
  hiddenTests,
} from './written-code.ts';

/** Functions over lists of integers, two to five stages long. They run in QuickJS, never in the host. */
export const codeEntry: BenchTaskEntry = {
  name: 'code',
  title: 'functions in JavaScript, with tests',
  create(options = {}) {
    expectOptions('code', options, '');
    return code;
  },
};

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
      const problem = problemOf(drawCode(own, steps));
      return {
        id: `${index + 1}-of-${steps}-stages`,
        environment: codeEnvironment(problem),
        oracle: hiddenTests(problem),
        maxTokens: 1_024,
      };
    });
  },
};

function problemOf({ text, visible, hidden }: DrawnCode): CodeProblem {
  const shown = visible.map(
    ({ input, output }) => `solve(${JSON.stringify(input)}) is ${JSON.stringify(output)}`,
  );
  return {
    name: 'code',
    text: `${text}\n\n${shown.join('\n')}\n\nAnswer with the function in a code block, and nothing else.`,
    language: 'js',
    entry: 'solve',
    shown: (source) => resultsOf(source, visible),
    hidden: (source) => resultsOf(source, hidden),
  };
}

/** A module as a script: its declarations without `export`, and without lists of exports. */
function scriptOf(source: string): string {
  return source
    .replace(/^[^\S\n]*export\s*\{[^}]*\}/gm, '')
    .replace(
      /^([^\S\n]*)export\s+default\s+(?!(?:async\s+)?function\b|class\b)/gm,
      '$1module.exports = ',
    )
    .replace(
      /^([^\S\n]*)export\s+(?:default\s+)?(?=(?:async|function|class|const|let|var)\b)/gm,
      '$1',
    );
}

async function resultsOf(
  source: string,
  tests: readonly CodeTest[],
): Promise<readonly CodeResult[]> {
  const calls = tests.map(({ input }) => `solve(${JSON.stringify(input)})`);
  const results = await runInSandbox(scriptOf(source), calls);
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
