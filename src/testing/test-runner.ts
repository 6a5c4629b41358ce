/**
 * The part of a test runner that the contract suites need. vitest, jest, `node:test`, and any other with
 * these two functions will do.
 */
export interface TestRunner {
  /** Opens a group of tests. */
  describe(name: string, define: () => void): unknown;
  /** Adds a test. It fails by throwing. */
  test(name: string, run: () => void | Promise<void>): unknown;
}

/** What is tested, and by whom. */
export interface Subject<Claims> {
  /** What it claims. */
  readonly claims: Claims;
  /** Reports exempted tests with their reason instead of running them. */
  readonly runner: TestRunner;
}

/** The subject of a suite. */
export function subjectOf<
  Claims extends { readonly exempt?: Readonly<Record<string, readonly string[]>> },
>(claims: Claims, runner: TestRunner): Subject<Claims> {
  const exempt = Object.entries(claims.exempt ?? {});
  const test: TestRunner['test'] = (name, run) => {
    const [reason] = exempt.find(([, tests]) => tests.includes(name)) ?? [];
    if (reason === undefined) return runner.test(name, run);
    return runner.test(`${name} — not claimed: ${reason}`, () => {});
  };
  return { claims, runner: { describe: (name, define) => runner.describe(name, define), test } };
}
