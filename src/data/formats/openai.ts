import type { JsonValue } from '../../contracts/json.ts';
import type { Message } from '../../contracts/language-model.ts';
import type { PreferenceRow } from '../rows.ts';
import type { FormatFamily, FormatOptions, RowFormat } from './format.ts';
import { functionOf } from './render.ts';
import { rowFormat } from './row-format.ts';

/** Hosted preference tuning (OpenAI, Together, Fireworks): a conversation, and one turn on each side. */
export const openAiFiles: FormatFamily<'preference'> = {
  name: 'openai',
  title: 'OpenAI, Together, Fireworks: hosted DPO',
  formats: { preference },
};

function preference(options: FormatOptions = {}): RowFormat<PreferenceRow> {
  return rowFormat(
    {
      name: 'openai-preference',
      kind: 'preference',
      columns: { input: 'json', preferred_output: 'json', non_preferred_output: 'json' },
      usage:
        'Upload a JSON lines file as the training file of a fine-tuning job with the method `dpo`, written without provenance: services may refuse fields that they do not know.',
      write(row) {
        const { prompt, chosen, rejected, tools = [] } = row;
        if (prompt.at(-1)?.role === 'assistant') {
          return 'The prompt ends with the beginning of a turn, which the service would take for a whole one.';
        }
        if (!isOneTurn(chosen) || !isOneTurn(rejected)) {
          return 'A side is not exactly one turn of the assistant.';
        }
        const input: JsonValue = {
          messages: prompt.map(writeTurn),
          tools: tools.map(functionOf),
          parallel_tool_calls: true,
        };
        const preferred = JSON.stringify(chosen.map(writeTurn));
        const other = JSON.stringify(rejected.map(writeTurn));
        if (preferred === other) return 'Both sides are the same text.';
        return {
          input: JSON.stringify(input),
          preferred_output: preferred,
          non_preferred_output: other,
        };
      },
    },
    options,
  );
}

function isOneTurn(messages: readonly Message[]): boolean {
  const [turn, ...others] = messages;
  const { role, content = '', toolCalls = [] }: Partial<Message> = turn ?? {};
  return (
    role === 'assistant' && others.length === 0 && (content.trim() !== '' || toolCalls.length > 0)
  );
}

/** A turn as on the wire, where the input of a call is text. */
function writeTurn({ role, content, toolCalls = [], toolCallId }: Message): JsonValue {
  const calls = toolCalls.map(({ id, name, input }) => ({
    id,
    type: 'function',
    function: { name, arguments: JSON.stringify(input) },
  }));
  return {
    role,
    content,
    ...(calls.length === 0 ? {} : { tool_calls: calls }),
    ...(toolCallId === undefined ? {} : { tool_call_id: toolCallId }),
  };
}
