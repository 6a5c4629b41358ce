import { randomUUID } from 'node:crypto';
import { z } from 'zod';
import { EspalierError } from '../../base/errors.ts';
import { expectation } from '../../base/expect.ts';
import { expectOptions } from '../../base/expect-options.ts';
import { expectDifferent, jsonLine } from '../../runs/problems-file.ts';
import type { BenchTaskEntry } from './entry.ts';
import { loadPython, runPython } from './python-sandbox.ts';
import { readRequest } from './request.ts';
import { readTaskLines, titleOf } from './task-file.ts';
import { type CodeProblem, type CodeResult, codeEnvironment, hiddenTests } from './written-code.ts';

const problem = z.object({
  task_id: z.string(),
  prompt: z.string(),
  entry_point: z.string().regex(/^[A-Za-z_]\w*$/),
  test: z.string(),
});

type Problem = z.infer<typeof problem>;

/**
 * Functions in Python, scored by the tests of the file. They run in WebAssembly, never in the host. The examples in a
 * docstring (`>>>`) are tests that the model may see. As in the original, a function and its tests share one
 * interpreter: code written to deceive its tests can.
 */
export const humanEvalEntry: BenchTaskEntry = {
  name: 'humaneval',
  title: 'HumanEval, functions in Python',
  paper: 'Chen et al., Evaluating Large Language Models Trained on Code, 2021, arXiv:2107.03374',
  argument: { option: 'file', example: 'HumanEval.jsonl', required: true },
  create(options = {}) {
    expectOptions('humaneval', options, 'file');
    const { file } = options;
    if (file === undefined) throw expectation('file', 'the path of a file with problems', file);
    return {
      name: 'humaneval',
      title: titleOf('HumanEval', file),
      licence: 'MIT',
      async instances(request) {
        const { limit } = readRequest(this, request);
        const expected = 'expected `task_id`, `prompt`, `entry_point` and `test`';
        const asked = readTaskLines(file).map((line) => {
          const read = jsonLine(line.text, problem, { ...line, expected });
          return { id: read.task_id, number: line.number, ...read };
        });
        expectDifferent(file, asked);
        await loadPython();
        return asked.slice(0, limit).map((each) => {
          const made = codeProblem(each);
          return {
            id: each.id,
            environment: codeEnvironment(made),
            oracle: hiddenTests(made),
            maxTokens: 1_024,
          };
        });
      },
    };
  },
};

function codeProblem({ prompt, entry_point: entry, test }: Problem): CodeProblem {
  const run = (code: string, hidden: boolean) =>
    resultsOf({ prompt, entry, code, ...(hidden && { test }) });
  return {
    name: 'humaneval',
    text: `Complete this Python function.\n\n\`\`\`python\n${prompt.trim()}\n\`\`\`\n\nAnswer with the complete function in a code block, and nothing else.`,
    language: 'python',
    entry,
    shown: (code) => run(code, false),
    hidden: (code) => run(code, true),
  };
}

interface Trial {
  readonly prompt: string;
  readonly entry: string;
  readonly code: string;
  /** The hidden tests. Left out: the examples of the docstring are run. */
  readonly test?: string;
}

async function resultsOf(trial: Trial): Promise<readonly CodeResult[]> {
  // The code under test may write to the same output, so the results stand behind a word that it does not know.
  const secret = randomUUID();
  const ran = await runPython(program, JSON.stringify({ ...trial, secret }));
  const failed = (reason: string) => [{ isRight: false, line: `It failed: ${reason}` }];
  if ('error' in ran) return failed(ran.error);
  const [, told] = ran.output.split(secret);
  if (told === undefined) return failed('it ended Python before its tests.');
  const [fault = '', ...results] = told.split('\n');
  // The right solution would fail as well: nobody knows whether this one is right.
  if (fault !== '') {
    throw new EspalierError(
      'usage',
      `The tests in \`test\` cannot be run: ${fromHex(fault)}. Fix the file.`,
    );
  }
  return results.map((each) => ({ isRight: each.startsWith('1'), line: fromHex(each.slice(1)) }));
}

function fromHex(text: string): string {
  return Buffer.from(text, 'hex').toString();
}

/**
 * Runs the prompt, whose function has a docstring for a body, and then the code over it, so that imports and helpers of
 * the prompt are there. Code that does not define the function is a body that continues the prompt. It writes what is
 * wrong with the tests themselves, and on a line for each result 1 or 0 and its sentence, all texts in hexadecimal.
 */
const program = `
import ast, doctest, io, json, os, re, sys
def main():
    asked = json.loads(sys.stdin.read())
    prompt, entry, code = asked["prompt"], asked["entry"], asked["code"]
    secret, test = asked["secret"], asked.get("test")
    # The code under test may replace any name of a module, so what runs the hidden tests and writes the results is kept
    # here. Code that searches the frames of the interpreter still finds it.
    run, write, encode, results = exec, os.write, str.encode, []
    def hexed(text):
        return encode(text, "utf-8", "replace").hex()
    sys.stdout = sys.stderr = io.StringIO()
    def told(error):
        return (type(error).__name__ + ": " + str(error))[:200]
    fault, space = "", {"__name__": "solution"}
    try:
        if test is not None:
            fault = faultOf(prompt, test, told) or ""
        run(prompt, space)
        doc = space[entry].__doc__ or ""
        whole = re.search(r"^(async )?(def|class) " + entry + r"\\b|^" + entry + r" *=", code, re.M)
        run(code if whole else prompt + code, space)
        if test is None:
            for example in examples(doc):
                results.append(shown(example, space, told))
        else:
            run(test, space)
            space["check"](space[entry])
            results.append([True, "it passes"])
    except BaseException as error:
        results.append([False, "It failed: " + told(error)])
    lines = [hexed(fault)]
    for right, line in results:
        lines.append(("1" if right else "0") + hexed(line))
    write(1, encode(secret + "\\n".join(lines) + secret))
# Before any code under test: what no solution could fix.
def faultOf(prompt, test, told):
    space = {"__name__": "solution"}
    try:
        exec(prompt, space)
        exec(test, space)
    except (SyntaxError, ImportError, NameError) as error:
        return told(error)
    except BaseException:
        # Tests outside of check may need the solution.
        return None
    return None if "check" in space else "there is no function check"
def examples(doc):
    try:
        return doctest.DocTestParser().get_examples(doc)
    except ValueError:
        return []
def same(want, got):
    try:
        return ast.literal_eval(want) == ast.literal_eval(got)
    except Exception:
        return doctest.OutputChecker().check_output(want, got, doctest.NORMALIZE_WHITESPACE)
def shown(example, space, told):
    source = example.source.strip()
    want = (example.exc_msg or example.want).strip()
    sys.stdout = io.StringIO()
    try:
        exec(compile(source, "example", "single"), space)
        got = sys.stdout.getvalue().strip()
        # An example without a result states an equation.
        want = want or got and "True"
    except BaseException as error:
        got = told(error)
    right = same(want, got)
    return [right, source + (" is right" if right else " should give " + want + ", got " + got[:200])]
main()
`;
