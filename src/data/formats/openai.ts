import { chatMessages, chatTool, type JsonBody } from '../../backends/transport/chat-request.ts';
import { isPlainObject } from '../../base/json.ts';
import type { JsonValue } from '../../contracts/json.ts';
import type { Message } from '../../contracts/language-model.ts';
import type { PreferenceRow, SftRow } from '../rows.ts';
import type { FileRow } from './columns.ts';
import { datasetFormat } from './dataset-format.ts';
import type { DatasetFormat, FormatOptions } from './format.ts';
import { sameSides } from './text.ts';
import { wholeTurns } from './whole-turns.ts';

/**
 * Hosted tuning (OpenAI, Together, Fireworks). Preferences are a conversation with one turn on each side; supervised
 * rows are a conversation whose assistant turns have weight 1 if learnt, and 0 in the prompt. Services may refuse
 * unknown fields, so provenance columns are written only with `provenance: true`.
 */
export function openAiFiles(options: FormatOptions = {}): DatasetFormat<'preference' | 'sft'> {
  return datasetFormat(
    { name: 'openai', title: 'OpenAI, Together, Fireworks: hosted DPO and SFT' },
    {
      preference: {
        columns: { input: 'json', preferred_output: 'json', non_preferred_output: 'json' },
        usage:
          'Upload a JSON lines file as the training file of a fine-tuning job with the method `dpo`.',
        write,
        files: ['jsonl'],
        showsImages: true,
        reads: {
          needs: ['preferred_output', 'non_preferred_output'],
          parts(reader) {
            const { input } = reader.columns;
            const messages = isPlainObject(input) ? input['messages'] : input;
            return {
              prompt: reader.contentOf('prompt', messages),
              chosen: reader.content('preferred_output'),
              rejected: reader.content('non_preferred_output'),
            };
          },
        },
      },
      sft: {
        columns: { messages: 'json', tools: 'json' },
        usage:
          'Upload a JSON lines file as the training file of a fine-tuning job with the method `supervised`.',
        write: writeChat,
        files: ['jsonl'],
        showsImages: true,
      },
    },
    { provenance: false, ...options },
  );
}

function write(row: PreferenceRow): FileRow | string {
  const { tools = [] } = row;
  const whole = wholeTurns(row, { chosen: row.chosen, rejected: row.rejected });
  if (typeof whole === 'string') return whole;
  const {
    prompt,
    sides: { chosen = [], rejected = [] },
  } = whole;
  if (!isOneTurn(chosen) || !isOneTurn(rejected)) {
    return 'A side is not exactly one turn of the assistant.';
  }
  const input: JsonValue = {
    messages: writeTurns(prompt),
    tools: tools.map((tool) => chatTool(tool)),
    parallel_tool_calls: true,
  };
  const preferred = JSON.stringify(writeTurns(chosen));
  const other = JSON.stringify(writeTurns(rejected));
  if (preferred === other) return sameSides;
  return {
    input: JSON.stringify(input),
    preferred_output: preferred,
    non_preferred_output: other,
  };
}

function writeChat(row: SftRow): FileRow | string {
  const { tools = [] } = row;
  const whole = wholeTurns(row, { completion: row.completion });
  if (typeof whole === 'string') return whole;
  const weighed = (turns: readonly Message[], weight: 0 | 1) =>
    writeTurns(turns).map((turn) => (turn['role'] === 'assistant' ? { ...turn, weight } : turn));
  const { completion = [] } = whole.sides;
  return {
    messages: JSON.stringify([...weighed(whole.prompt, 0), ...weighed(completion, 1)]),
    tools: JSON.stringify(tools.map((tool) => chatTool(tool))),
  };
}

function isOneTurn(messages: readonly Message[]): boolean {
  const [turn, ...others] = messages;
  const { role, content = '', toolCalls = [] }: Partial<Message> = turn ?? {};
  return (
    role === 'assistant' && others.length === 0 && (content.trim() !== '' || toolCalls.length > 0)
  );
}

/** Turns as on the wire, where the input of a call is text. Services may want a content that is no `null`. */
function writeTurns(messages: readonly Message[]): readonly JsonBody[] {
  return chatMessages(messages).map((turn) => ({ ...turn, content: turn['content'] ?? '' }));
}
