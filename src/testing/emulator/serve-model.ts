import type { TokenCount } from './account.ts';
import { renderPrompt } from './chat-template.ts';
import type { Call, Service } from './dialect.ts';
import { hasFault } from './faults.ts';
import { type Asked, type Choice, choiceOf, questionOf, withHabits } from './generate.ts';
import type { EmulatedAnswer, EmulatedQuestion } from './question.ts';
import { Rejection } from './rejection.ts';
import { countTokens } from './tokens.ts';

/** The model's output for a request. */
export interface Generation {
  readonly choices: readonly Choice[];
  readonly tokens: TokenCount;
}

/** The tokens read of a prompt. */
type PromptCount = Pick<TokenCount, 'cached' | 'cacheWrite' | 'input'>;

/**
 * Generates an answer, and counts it. Throws a {@link Rejection} if the model is unknown or the request does not fit
 * its context.
 *
 * @param count - The tokens read, if the dialect counts them itself.
 */
export function generate(call: Call, asked: Asked, count?: PromptCount): Generation {
  const { service, exchange } = call;
  checkModel(service, asked.model);
  const wanted = withHabits(asked, exchange.faults);
  const prompt = wanted.prompt ?? renderPrompt(wanted);
  const { input, cached, cacheWrite } = count ?? readPromptTokens(service, prompt);
  checkContext(call, input, wanted.maxTokens);
  const room = Math.max(0, service.settings.contextLength - input);
  const choices = Array.from({ length: wanted.choices }, (_, place) =>
    choose(call, { ...wanted, room }, place),
  );
  for (const { text } of choices) service.prefixes?.add(prompt + text);

  const tokens = {
    input,
    cached,
    cacheWrite,
    output: choices.reduce((sum, choice) => sum + choice.tokens, 0),
    reasoning: choices.reduce((sum, choice) => sum + choice.reasoningTokens, 0),
  };
  service.account.serve(
    choices.map(({ question }) => question.sample),
    tokens,
  );
  return { choices: hasFault(exchange.faults, 'empty') ? [] : choices, tokens };
}

/** Generates answers to several prompts, as one generation. */
export function generateAll(call: Call, prompts: readonly Asked[]): Generation {
  let first = 0;
  const generations = prompts.map((asked) => {
    const generation = generate(call, { ...asked, first });
    first += generation.choices.length;
    return generation;
  });
  const sum = (name: keyof TokenCount) =>
    generations.reduce((total, { tokens }) => total + tokens[name], 0);
  return {
    choices: generations.flatMap(({ choices }) => choices),
    tokens: {
      input: sum('input'),
      cached: sum('cached'),
      cacheWrite: sum('cacheWrite'),
      output: sum('output'),
      reasoning: sum('reasoning'),
    },
  };
}

/** Counts texts that were read for scoring. Returns their tokens. */
export function readForScore({ service }: Call, texts: readonly string[]): number {
  const input = texts.reduce((sum, text) => sum + countTokens(text), 0);
  service.account.serve([], { input, cached: 0, cacheWrite: 0, output: 0, reasoning: 0 });
  return input;
}

function checkModel({ settings, dialect }: Service, model: string): void {
  const known = settings.models.some((name) => name === model || name === `${model}:latest`);
  if (!known && dialect.servesAnyModel !== true) throw new Rejection(dialect.unknownModel(model));
}

function checkContext({ service, exchange }: Call, input: number, output: number | undefined) {
  const limit = service.settings.contextLength;
  const overflow = service.dialect.overflow({ input, output, limit }, exchange.path);
  if (overflow !== undefined) throw new Rejection(overflow);
}

function readPromptTokens({ prefixes }: Service, prompt: string): PromptCount {
  return {
    input: countTokens(prompt),
    cached: prefixes?.cachedTokens(prompt) ?? 0,
    cacheWrite: 0,
  };
}

function choose({ service, exchange }: Call, asked: Asked, place: number): Choice {
  const index = (asked.first ?? 0) + place;
  const question = questionOf(asked, exchange.sample + index, place);
  exchange.questions.push(question);
  return { index, ...choiceOf(asked, question, answerTo(service, question)) };
}

function answerTo({ settings }: Service, question: EmulatedQuestion): EmulatedAnswer {
  try {
    const answer = settings.answer(question);
    return typeof answer === 'string' ? { text: answer } : answer;
  } catch (error) {
    throw new Rejection({ status: 500, message: `The answer failed: ${String(error)}` });
  }
}
