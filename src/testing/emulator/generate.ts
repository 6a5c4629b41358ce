import { defined } from '../../backends/transport/json.ts';
import type { TokenLogprob, ToolCall } from '../../contracts/language-model.ts';
import { hashedLogprobs } from './answer.ts';
import { type Fault, type FaultKind, hasFault } from './faults.ts';
import { hashedName } from './hash.ts';
import type { EmulatedAnswer, EmulatedQuestion } from './question.ts';
import { countTokens, tokensOf } from './tokens.ts';

/** The contents of one request, independent of the dialect. */
export interface Asked extends Omit<EmulatedQuestion, 'sample'> {
  /** The number of choices. */
  readonly choices: number;
  /** Whether the stop text is kept in the answer. */
  readonly keepsStop?: boolean;
  /** The number of alternatives reported per token; `undefined` if no log-probabilities are requested. */
  readonly topLogprobs?: number;
  /** The number of tokens that the context leaves for the answer. */
  readonly room?: number;
  /** The index of the first choice, if a request has several prompts. */
  readonly first?: number;
}

/** One completion. */
export interface Choice {
  readonly index: number;
  readonly question: EmulatedQuestion;
  readonly text: string;
  readonly reasoning: string;
  readonly toolCalls: readonly ToolCall[];
  readonly finish: NonNullable<EmulatedAnswer['finishReason']>;
  /** The stop text that ended it. */
  readonly stoppedBy?: string;
  /** Tokens written, including reasoning. */
  readonly tokens: number;
  readonly reasoningTokens: number;
  readonly logprobs?: readonly TokenLogprob[];
}

/** Whether an answer ended because of a limit. */
export function isCut(choice: Pick<Choice, 'finish'> | undefined): boolean {
  return choice?.finish === 'length' || choice?.finish === 'context';
}

/** The fields that a faulty server ignores. */
const disregarded: { readonly [Field in keyof Asked]?: FaultKind } = {
  maxTokens: 'ignores-max-tokens',
  seed: 'ignores-seed',
  topLogprobs: 'ignores-logprobs',
  schema: 'ignores-schema',
  toolChoice: 'ignores-tool-choice',
};

/** The request without the fields that a faulty server ignores. */
export function withHabits(asked: Asked, faults: readonly Fault[]): Asked {
  const kept = Object.entries(asked).filter(([field]) => {
    const fault = disregarded[field as keyof Asked];
    return fault === undefined || !hasFault(faults, fault);
  });
  return {
    ...(Object.fromEntries(kept) as unknown as Asked),
    ...(hasFault(faults, 'trailing-assistant-to-user') && asUser(asked)),
    ...(hasFault(faults, 'ignores-n') && { choices: 1 }),
    ...(hasFault(faults, 'ignores-stop') && { stop: [] }),
  };
}

/** The conversation with a trailing assistant turn turned into a user turn. */
export function asUser({
  messages,
  continues,
}: Pick<Asked, 'messages' | 'continues'>): Pick<Asked, 'messages' | 'continues'> {
  const last = messages.at(-1);
  if (last?.role !== 'assistant') return { messages, continues };
  return { messages: [...messages.slice(0, -1), { ...last, role: 'user' }], continues: false };
}

/** The question for one choice. */
export function questionOf(asked: Asked, sample: number, index: number): EmulatedQuestion {
  const { model, messages, continues, stop, prompt, temperature, seed } = asked;
  const { maxTokens, schema, tools, toolChoice, options } = asked;
  return {
    model,
    messages,
    continues,
    sample,
    stop,
    ...(seed !== undefined && { seed: seed + index }),
    ...defined({ prompt, temperature, maxTokens, schema, tools, toolChoice, options }),
  };
}

/** The part of an answer that the client gets: cut at stop texts and at the token limit, and counted. */
export function choiceOf(
  asked: Asked,
  question: EmulatedQuestion,
  answer: EmulatedAnswer,
): Omit<Choice, 'index'> {
  const { topLogprobs, maxTokens = Number.POSITIVE_INFINITY } = asked;
  const { room = Number.POSITIVE_INFINITY } = asked;
  const limit = Math.min(maxTokens, room);
  const reasoning = cut(answer.reasoning ?? '', limit);
  const stopped = stopAt(answer.text ?? '', asked);
  const written = cut(stopped.text, limit - reasoning.tokens);
  const called = callsWithin(answer, question, limit - reasoning.tokens - written.tokens);
  const isFull = reasoning.isCut || written.isCut || called.isCut;
  const complete = called.calls.length > 0 ? 'tool' : 'stop';
  const cutBy = maxTokens <= room ? 'length' : 'context';
  return {
    question,
    text: written.text,
    reasoning: reasoning.text,
    toolCalls: called.calls,
    finish: answer.finishReason ?? (isFull ? cutBy : complete),
    ...(!isFull && stopped.by !== undefined && { stoppedBy: stopped.by }),
    tokens: reasoning.tokens + written.tokens + called.tokens,
    reasoningTokens: reasoning.tokens,
    ...(topLogprobs !== undefined && {
      logprobs: logprobsOf(answer, written.text, topLogprobs),
    }),
  };
}

function cut(text: string, limit: number) {
  const tokens = tokensOf(text);
  if (tokens.length <= limit) return { text, tokens: tokens.length, isCut: false };
  const kept = tokens.slice(0, Math.max(0, limit));
  return { text: kept.join(''), tokens: kept.length, isCut: true };
}

/** The text up to the first stop text. */
function stopAt(text: string, { stop, keepsStop = false }: Asked) {
  const [first] = stop
    .filter((end) => end !== '' && text.includes(end))
    .map((end) => ({ end, at: text.indexOf(end) }))
    .sort((a, b) => a.at - b.at);
  if (first === undefined) return { text, by: undefined };
  const end = first.at + (keepsStop ? first.end.length : 0);
  return { text: text.slice(0, end), by: first.end };
}

/** The calls that fit. The tokens of a call are those of its name and of its input as JSON. */
function callsWithin(
  { toolCalls = [] }: EmulatedAnswer,
  { sample, messages }: EmulatedQuestion,
  limit: number,
) {
  const calls: ToolCall[] = [];
  let tokens = 0;
  for (const { name, input } of toolCalls) {
    const size = countTokens(name) + countTokens(JSON.stringify(input));
    if (tokens + size > limit) return { calls, tokens: Math.max(0, limit), isCut: true };
    tokens += size;
    const id = hashedName('call', sample, messages.length, calls.length, name);
    calls.push({ id: `call_${id}`, name, input });
  }
  return { calls, tokens, isCut: false };
}

function logprobsOf(
  { logprobs }: EmulatedAnswer,
  text: string,
  top: number,
): readonly TokenLogprob[] {
  if (logprobs === undefined) return hashedLogprobs(text, top);
  let length = 0;
  return logprobs
    .filter(({ token }) => {
      length += token.length;
      return length <= text.length;
    })
    .map(({ token, logprob, top: told = [] }) =>
      top === 0 ? { token, logprob } : { token, logprob, top: told.slice(0, top) },
    );
}
