import { expectFunction, expectOneOf } from '../../base/expect.ts';
import { expectModel } from '../../base/expect-capabilities.ts';
import { provenanceOf, provenanceOfModel } from '../../base/provenance.ts';
import { mean } from '../../base/stats/mean.ts';
import type { Evaluation } from '../../contracts/evaluation.ts';
import type { Evaluator } from '../../contracts/evaluator.ts';
import type { Failed } from '../../contracts/failure.ts';
import type { JsonValue } from '../../contracts/json.ts';
import type { Completion } from '../../contracts/language-model.ts';
import { isBlank } from '../../prompting/answer-words.ts';
import { askBehind, expectParts } from '../../prompting/prompt-parts.ts';
import { type PromptSet, promptsOf } from '../../prompting/prompts.ts';
import { type Reading, unreadable } from '../../prompting/read-reply.ts';
import { evaluateEach, subjectOf } from '../evaluate-each.ts';
import type { JudgingOptions } from '../judging-options.ts';
import { requestSettings } from '../request-settings.ts';
import { valueInRange } from '../value-in-range.ts';

/** A form of judgement: how to ask for it, and how to read it. */
export interface JudgeForm extends ReadableForm {
  /** The texts it asks with. */
  readonly prompts: PromptSet;
  /** Whether the value is read from log-probabilities. */
  readonly readsTokens: boolean;
  /** The number of answers to average, unless the caller says otherwise. @defaultValue 1 if tokens are read, else 3 */
  readonly samples?: number;
  /** The maximum tokens of a reply, unless the caller says otherwise. */
  readonly maxTokens: number;
  /**
   * The token limit of a second question, asked if the first limit cut replies off too early. @defaultValue there is no
   * second question
   */
  readonly maxTokensAgain?: number;
  /** The schema of a reply that is JSON. */
  readonly schema?: JsonValue;
  /** The question that follows a state or, with a step, the state in which it is proposed. */
  request(step: string | undefined): string;
}

/** How to read replies. */
export interface ReadableForm {
  /** What a reply is expected to be, for error messages. */
  readonly expected: string;
  /** Whether the reason of a reply becomes the rationale. */
  readonly reason: boolean;
  /** The least and the greatest score. @defaultValue none: scores are values */
  readonly range?: readonly [number, number];
  /** Reads a reply; `undefined` if it is unreadable. */
  read(completion: Completion): Reading | undefined;
}

/** Values nodes by a model's answers in a form, which may depend on whether the model reports log-probabilities. */
export function byForm<State, Action>(
  name: string,
  options: JudgingOptions<State, Action> & {
    readonly topP?: number;
    readonly aggregate?: (scores: readonly number[]) => number;
  },
  formFor: (logprobs: boolean) => JudgeForm,
): Evaluator<State, Action> {
  const { model, about = 'state', promptParts = [], temperature, topP, aggregate } = options;
  expectModel('model', model);
  expectOneOf('about', about, ['state', 'action']);
  expectParts(promptParts);
  if (aggregate !== undefined) expectFunction('aggregate', aggregate);
  const form = formFor(model.capabilities.logprobs === true);
  const { schema, readsTokens } = form;
  const { samples = form.samples ?? (readsTokens ? 1 : 3), maxTokens = form.maxTokens } = options;
  const sampling = { samples, maxTokens, temperature, topP, schema, readsTokens };
  const settings = requestSettings(model, sampling);
  return {
    ...provenanceOf(
      { needsNotation: [name] },
      provenanceOfModel(model, settings),
      { prompts: promptsOf(form.prompts) },
      ...promptParts,
    ),
    ...evaluateEach<State, Action>(about, (request) => async (sight) => {
      const asked = subjectOf(sight, promptParts, request);
      const { messages, tools, step } = asked instanceof Promise ? await asked : asked;
      const behind = askBehind(messages, form.request(step));
      const question = { ...settings, ...tools, messages: behind };
      const ask = (limit: number) =>
        request.context.generate(model, { ...question, maxTokens: limit });
      const { completions } = await ask(maxTokens);
      const again = options.maxTokens === undefined ? form.maxTokensAgain : undefined;
      const isOver = again === undefined || !completions.every((reply) => isCutOff(form, reply));
      return average(form, isOver ? completions : (await ask(again)).completions, aggregate);
    }),
  };
}

/** Whether a reply was cut off before it said anything: after blanks or, without log-probabilities, within a word. */
function isCutOff(form: ReadableForm, reply: Completion): boolean {
  const { finishReason, logprobs = [], text } = reply;
  if (finishReason !== 'length' || form.read(reply) !== undefined) return false;
  return logprobs.length === 0 || isBlank(text);
}

/** The mean of all replies. Unreadable ones are ignored and counted. */
export function average(
  form: ReadableForm,
  completions: readonly Completion[],
  aggregate: (scores: readonly number[]) => number = mean,
): Evaluation | Failed {
  const readings = completions.flatMap((completion) => form.read(completion) ?? []);
  const [first] = readings;
  if (first === undefined) return unreadable(form.expected, completions);
  const { range } = form;
  const [least, greatest] = range ?? [0, 1];
  const score = aggregate(readings.map((reading) => reading.score));
  const evaluation = valueInRange('the judgement', (score - least) / (greatest - least));
  if ('failure' in evaluation) return evaluation;
  const unscored = completions.length - readings.length;
  return {
    ...evaluation,
    ...(range !== undefined && { raw: { score, range } }),
    ...(first.parts !== undefined && { parts: meanParts(readings) }),
    ...(form.reason && first.reason !== undefined && { rationale: first.reason }),
    ...(unscored > 0 && { unscored }),
  };
}

/** The mean of both orders, which have equal weight. One of them alone would reflect the position of the items. */
export function ofBoth(orders: readonly (Evaluation | Failed)[]): Evaluation | Failed {
  const failure = orders.find((order) => 'failure' in order);
  if (failure !== undefined) return failure;
  const read = orders.filter((order) => 'value' in order);
  const unscored = read.reduce((sum, order) => sum + (order.unscored ?? 0), 0);
  const value = mean(read.map((order) => order.value));
  return { ...read[0], value, ...(unscored > 0 && { unscored }) };
}

function meanParts(readings: readonly Reading[]): Readonly<Record<string, number>> {
  const names = Object.keys(readings[0]?.parts ?? {});
  return Object.fromEntries(
    names.map((name) => [name, mean(readings.map(({ parts }) => parts?.[name] ?? 0))]),
  );
}
