import { isPlainObject } from '../../base/json.ts';
import type { CallContext } from '../../contracts/context.ts';
import type { Failed } from '../../contracts/failure.ts';
import type { JsonValue } from '../../contracts/json.ts';
import type { Completion, LanguageModel, Message } from '../../contracts/language-model.ts';
import { objectSchema } from '../../prompting/object-schema.ts';
import { askBehind } from '../../prompting/prompt-parts.ts';
import { fill, type PromptSet, type Texts } from '../../prompting/prompts.ts';
import { numberIn } from '../../prompting/read-field.ts';
import { answerOf, fieldsIn, reasonIn, unreadable } from '../../prompting/read-reply.ts';
import type { ToolsShown } from '../../prompting/tools-shown.ts';
import type { JudgingOptions } from '../judging-options.ts';
import { requestSettings, type Sampling } from '../request-settings.ts';

/** Options of {@link criticRanking}. In Agent Q the critic is the model that proposes. */
export interface CriticRankingOptions<State = any, Action = any>
  extends Omit<JudgingOptions<State, Action>, 'about'> {
  /**
   * How K proposals are ranked: all at once, in one call; or in K − 1 successive calls for the best of those remaining,
   * as in Agent Q.
   *
   * @defaultValue `'best-of-remaining'`
   */
  readonly by?: 'best-of-remaining' | 'list';
  /**
   * The value in [0, 1] of a rank, from 1 for the best to K, among K proposals. Agent Q does not publish its own.
   *
   * @defaultValue `1 − (rank − 1) / (K − 1)`, and 1 for a single proposal
   */
  readonly rankScore?: (rank: number, count: number) => number;
  /** Whether to ask for a reason, which becomes part of the rationale. @defaultValue true */
  readonly reason?: boolean;
  /**
   * The number of answers per question: an integer from 1 up. The values of lists are averaged; for the best one, the
   * most named is taken, ties going to the one proposed first.
   *
   * @defaultValue 1
   */
  readonly samples?: number;
  /** The ranking criteria, in words. @defaultValue none */
  readonly rubric?: string;
  /**
   * Texts to replace: `proposals` with the slot `{list}`, `rubric`, `list` with `{count}`, `best`, `listAnswer`,
   * `bestAnswer`, `reasonedListAnswer`, `reasonedBestAnswer`.
   */
  readonly prompts?: Texts<
    | 'best'
    | 'bestAnswer'
    | 'list'
    | 'listAnswer'
    | 'proposals'
    | 'reasonedBestAnswer'
    | 'reasonedListAnswer'
    | 'rubric'
  >;
}

/** The default texts of a critic that ranks. */
export const criticRankingPrompts: PromptSet<keyof NonNullable<CriticRankingOptions['prompts']>> = {
  name: 'critic-ranking',
  version: 1,
  texts: {
    proposals: 'Proposed steps, each of which could come next:\n\n{list}',
    rubric: 'Rank them by this:\n{rubric}',
    list: [
      'Do not write a step. Rank all {count} proposed steps by how likely each is to lead to the goal, the best one',
      'first. Their order here says nothing. Name each number once.',
    ].join(' '),
    best: [
      'Do not write a step. Name the number of the one proposed step that is most likely to lead to the goal. Their',
      'order here says nothing.',
    ].join(' '),
    listAnswer:
      'Answer in JSON, the best one in place 1, and write nothing else: {{"ranking": {{{places}}}}}',
    bestAnswer: 'Answer in JSON, and write nothing else: {{"best": <number>}}',
    reasonedListAnswer: [
      'Answer in JSON, and write nothing else:',
      '{{"reason": "<two sentences at most>", "ranking": {{{places}}}}}, with the best one in place 1.',
    ].join(' '),
    reasonedBestAnswer:
      'Answer in JSON, and write nothing else: {{"reason": "<two sentences at most>", "best": <number>}}',
  },
};

/** A question to a critic. */
export interface Question {
  readonly model: LanguageModel;
  readonly texts: typeof criticRankingPrompts.texts;
  readonly reason: boolean;
  readonly rubric: string | undefined;
  readonly sampling: Sampling;
  /** The state in which the steps are proposed. */
  readonly messages: readonly Message[];
  /** Additional settings of its requests. */
  readonly tools: ToolsShown;
  /** The steps as text: two or more. */
  readonly proposals: readonly string[];
}

/** The places given to one proposal, one per valid answer; or why it has none. */
export type Placing =
  | {
      readonly ranks: readonly number[];
      readonly unscored: number;
      readonly reason?: string | undefined;
    }
  | Failed;

/** Asks for the complete ranking at once. */
export async function placeByList(
  question: Question,
  context: CallContext,
): Promise<readonly Placing[] | Failed> {
  const { proposals, texts, reason } = question;
  const count = proposals.length;
  const numbers = proposals.map((_, index) => index + 1);
  const places = numbers.map((place) => `"${place}": <number>`).join(', ');
  const completions = await ask(question, context, {
    numbers,
    request: fill(texts.list, { count }),
    answer: fill(reason ? texts.reasonedListAnswer : texts.listAnswer, { places }),
    // Servers refuse limits on the length of a list, but with a property per place none can be left out.
    schema: {
      ranking: objectSchema(
        Object.fromEntries(numbers.map((place) => [place, { type: 'integer', enum: numbers }])),
      ),
    },
  });
  const lists = completions.flatMap((completion) => readList(completion, count) ?? []);
  if (lists.length === 0) return unreadable(`each number from 1 to ${count} once`, completions);
  return numbers.map((number) => ({
    ranks: lists.map(({ ranking }) => ranking.indexOf(number) + 1),
    unscored: completions.length - lists.length,
    reason: reason ? lists[0]?.reason : undefined,
  }));
}

