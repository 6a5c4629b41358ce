import { EspalierError } from '../base/errors.ts';
import { expectMethods } from '../base/expect.ts';
import { nearestName } from '../base/nearest-name.ts';

/**
 * The part of a test runner that the contract suites need. vitest, jest, `node:test` and any other with these two
 * functions work.
 */
export interface TestRunner {
  /** Opens a group of tests. */
  describe(name: string, define: () => void): unknown;
  /** Adds a test. It fails by throwing. */
  test(name: string, run: () => void | Promise<void>): unknown;
}

/** The subject and the runner of a suite. */
export interface Subject<Claims> {
  /** Its name in the report. */
  readonly claims: Claims;
  /** Reports exempted tests with their reason instead of running them. */
  readonly runner: TestRunner;
}

/**
 * The subject of a suite. Its runner's `describe` opens the group of all its tests.
 *
 * @throws EspalierError `usage` for a missing runner and, within that group, for an exempted test that the suite does
 * not have.
 */
export function subjectOf<
  Claims extends { readonly exempt?: Readonly<Record<string, readonly string[]>> },
>(claims: Claims, runner: TestRunner): Subject<Claims> {
  expectMethods('runner', runner, ['describe', 'test']);
  const exempt = Object.entries(claims.exempt ?? {});
  const names: string[] = [];
  const test: TestRunner['test'] = (name, run) => {
    names.push(name);
    const [reason] = exempt.find(([, tests]) => tests.includes(name)) ?? [];
    if (reason === undefined) return runner.test(name, run);
    return runner.test(`${name} — not claimed: ${reason}`, () => {});
  };
  const describe: TestRunner['describe'] = (title, define) =>
    runner.describe(title, () => {
      define();
      const wrong = exempt.flatMap(([, tests]) => tests).find((name) => !names.includes(name));
      if (wrong === undefined) return;
      const nearest = nearestName(wrong, names, Number.POSITIVE_INFINITY);
      const message = `Expected \`exempt\` to name tests of this suite, got '${wrong}'. The nearest is '${nearest}'.`;
      throw new EspalierError('usage', message);
    });
  return { claims, runner: { describe, test } };
}
