import { jsonFault } from '../../base/json.ts';
import type { JsonValue } from '../../contracts/json.ts';
import type {
  Completion,
  Generation,
  OriginalTurn,
  TokenLogprob,
} from '../../contracts/language-model.ts';
import { logprobsOf } from '../transport/chat-logprobs.ts';
import { type Asked, finished, openAiUsage, readToolCalls } from '../transport/chat-reply.ts';
import type { Gathering } from '../transport/chat-stream.ts';
import { malformed, modelCallErrorFrom } from '../transport/errors.ts';
import { defined, fieldsOf, itemsOf, type JsonFields, textOf } from '../transport/json.ts';
import { provider } from './request.ts';

/**
 * A reply of the Responses API as a generation of one sample.
 *
 * @throws ModelCallError `malformed` if it has no readable output, or the error in the reply.
 */
export function readResponse(body: unknown, asked: Asked): Generation {
  const reply = fieldsOf(body);
  const { output, status } = reply;
  if (reply['error'] !== undefined && reply['error'] !== null) {
    throw modelCallErrorFrom({ error: reply['error'] }, asked.context);
  }
  if (!Array.isArray(output)) {
    throw malformed(asked.context, 'JSON with another structure: it has no `output`');
  }
  const items = output.map(fieldsOf);
  if (items.length === 0 && status === 'completed')
    throw malformed(asked.context, 'no output at all');
  return {
    completions: [completionOf(items, reply, asked)],
    usage: openAiUsage(reply, 'input', 'output'),
    ...defined({ answeredBy: textOf(reply['model']), requestId: textOf(reply['id']) }),
  };
}

/** A reply of the Responses API from its events, the last of which contains all of it. */
export function gatheredResponse(): Gathering {
  let whole: unknown;
  return {
    add(event) {
      const { type, response } = fieldsOf(event);
      if (type === 'error') whole = { error: event };
      const isLast = ['completed', 'incomplete', 'failed'].some(
        (end) => type === `response.${end}`,
      );
      if (isLast) whole = response;
    },
    reply: () => whole,
  };
}

function completionOf(items: readonly JsonFields[], reply: JsonFields, asked: Asked): Completion {
  const parts = items.flatMap(({ type, content }) =>
    type === 'message' ? itemsOf(content).map(fieldsOf) : [],
  );
  const texts = parts.filter(({ type }) => type === 'output_text');
  const refusal = parts.map((part) => textOf(part['refusal'])).find((said) => said !== undefined);
  const calls = readToolCalls(
    items
      .filter(({ type }) => type === 'function_call')
      .map(({ call_id: id, name, arguments: input }) => ({ id, name, arguments: input })),
  );
  const text = texts.map((part) => textOf(part['text']) ?? '').join('');
  const told = refusal === undefined ? finishOf(reply) : 'refusal';
  return finished(
    {
      text: text === '' ? (refusal ?? '') : text,
      ...defined({
        reasoning: reasoningOf(items),
        logprobs: logprobsOfParts(texts, asked),
        original: originalOf(items),
      }),
    },
    { told, ...calls },
    asked,
  );
}

function logprobsOfParts(
  texts: readonly JsonFields[],
  asked: Asked,
): readonly TokenLogprob[] | undefined {
  const isTold = texts.length > 0 && texts.every(({ logprobs }) => Array.isArray(logprobs));
  const content = texts.flatMap(({ logprobs }) => itemsOf(logprobs));
  return logprobsOf(isTold ? { content } : undefined, asked);
}

function reasoningOf(items: readonly JsonFields[]): string | undefined {
  const told = items
    .filter(({ type }) => type === 'reasoning')
    .flatMap(({ summary, content }) => [...itemsOf(summary), ...itemsOf(content)])
    .map((part) => textOf(fieldsOf(part)['text']))
    .filter((text) => text !== undefined);
  return textOf(told.join('\n\n'));
}

/**
 * The output, if it contains encrypted thoughts to send back, or a text with a phase. Thoughts that are not encrypted
 * are not stored at the server.
 */
function originalOf(items: readonly JsonFields[]): OriginalTurn | undefined {
  const thoughts = items.filter(({ type }) => type === 'reasoning');
  const isSealed = thoughts.every((item) => typeof item['encrypted_content'] === 'string');
  const isMore = thoughts.length > 0 || items.some(({ phase }) => typeof phase === 'string');
  if (!isMore || !isSealed || jsonFault(items) !== undefined) return undefined;
  return { provider, data: items as unknown as JsonValue };
}

function finishOf({ status, incomplete_details: details }: JsonFields): Ending {
  if (status === 'completed') return 'stop';
  const { reason } = fieldsOf(details);
  if (reason === 'max_output_tokens') return 'length';
  return reason === 'content_filter' ? 'refusal' : 'other';
}

type Ending = NonNullable<Completion['finishReason']>;
