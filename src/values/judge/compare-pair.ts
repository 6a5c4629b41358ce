import { expectMethods } from '../../base/expect.ts';
import { failedBy } from '../../base/failure.ts';
import { mean } from '../../base/stats/mean.ts';
import type { CallContext } from '../../contracts/context.ts';
import type { Failed } from '../../contracts/failure.ts';
import type { Completion, LanguageModel, Message } from '../../contracts/language-model.ts';
import { answerIn, likelyEnough, probabilitiesOf } from '../../prompting/answer-words.ts';
import { objectSchema } from '../../prompting/object-schema.ts';
import { fill, type PromptSet, withTexts } from '../../prompting/prompts.ts';
import { choiceIn } from '../../prompting/read-field.ts';
import { fieldsIn, reasonIn, replyText, unreadable } from '../../prompting/read-reply.ts';
import { requestSettings } from '../request-settings.ts';
import { askBehind } from '../subject.ts';

/** The texts of a comparison. */
export type ComparePairText = 'answer' | 'pair' | 'question' | 'reasonedAnswer' | 'rubric';

/** How a language model compares two things. */
export interface ComparePairOptions {
  /** The model. */
  readonly model: LanguageModel;
  /**
   * Whether it is to give a reason, which becomes the rationale. Then the preference is that of what it writes,
   * also where the model tells log-probabilities.
   *
   * @defaultValue false where the model tells log-probabilities, else true
   */
  readonly reason?: boolean;
  /** How many answers are averaged in each order: an integer from 1 up. @defaultValue 1 */
  readonly samples?: number;
  /** The limit on the tokens of one answer: an integer from 1 up. @defaultValue 256 with a reason, else 4 */
  readonly maxTokens?: number;
  /** The temperature of sampling: from 0 up, for models that take one. @defaultValue 0 for one sample, else 1 */
  readonly temperature?: number;
  /** What is compared by, in words. @defaultValue none */
  readonly rubric?: string;
  /** Texts to replace: `pair` with the slots `{first}` and `{second}`, `rubric`, `question`, `answer`, `reasonedAnswer`. */
  readonly prompts?: Partial<Readonly<Record<ComparePairText, string>>>;
}

/** Two things, and what they are about. */
export interface Pair {
  /** What both are about, as a conversation; it may be empty. */
  readonly messages: readonly Message[];
  /** One of them, as text. */
  readonly first: string;
  /** The other one. */
  readonly second: string;
}

/** Which of two things is better. */
export interface Comparison {
  /** How far the first one is preferred: 1 is a win, 0 a defeat, 0.5 a tie. */
  readonly preference: number;
  /** Why, in words, where a reason was wanted: that of the order as given. */
  readonly rationale?: string;
  /** How many answers could not be read, and do not count. @defaultValue 0 */
  readonly unscored?: number;
}

/** The texts that {@link comparePair} asks with, unless they are replaced. */
export const comparePrompts: PromptSet<ComparePairText> = {
  name: 'compare',
  version: 1,
  texts: {
    pair: 'Two candidates are to be compared.\n\nCandidate A:\n{first}\n\nCandidate B:\n{second}',
    rubric: 'Compare them by this:\n{rubric}',
    question: [
      'Do not write a step or an answer of your own. Judge which of the two is better: which is free of mistakes',
      'and more likely to lead to the goal. Neither their order nor their length counts.',
    ].join(' '),
    answer: 'Answer with one letter and nothing else: A, B, or T for a tie.',
    reasonedAnswer: [
      'Answer in JSON, and write nothing else:',
      '{{"reason": "<two sentences at most>", "better": "<A, B, or T for a tie>"}}',
    ].join(' '),
  },
};

/**
 * Compares two things by asking a language model twice, in parallel, the second time with their order swapped,
 * because models prefer what stands first, or last. The preference is the mean of both orders,
 *
 * `p = (p(first | as given) + p(first | swapped)) / 2`,
 *
 * so that a model that only looks at the order calls a tie, and `p(a, b) = 1 − p(b, a)`. In each order it is the
 * mean over the samples; where the model tells log-probabilities `P(A) + P(T) / 2` over the mass of the three
 * letters.
 *
 * An answer that cannot be read, or whose letters have a probability below 0.1 in all, does not count. Where one order has no answer that counts, the comparison fails:
 * half of it would say where the candidate stood.
 *
 * @see Zheng et al., "Judging LLM-as-a-Judge with MT-Bench and Chatbot Arena", 2023, position bias.
 * @throws EspalierError `usage` where an option is out of its range.
 */
