import { expectOptions } from '../../base/expect-options.ts';
import { subjectOf, type TestRunner } from '../test-runner.ts';
import type { AlgorithmClaims } from './algorithm/claims.ts';
import { describeCostSearch } from './algorithm/cost-search.ts';
import { describeFailures } from './algorithm/failures.ts';
import { describeLaws } from './algorithm/laws.ts';
import { describeLifecycle } from './algorithm/lifecycle.ts';
import { describeLimits } from './algorithm/limits.ts';
import { describeTruths } from './algorithm/truths.ts';

/**
 * The contract of a `SearchAlgorithm` as tests: known solutions of tiny problems, its declared conservation laws,
 * budgets that are never exceeded, and trees that depend only on seed and order.
 *
 * @example
 * ```ts
 * import { describe, test } from 'vitest';
 * describeAlgorithm('my search', { create: () => mySearch() }, { describe, test });
 * ```
 */
export function describeAlgorithm(name: string, claims: AlgorithmClaims, runner: TestRunner): void {
  expectOptions(
    'describeAlgorithm',
    claims,
    'create visitCounts findsBest converges costSearch exempt',
  );
  const subject = subjectOf(claims, runner);
  subject.runner.describe(`algorithm ${name}`, () => {
    describeTruths(subject);
    describeLaws(subject);
    describeLifecycle(subject);
    describeLimits(subject);
    describeFailures(subject);
    describeCostSearch(subject);
  });
}
