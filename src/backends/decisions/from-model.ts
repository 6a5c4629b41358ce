import { ModelCallError } from '../../base/errors.ts';
import { expectMethods } from '../../base/expect.ts';
import { expectOptions } from '../../base/expect-options.ts';
import { shortened } from '../../base/failure.ts';
import { leastMass } from '../../base/stats/least-mass.ts';
import type { Decision, DecisionModel, Question } from '../../contracts/decision-model.ts';
import type {
  Completion,
  LanguageModel,
  TokenAlternative,
} from '../../contracts/language-model.ts';
import type { Provenance } from '../../contracts/provenance.ts';
import { promptsOf, withTexts } from '../../prompting/prompts.ts';
import { usageOfAll } from '../transport/endpoint.ts';
import { codesOf, decisionPrompts, questionText, withQuestion } from './codes.ts';
import { decisionFrom, expectQuestions, refused, unread } from './read.ts';

/**
 * Makes a decision model from a language model: each question is asked separately, its answer is one token, and the
 * probabilities are those of the answer codes (yes and no, A, B, …, 0, 1, …) among the likeliest tokens, normalised:
 * `p(a) / Σ p`. A token matches a code ignoring surrounding spaces; for yes and no, also ignoring case.
 *
 * A question fails if its codes have a total probability below 0.1. All questions together are one call in the ledger,
 * under the model's name; the reservation includes the conversation once per question.
 *
 * @throws EspalierError `usage` if an option is out of range. A model without log-probabilities is a `ModelCallError`
 * of the kind `capability`.
 * @see Kadavath et al., "Language Models (Mostly) Know What They Know", 2022, section 3.
 */
export function decisionsFromModel(options: {
  /** The model. It must report log-probabilities. */
  readonly model: LanguageModel;
  /** The number of likeliest tokens to check: an integer from 2 to 20. @defaultValue 20 */
  readonly topLogprobs?: number;
  /** Replacement texts. @defaultValue none */
  readonly prompts?: Partial<
    Readonly<Record<'choice' | 'meaning' | 'option' | 'scale' | 'yesNo', string>>
  >;
}): DecisionModel & Pick<Provenance, 'prompts'> {
  expectOptions('decisionsFromModel', options, 'model topLogprobs prompts');
  const { model, topLogprobs = 20, prompts } = options;
  expectMethods('model', model, ['generate']);
  const set = withTexts(decisionPrompts, prompts);
  const { provider, modelId } = model;
  return {
    provider,
    modelId,
    ...(model.price !== undefined && { price: model.price }),
    settings: { ...model.settings, topLogprobs },
    prompts: promptsOf(set),
    async decide(request, call) {
      expectQuestions(request);
      const { messages, questions } = request;
      const asked = await Promise.all(
        Object.entries(questions).map(async ([name, question]) => {
          const { completions, usage } = await model.generate(
            {
              messages: withQuestion(messages, questionText(question, set)),
              maxTokens: 1,
              ...(model.capabilities.temperature === true && { temperature: 0 }),
              ...{ logprobs: true, topLogprobs },
            },
            call,
          );
          return { name, usage, decision: read({ name, question, model }, completions[0]) };
        }),
      );
      return {
        answers: Object.fromEntries(asked.map(({ name, decision }) => [name, decision])),
        ...usageOfAll(asked.map(({ usage }) => usage)),
      };
    },
  };
}

interface Reading {
  readonly name: string;
  readonly question: Question;
  readonly model: LanguageModel;
}

function read({ name, question, model }: Reading, completion: Completion | undefined): Decision {
  if (completion?.finishReason === 'refusal') return refused(name);
  const first = completion?.logprobs?.[0];
  if (first === undefined) {
    throw new ModelCallError({
      kind: 'capability',
      message: `${model.provider}:${model.modelId} reported no log-probabilities, which its decisions are read from.`,
      parameter: 'logprobs',
    });
  }
  const told = first.top === undefined || first.top.length === 0 ? [first] : first.top;
  const codes = codesOf(question);
  const masses = codes.map((code) => massOf(code, told));
  const sum = masses.reduce((total, mass) => total + mass, 0);
  if (sum >= leastMass) {
    return decisionFrom(
      question,
      masses.map((mass) => mass / sum),
    );
  }
  const tokens = told.slice(0, 5).map(({ token }) => JSON.stringify(shortened(token, 60)));
  return unread(
    `Expected one of ${codes.join(', ')} with a probability of ${leastMass} or more, got ${tokens.join(', ')}.`,
  );
}

function massOf(code: string, told: readonly TokenAlternative[]): number {
  // A lower-case `a` is an article; only words ignore case.
  const isWord = code.length > 1;
  const written = (token: string) => (isWord ? token.trim().toLowerCase() : token.trim());
  return told
    .filter(({ token }) => written(token) === code)
    .reduce((sum, { logprob }) => sum + Math.exp(logprob), 0);
}