export async function comparePair(
  pair: Pair,
  options: ComparePairOptions,
  context: CallContext,
): Promise<Comparison | Failed> {
  const asking = askingOf(options);
  const orders = [pair, { ...pair, first: pair.second, second: pair.first }];
  try {
    const [given, swapped] = await Promise.all(
      orders.map(async (order) => {
        const messages = askBehind(order.messages, asking.request(order));
        const { completions } = await context.generate(options.model, {
          ...asking.settings,
          messages,
        });
        return preferenceIn(completions, asking.reason);
      }),
    );
    // Two were asked.
    return bothOrders(given as Preference | Failed, swapped as Preference | Failed);
  } catch (error) {
    return failedBy(error, 'call', context);
  }
}

/** What the model is asked with. @throws EspalierError `usage` where an option is out of its range. */
export function askingOf(options: ComparePairOptions): {
  readonly reason: boolean;
  readonly settings: ReturnType<typeof requestSettings>;
  readonly prompts: PromptSet<ComparePairText>;
  readonly request: (pair: Pair) => string;
} {
  const { model, samples = 1, temperature, rubric } = options;
  expectMethods('model', model, ['generate']);
  const tellsTokens = model.capabilities.logprobs === true;
  const { reason = !tellsTokens } = options;
  const { maxTokens = reason ? 256 : 4 } = options;
  const readsTokens = tellsTokens && !reason;
  const schema = reason ? pairSchema : undefined;
  const sampling = { samples, maxTokens, temperature, schema, readsTokens };
  const settings = requestSettings(model, sampling);
  const prompts = withTexts<ComparePairText>(comparePrompts, options.prompts);
  const { texts } = prompts;
  const request = ({ first, second }: Pair) =>
    [
      fill(texts.pair, { first, second }),
      ...(rubric === undefined ? [] : [fill(texts.rubric, { rubric })]),
      fill(texts.question, {}),
      fill(reason ? texts.reasonedAnswer : texts.answer, {}),
    ].join('\n\n');
  return { reason, settings, prompts, request };
}

const letters = ['A', 'B', 'T'];
const words = [...letters, 'tie'];
const pairSchema = objectSchema({
  reason: { type: 'string' },
  better: { type: 'string', enum: letters },
});

/** How far what stands first is preferred, in one order. */
interface Preference {
  readonly value: number;
  readonly unscored: number;
  readonly reason: string | undefined;
}

function preferenceIn(completions: readonly Completion[], reason: boolean): Preference | Failed {
  const readings = completions.flatMap((completion) => readPreference(completion) ?? []);
  if (readings.length === 0) {
    const tellsTokens = completions.some(({ logprobs }) => logprobs !== undefined);
    return unreadable(tellsTokens ? `A, B or T ${likelyEnough}` : 'A, B or T', completions);
  }
  return {
    value: mean(readings.map(({ value }) => value)),
    unscored: completions.length - readings.length,
    reason: reason ? readings[0]?.reason : undefined,
  };
}

function readPreference(
  completion: Completion,
): { readonly value: number; readonly reason?: string | undefined } | undefined {
  if (completion.logprobs !== undefined) {
    const shares = probabilitiesOf(completion, letters);
    if (shares === 'unclear') return undefined;
    if (shares !== undefined) return { value: (shares['A'] ?? 0) + (shares['T'] ?? 0) / 2 };
  }
  if (completion.finishReason === 'refusal') return undefined;
  const fields = fieldsIn(completion, 'better');
  const word =
    fields === undefined
      ? answerIn(replyText(completion), letters)
      : choiceIn(fields['better'], words);
  if (word === undefined) return undefined;
  const value = word === 'A' ? 1 : word === 'B' ? 0 : 0.5;
  return { value, reason: fields === undefined ? undefined : reasonIn(fields) };
}

function bothOrders(given: Preference | Failed, swapped: Preference | Failed): Comparison | Failed {
  if ('failure' in given) return given;
  if ('failure' in swapped) return swapped;
  const unscored = given.unscored + swapped.unscored;
  return {
    preference: (given.value + 1 - swapped.value) / 2,
    ...(given.reason !== undefined && { rationale: given.reason }),
    ...(unscored > 0 && { unscored }),
  };
}
