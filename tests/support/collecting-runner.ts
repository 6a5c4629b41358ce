import type { TestRunner } from '../../src/testing/index.ts';

/** What became of one test. */
export interface Outcome {
  readonly name: string;
  /** Why it failed; `undefined` where it passed. */
  readonly error: unknown;
}

/** Runs contract suites without a test runner and says what became of each test. */
export async function outcomesOf(
  define: (runner: TestRunner) => void,
): Promise<readonly Outcome[]> {
  const tests: { readonly name: string; readonly run: () => void | Promise<void> }[] = [];
  define({
    describe: (_name, group) => group(),
    test: (name, run) => void tests.push({ name, run }),
  });
  const outcomes: Outcome[] = [];
  for (const { name, run } of tests) outcomes.push({ name, error: await errorOf(run) });
  return outcomes;
}

/** The names of the tests that failed. */
export async function failuresOf(define: (runner: TestRunner) => void): Promise<readonly string[]> {
  const outcomes = await outcomesOf(define);
  return outcomes.filter(({ error }) => error !== undefined).map(({ name }) => name);
}

async function errorOf(run: () => void | Promise<void>): Promise<unknown> {
  try {
    await run();
    return undefined;
  } catch (error) {
    return error ?? new Error('a test threw nothing');
  }
}
