import { ModelCallError } from '../../base/errors.ts';
import { templateAllowance } from '../../calls/operations/tokens.ts';
import type { GenerateRequest } from '../../contracts/language-model.ts';
import type { JsonBody } from '../transport/chat-request.ts';
import { fieldsOf } from '../transport/json.ts';
import { chatBody, type Recipient } from './request.ts';

/** The fields of a chat request that make up its prompt. */
const promptFields: readonly string[] = [
  ...['model', 'messages', 'tools', 'chat_template_kwargs'],
  ...['add_generation_prompt', 'continue_final_message'],
];

/**
 * The number of tokens of a request's prompt: from vLLM's `/tokenize` and llama-server's `input_tokens`, which apply
 * the chat template, or from SGLang's `/tokenize`, which does not, with an allowance for the template.
 */
export async function countedPrompt(
  request: GenerateRequest,
  recipient: Recipient,
  /** Posts to a path; returns the answer as JSON. */
  post: (path: string, body: JsonBody) => Promise<unknown>,
): Promise<number> {
  // Images would be counted as their placeholders.
  if (request.messages.some(({ images = [] }) => images.length > 0)) {
    throw cannot('Servers count no tokens of images.');
  }
  const body = chatBody(request, recipient);
  const prompt = Object.fromEntries(
    Object.entries(body).filter(([name]) => promptFields.includes(name)),
  );
  const { counts } = recipient.habits;
  if (counts === undefined) throw cannot('The server does not count tokens.');
  switch (counts) {
    case 'input-tokens':
      return numberIn(await post('/chat/completions/input_tokens', prompt), 'input_tokens');
    case 'tokenize':
      return numberIn(await post('../tokenize', prompt), 'count');
    case 'tokenize-text': {
      const { model } = recipient.connected;
      const text = textOf(request);
      const count = numberIn(await post('../tokenize', { model, prompt: text }), 'count');
      return count + templateAllowance * (request.messages.length + 1);
    }
  }
}

function textOf({ messages, tools, schema }: GenerateRequest): string {
  const told = messages.flatMap(({ content, toolCalls = [] }) => [content, ...toolCalls]);
  return [...told, ...(tools ?? []), ...(schema === undefined ? [] : [schema])]
    .map((part) => (typeof part === 'string' ? part : JSON.stringify(part)))
    .join('\n');
}

function numberIn(answer: unknown, field: string): number {
  const { [field]: count } = fieldsOf(answer);
  if (typeof count === 'number') return count;
  throw cannot(`The server answered without \`${field}\`.`);
}

function cannot(message: string): ModelCallError {
  return new ModelCallError({ kind: 'capability', message, charged: false });
}
