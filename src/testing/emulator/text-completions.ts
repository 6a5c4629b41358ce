import { defined } from '../../backends/transport/json.ts';
import type { JsonValue } from '../../contracts/json.ts';
import { choiceEvents, finishWord, headOf, textPieces } from './chat-completions.ts';
import { readChoices, readSchema } from './chat-request.ts';
import { readPrompt } from './chat-template.ts';
import type { Call, Reply } from './dialect.ts';
import { type JsonObject, listOf, numberAt, textAt, textsAt } from './fields.ts';
import type { Asked, Choice } from './generate.ts';
import { textLogprobs } from './logprobs.ts';
import { jsonReply } from './reply.ts';
import { type Generation, generateAll } from './serve-model.ts';

/** The deviations of a server in text completions. */
export interface TextManners {
  /** The token limit if the request has none. */
  readonly maxTokens: number | undefined;
  /** Refuses what the server refuses, and reads the server's own fields. */
  readonly read: (asked: Asked, call: Call) => Asked;
  /** Log-probabilities. */
  readonly logprobs: (logprobs: Choice['logprobs']) => JsonValue;
  /** Further fields of a choice. @defaultValue none */
  readonly choiceFields?: (choice: Choice) => JsonObject;
  /** The usage. */
  readonly usage: (generation: Generation) => JsonObject;
}

/** `POST /v1/completions` of a server with these manners. */
export function textCompletions(manners: TextManners): (call: Call) => Reply {
  return (call) => {
    const prompts = promptsOf(call).map((prompt) => manners.read(readText(call, prompt), call));
    const limit = manners.maxTokens;
    const generation = generateAll(
      call,
      prompts.map((asked) => (limit === undefined ? asked : { maxTokens: limit, ...asked })),
    );
    const head = headOf(call, 'text_completion');
    const counted = { usage: manners.usage(generation) };
    if (call.body['stream'] === true) {
      const pieces = generation.choices.flatMap((choice) => piecesOf(choice, manners));
      return choiceEvents(call, head, { pieces, counted });
    }
    const choices = generation.choices.map((choice) => ({
      ...choiceOf(choice, choice.text, manners.logprobs(choice.logprobs)),
      finish_reason: finishWord(choice),
      ...manners.choiceFields?.(choice),
    }));
    return jsonReply({ ...head, choices, ...counted });
  };
}

function choiceOf({ index }: Choice, text: string, logprobs: JsonValue) {
  return { index, text, logprobs, finish_reason: null };
}

/** The pieces of one choice: one per token, and its end. */
function piecesOf(choice: Choice, manners: TextManners): readonly JsonObject[] {
  return [
    ...textPieces(choice.text, choice.logprobs).map(({ token, told }) =>
      choiceOf(choice, token, manners.logprobs(told)),
    ),
    {
      ...choiceOf(choice, '', null),
      finish_reason: finishWord(choice),
      ...manners.choiceFields?.(choice),
    },
  ];
}

/** Text completions in OpenAI's original form: 16 tokens, with log-probabilities in a separate format. */
export const plainText: Pick<TextManners, 'logprobs' | 'maxTokens'> = {
  maxTokens: 16,
  logprobs: textLogprobs,
};

/** The prompts of a request: a text, a list of texts, token ids, or a list of these. */
export function promptsOf({ body, service }: Call): readonly string[] {
  const { prompt = '' } = body as { readonly prompt?: JsonValue };
  const decoded = (value: JsonValue) =>
    typeof value === 'string' ? value : service.vocabulary.decode(listOf(value) as number[]);
  if (typeof prompt === 'string') return [prompt];
  const items = listOf(prompt);
  return typeof items[0] === 'number' ? [decoded(prompt)] : items.map(decoded);
}

function readText({ body }: Call, prompt: string): Asked {
  const logprobs = body['logprobs'];
  const wanted = logprobs === true ? (numberAt(body, 'top_logprobs') ?? 0) : undefined;
  return {
    model: textAt(body, 'model') ?? '',
    prompt,
    ...readPrompt(prompt),
    choices: readChoices(body),
    stop: textsAt(body, 'stop'),
    ...defined({
      maxTokens: numberAt(body, 'max_tokens'),
      temperature: numberAt(body, 'temperature'),
      seed: numberAt(body, 'seed'),
      topLogprobs: typeof logprobs === 'number' ? logprobs : wanted,
      schema: readSchema(body['response_format']),
    }),
  };
}
