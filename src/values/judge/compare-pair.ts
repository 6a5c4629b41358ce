import { expectBoolean, expectText } from '../../base/expect.ts';
import { expectModel } from '../../base/expect-capabilities.ts';
import { failedBy } from '../../base/failure.ts';
import type { CallContext } from '../../contracts/context.ts';
import type { Evaluation } from '../../contracts/evaluation.ts';
import type { Failed } from '../../contracts/failure.ts';
import type { Completion, Message } from '../../contracts/language-model.ts';
import { likelyEnough, probabilitiesOf } from '../../prompting/answer-words.ts';
import { jsonAnswers, objectSchema } from '../../prompting/object-schema.ts';
import { askBehind } from '../../prompting/prompt-parts.ts';
import { fill, type PromptSet, type Texts, withTexts } from '../../prompting/prompts.ts';
import { answerOf, type Reading } from '../../prompting/read-reply.ts';
import type { ToolsShown } from '../../prompting/tools-shown.ts';
import type { JudgingOptions } from '../judging-options.ts';
import { requestSettings } from '../request-settings.ts';
import { average, ofBoth } from './by-form.ts';

/** Options of `pairwise` and `comparePair`. */
export interface PairwiseOptions<State = any, Action = any> extends JudgingOptions<State, Action> {
  /**
   * What is compared: actions before they are taken, or the states that they led to; states are compared only with
   * realised siblings.
   *
   * @defaultValue `'action'`
   */
  readonly about?: 'action' | 'state';
  /**
   * Whether to ask for a reason, which becomes the rationale. The preference is then read from the text, even if the
   * model reports log-probabilities.
   *
   * @defaultValue false if the model reports log-probabilities, else true
   */
  readonly reason?: boolean;
  /** The number of answers to average in each order: an integer from 1 up. @defaultValue 1 */
  readonly samples?: number;
  /** The criteria of comparison, in words. @defaultValue none */
  readonly rubric?: string;
  /** Texts to replace: `pair` with the slots `{first}` and `{second}`, `rubric`, `question`, `answer`, `reasonedAnswer`. */
  readonly prompts?: Texts<'answer' | 'pair' | 'question' | 'reasonedAnswer' | 'rubric'>;
}

/** Two items, and their context. */
interface Pair {
  /** The context of both, as a conversation; it may be empty. */
  readonly messages: readonly Message[];
  /** Additional settings of its requests. @defaultValue none */
  readonly tools?: ToolsShown;
  /** The first item, as text. */
  readonly first: string;
  /** The second item. */
  readonly second: string;
}

const comparePrompts = {
  name: 'compare',
  version: 1,
  texts: {
    pair: 'Two candidates are to be compared.\n\nCandidate A:\n{first}\n\nCandidate B:\n{second}',
    rubric: 'Compare them by this:\n{rubric}',
    question: [
      'Do not write a step or an answer of your own. Judge which of the two is better: which is free of mistakes',
      'and more likely to lead to the goal. Neither their order nor their length counts.',
    ].join(' '),
    ...jsonAnswers('"better": "<A, B, or T for a tie>"'),
    answer: 'Answer with one letter and nothing else: A, B, or T for a tie.',
  },
} satisfies PromptSet;

/**
 * Compares two items by asking a language model twice, in parallel, the second time in swapped order, because models
 * favour the first or last item. The value is the preference for the first one (1 is a win, 0 a defeat, 0.5 a tie), the
 * mean of both orders,
 *
 * `p = (p(first | as given) + p(first | swapped)) / 2`,
 *
 * so that a model that considers only the order produces a tie, and `p(a, b) = 1 − p(b, a)`. In each order it is the
 * mean over samples or, with log-probabilities, `P(A) + P(T) / 2` over the mass of the three letters.
 *
 * An answer that cannot be read, or whose letters have a probability below 0.1 in all, does not count. If one order has
 * no answer that counts, the comparison fails: the other alone would reflect the position.
 *
 * @see Zheng et al., "Judging LLM-as-a-Judge with MT-Bench and Chatbot Arena", 2023, position bias.
 * @throws EspalierError `usage` if an option is out of range.
 */
export async function comparePair(
  pair: Pair,
  options: PairwiseOptions,
  context: CallContext,
): Promise<Evaluation | Failed> {
  const { request, settings, reason } = askingOf(options);
  const ask = async (order: Pair): Promise<Evaluation | Failed> => {
    const messages = askBehind(order.messages, request(order));
    const asked = { ...settings, ...order.tools, messages };
    const { completions } = await context.generate(options.model, asked);
    const tellsTokens = completions.some(({ logprobs }) => logprobs !== undefined);
    const expected = tellsTokens ? `A, B or T ${likelyEnough}` : 'A, B or T';
    return average({ expected, reason, read: readPreference }, completions);
  };
  try {
    const [given, swapped] = await Promise.all([
      ask(pair),
      ask({ ...pair, first: pair.second, second: pair.first }),
    ]);
    return ofBoth([
      given,
      'failure' in swapped ? swapped : { ...swapped, value: 1 - swapped.value },
    ]);
  } catch (error) {
    return failedBy(error, 'call', context);
  }
}

/** The settings of the requests. @throws EspalierError `usage` if an option is out of range. */
export function askingOf(options: PairwiseOptions): {
  readonly reason: boolean;
  readonly settings: ReturnType<typeof requestSettings>;
  readonly prompts: PromptSet;
  readonly request: (pair: Pair) => string;
} {
  const { model, samples = 1, temperature, rubric } = options;
  expectModel('model', model);
  const tellsTokens = model.capabilities.logprobs === true;
  const { reason = !tellsTokens } = options;
  expectBoolean('reason', reason);
  if (rubric !== undefined) expectText('rubric', rubric);
  const { maxTokens = reason ? 256 : 4 } = options;
  const readsTokens = tellsTokens && !reason;
  const schema = reason ? pairSchema : undefined;
  const sampling = { samples, maxTokens, temperature, schema, readsTokens };
  const settings = requestSettings(model, sampling);
  const prompts = withTexts(comparePrompts, options.prompts);
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
const pairSchema = objectSchema({ better: { type: 'string', enum: letters } }, { reason: true });

/** The preference for the first item: 1 is a win, 0 a defeat, 0.5 a tie. */
function readPreference(completion: Completion): Reading | undefined {
  if (completion.logprobs !== undefined) {
    const shares = probabilitiesOf(completion, letters);
    if (shares === 'unclear') return undefined;
    if (shares !== undefined) return { score: (shares['A'] ?? 0) + (shares['T'] ?? 0) / 2 };
  }
  const read = answerOf(completion, 'better', { answers: [...letters, 'tie'] });
  return (
    read && { score: read.answer === 'A' ? 1 : read.answer === 'B' ? 0 : 0.5, reason: read.reason }
  );
}
