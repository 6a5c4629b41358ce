import { ModelCallError } from '../../base/errors.ts';
import type { Message } from '../../contracts/language-model.ts';
import { chatMessages, type JsonBody } from '../transport/chat-request.ts';
import { fieldsOf, itemsOf, textOf } from '../transport/json.ts';
import { withExtra } from './extra-body.ts';
import type { Habits } from './habits.ts';
import type { Connected } from './server.ts';

/**
 * A conversation as the model reads it, up to the beginning of its answer: from llama-server's `/apply-template`, or
 * from the tokens of vLLM's `/tokenize`.
 */
export async function renderedPrompt(
  messages: readonly Message[],
  {
    connected: { model },
    habits,
    extraBody: { chat_template_kwargs: template },
    post,
  }: {
    readonly connected: Connected;
    readonly habits: Habits;
    readonly extraBody: JsonBody;
    /** Posts to a path; returns the answer as JSON. */
    readonly post: (path: string, body: JsonBody) => Promise<unknown>;
  },
): Promise<string> {
  const extra = template === undefined ? {} : { chat_template_kwargs: template };
  const rendered = { messages: chatMessages(messages) };
  if (habits.renders === 'apply-template') {
    const body = withExtra({ ...rendered, ...habits.continuation }, extra);
    return expectPrompt(await post('../apply-template', body));
  }
  const { tokens } = fieldsOf(
    await post('../tokenize', { model, ...rendered, ...extra, add_generation_prompt: true }),
  );
  const read = itemsOf(tokens).filter((token) => typeof token === 'number');
  return expectPrompt(await post('../detokenize', { model, tokens: read }));
}

function expectPrompt(answer: unknown): string {
  const prompt = textOf(fieldsOf(answer)['prompt']);
  if (prompt !== undefined) return prompt;
  throw new ModelCallError({
    kind: 'capability',
    message: 'The server renders no prompt.',
    parameter: 'continuation',
  });
}
