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

/** Tests that do not apply, and why not. */
export interface Exemption {
  /** Why the tests do not apply: one sentence for a reader of the report. */
  readonly reason: string;
  /** The names of the tests. */
  readonly tests: readonly string[];
}

/** A runner that reports exempted tests with their reason instead of running them. */
export function withExemptions(runner: TestRunner, exemptions: readonly Exemption[]): TestRunner {
  return {
    describe: (name, define) => runner.describe(name, define),
    test(name, run) {
      const exemption = exemptions.find(({ tests }) => tests.includes(name));
      if (exemption === undefined) return runner.test(name, run);
      return runner.test(`${name} — not claimed: ${exemption.reason}`, () => {});
    },
  };
}
