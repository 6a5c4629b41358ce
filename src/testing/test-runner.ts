import { expectOneOf } from '../base/expect.ts';

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
 * @throws EspalierError `usage` within that group, for an exempted test that the suite does not have.
 */
export function subjectOf<
  Claims extends { readonly exempt?: Readonly<Record<string, readonly string[]>> },
>(claims: Claims, runner: TestRunner): Subject<Claims> {
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
      for (const name of exempt.flatMap(([, tests]) => tests)) expectOneOf('exempt', name, names);
    });
  return { claims, runner: { describe, test } };
}
