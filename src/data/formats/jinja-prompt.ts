import { Template } from '@huggingface/jinja';
import { chatTool } from '../../backends/transport/chat-request.ts';
import { EspalierError } from '../../base/errors.ts';
import { expectOptions } from '../../base/expect-options.ts';
import type { Message } from '../../contracts/language-model.ts';
import type { FormatOptions } from './format.ts';

/** Unicode keeps this character from meaning anything: no message holds it. */
const end = '\uFDD0';

/** A template that shows the date would give other prompts tomorrow. */
const withoutClock = '{% set strftime_now = undefined %}\n';

/**
 * Renders conversations with the chat template of a model: `chat_template` in its `tokenizer_config.json`. The text
 * ends where the assistant's turn begins; a trailing `assistant` turn is left open after its content.
 *
 * @param template - The Jinja source.
 * @param tokens - The tokens that begin and end a text. By default there are none, because a trainer's tokenizer adds
 * the first one.
 * @throws EspalierError `usage` if the template cannot be read, refuses the messages, or omits a user message or the
 * turn to be continued.
 */
export function jinjaPrompt(
  template: string,
  tokens: { readonly bosToken?: string; readonly eosToken?: string } = {},
): NonNullable<FormatOptions['render']> {
  expectOptions('jinjaPrompt', tokens, 'bosToken eosToken');
  const compiled = attempt(
    () => new Template(`${withoutClock}${template}`),
    'The chat template is broken',
  );
  return (messages, tools = []) => {
    const isPartial = messages.at(-1)?.role === 'assistant';
    const text = attempt(
      () =>
        compiled.render({
          messages: messages.map((message, place) =>
            turnOf(message, isPartial && place === messages.length - 1),
          ),
          ...(tools.length === 0 ? {} : { tools: tools.map((tool) => chatTool(tool)) }),
          bos_token: tokens.bosToken ?? '',
          eos_token: tokens.eosToken ?? '',
          add_generation_prompt: !isPartial,
        }),
      'The chat template refuses the messages',
    );
    // Templates may leave out the thoughts of earlier answers, but never the question.
    const isLost = messages.some(
      ({ role, content }) => role === 'user' && !text.includes(content.trim()),
    );
    if (!isLost) return isPartial ? textBefore(text) : text;
    throw new EspalierError('usage', 'The chat template leaves out what the user says.');
  };
}

function turnOf({ role, content, toolCalls }: Message, isOpen: boolean): Record<string, unknown> {
  const calls = toolCalls?.map(({ name, input }) => ({
    type: 'function',
    function: { name, arguments: input },
  }));
  return {
    role,
    content: isOpen ? `${content}${end}` : content,
    ...(calls === undefined ? {} : { tool_calls: calls }),
  };
}

function textBefore(text: string): string {
  const place = text.lastIndexOf(end);
  if (place >= 0) return text.slice(0, place);
  throw new EspalierError(
    'usage',
    'The chat template leaves out the turn that is to be continued.',
  );
}

function attempt<Value>(act: () => Value, complaint: string): Value {
  try {
    return act();
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new EspalierError('usage', `${complaint}: ${reason.replace(/\.?$/, '.')}`, { cause });
  }
}
