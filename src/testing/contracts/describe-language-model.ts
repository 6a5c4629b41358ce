import { expectOptions } from '../../base/expect-options.ts';
import { subjectOf, type TestRunner } from '../test-runner.ts';
import { describeAnswers, describeTokens } from './language-model/answers.ts';
import { describeAborts, describeConcurrency } from './language-model/calls.ts';
import {
  describeLogprobs,
  describeSampling,
  describeTexts,
} from './language-model/capabilities.ts';
import type { LanguageModelClaims } from './language-model/claims.ts';

/**
 * The contract of a `LanguageModel` as tests: the requested number of completions, or an error; declared capabilities
 * that work; a usage that counts every sample; independent calls; and effective aborts.
 *
 * Undeclared capabilities are not tested. A model that cannot be made deterministic, by a seed or temperature 0, is
 * tested as far as possible without.
 *
 * @example
 * ```ts
 * import { describe, test } from 'vitest';
 * describeLanguageModel('my server', { create: () => myServer() }, { describe, test });
 * ```
 */
export function describeLanguageModel(
  name: string,
  claims: LanguageModelClaims,
  runner: TestRunner,
): void {
  expectOptions('describeLanguageModel', claims, 'create prompt maxTokens abortsWithinMs exempt');
  const subject = subjectOf(claims, runner);
  subject.runner.describe(`language model ${name}`, () => {
    describeAnswers(subject);
    describeTokens(subject);
    describeSampling(subject);
    describeTexts(subject);
    describeLogprobs(subject);
    describeConcurrency(subject);
    describeAborts(subject);
  });
}