/** Asks for the best proposal, then for the best of the others, until one is left. */
export async function placeByBest(
  question: Question,
  context: CallContext,
): Promise<readonly Placing[]> {
  const { proposals, reason } = question;
  const placings: Placing[] = [];
  let left = proposals.map((_, index) => index + 1);
  let unscored = 0;
  while (left.length > 1) {
    const numbers = left;
    const { completions, named } = await askForBest(question, context, numbers);
    const best = mostNamed(named, numbers);
    if (best === undefined) {
      const failure = unreadable(`one of the numbers ${numbers.join(', ')}`, completions);
      for (const number of numbers) placings[number - 1] = failure;
      return placings;
    }
    unscored = completions.length - named.length;
    const told = reason ? named.find(({ number }) => number === best)?.reason : undefined;
    const rank = proposals.length - numbers.length + 1;
    placings[best - 1] = { ranks: [rank], unscored, reason: told };
    left = numbers.filter((number) => number !== best);
  }
  const [last = 1] = left;
  placings[last - 1] = { ranks: [proposals.length], unscored };
  return placings;
}

/** The number of answers that name each proposal as the best, and the number of unreadable ones. */
export async function votesFor(
  question: Question,
  context: CallContext,
): Promise<{ readonly votes: readonly number[]; readonly unscored: number } | Failed> {
  const numbers = question.proposals.map((_, index) => index + 1);
  const { completions, named } = await askForBest(question, context, numbers);
  if (named.length === 0)
    return unreadable(`one of the numbers ${numbers.join(', ')}`, completions);
  return {
    votes: numbers.map((number) => named.filter((best) => best.number === number).length),
    unscored: completions.length - named.length,
  };
}

/** Asks for the best of some proposals. */
async function askForBest(
  question: Question,
  context: CallContext,
  numbers: readonly number[],
): Promise<{ readonly completions: readonly Completion[]; readonly named: readonly Best[] }> {
  const { texts, reason } = question;
  const completions = await ask(question, context, {
    numbers,
    request: fill(texts.best, {}),
    answer: fill(reason ? texts.reasonedBestAnswer : texts.bestAnswer, {}),
    schema: { best: { type: 'integer', enum: numbers } },
  });
  return { completions, named: completions.flatMap((each) => readBest(each, numbers) ?? []) };
}

interface Asked {
  /** The numbers of the proposals shown. */
  readonly numbers: readonly number[];
  readonly request: string;
  readonly answer: string;
  readonly schema: Readonly<Record<string, JsonValue>>;
}

async function ask(
  { model, texts, reason, rubric, sampling, messages, tools, proposals }: Question,
  context: CallContext,
  { numbers, request, answer, schema }: Asked,
): Promise<readonly Completion[]> {
  const list = numbers.map(
    (number) => `${number}. ${proposals[number - 1]?.replaceAll('\n', '\n   ')}`,
  );
  const text = [
    fill(texts.proposals, { list: list.join('\n') }),
    ...(rubric === undefined ? [] : [fill(texts.rubric, { rubric })]),
    request,
    answer,
  ].join('\n\n');
  const settings = requestSettings(model, {
    ...sampling,
    schema: objectSchema(schema, { reason }),
  });
  const asked = { ...settings, ...tools, messages: askBehind(messages, text) };
  return (await context.generate(model, asked)).completions;
}

interface RankedList {
  readonly ranking: readonly number[];
  readonly reason: string | undefined;
}

/** The places in the `ranking` of a reply, as properties or as a list; every number must occur once. */
function readList(completion: Completion, count: number): RankedList | undefined {
  const fields = fieldsIn(completion, 'ranking');
  if (fields === undefined) return undefined;
  const stated = fields['ranking'];
  const items = isPlainObject(stated)
    ? Array.from({ length: count }, (_, index) => stated[index + 1] ?? null)
    : typeof stated === 'string'
      ? itemsIn(stated)
      : stated;
  if (!Array.isArray(items)) return undefined;
  const ranking = (items as readonly JsonValue[]).map((item) => numberIn(item, [1, count]));
  const isClear = ranking.length === count && new Set(ranking).size === count;
  const isKnown = (number: number | undefined): number is number => Number.isInteger(number);
  return isClear && ranking.every(isKnown) ? { ranking, reason: reasonIn(fields) } : undefined;
}

/** `3, 1, 2` or `3 > 1 > 2`, with or without brackets. */
function itemsIn(text: string): readonly string[] {
  return text
    .replace(/^[\s[(]+|(?<![\s\])])[\s\])]+$/g, '')
    .split(/[,>;]/)
    .map((item) => item.trim());
}

interface Best {
  readonly number: number;
  readonly reason: string | undefined;
}

/** One of the numbers, from the `best` of a reply or the entire reply. */
function readBest(completion: Completion, numbers: readonly number[]): Best | undefined {
  const items = numbers.map(String);
  const read = answerOf(completion, 'best', { answers: items });
  return read && { number: Number(read.answer), reason: read.reason };
}

/** The number named most often, ties going to the first. */
function mostNamed(named: readonly Best[], numbers: readonly number[]): number | undefined {
  const votes = (number: number) => named.filter((best) => best.number === number).length;
  const most = Math.max(...numbers.map(votes));
  return most === 0 ? undefined : numbers.find((number) => votes(number) === most);
}
