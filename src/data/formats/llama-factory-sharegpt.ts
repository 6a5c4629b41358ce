import type { Message } from '../../contracts/language-model.ts';
import type { SftRow, TrainingRow, UnpairedRow } from '../rows.ts';
import type { ColumnType, FileRow } from './columns.ts';
import { datasetFormat } from './dataset-format.ts';
import { datasetInfo, llamaFactoryUsage, plainFiles } from './dataset-info.ts';
import type { DatasetFormat, FormatOptions } from './format.ts';
import { type ColumnReader, type ReadParts, sidesOf } from './reading.ts';
import { said, sameSides } from './text.ts';
import { writeTools } from './trl-conversational.ts';

const turn: ColumnType = { struct: { from: 'string', value: 'string' } };
const conversation = { conversations: { list: turn } } as const;
const shared = { formatting: 'sharegpt' };
const columns = { messages: 'conversations', tools: 'tools' };

/**
 * LLaMA-Factory's ShareGPT form, with conversations: users and tools have the odd turns, the model the even ones, and a
 * completion is one turn. Its loader skips other conversations, so they are refused here.
 */
export function llamaFactoryShareGpt(
  options: FormatOptions = {},
): DatasetFormat<'preference' | 'sft' | 'unpaired'> {
  return datasetFormat(
    {
      name: 'llama-factory-sharegpt',
      title: 'LLaMA-Factory, ShareGPT form, as conversations: DPO, KTO, SFT',
    },
    {
      preference: {
        columns: { ...conversation, chosen: turn, rejected: turn, tools: 'string' },
        usage: llamaFactoryUsage('dpo', false),
        write(row) {
          const prompt = writeTurns(row.prompt, 'odd');
          const chosen = writeCompletion(row.chosen);
          const rejected = writeCompletion(row.rejected);
          if (typeof prompt === 'string') return prompt;
          if (typeof chosen === 'string') return chosen;
          if (typeof rejected === 'string') return rejected;
          if (chosen.value === rejected.value) return sameSides;
          return { conversations: prompt, chosen, rejected, tools: toolsOf(row) };
        },
        files: plainFiles,
        extraFiles: datasetInfo({
          ...shared,
          ranking: true,
          columns: { ...columns, chosen: 'chosen', rejected: 'rejected' },
        }),
        reads: {
          needs: ['conversations', 'chosen', 'rejected'],
          parts: (reader) => ({
            alternates: true,
            prompt: reader.content('conversations'),
            ...sidesOf(reader),
          }),
        },
      },
      sft: {
        columns: { ...conversation, tools: 'string' },
        usage: `${llamaFactoryUsage('sft', false)}\n\nAdd \`mask_history: true\`: only the last turn is learnt.`,
        write: writeWhole,
        files: plainFiles,
        extraFiles: datasetInfo({ ...shared, columns }),
        reads: { needs: ['conversations'], parts: wholeOf },
      },
      unpaired: {
        columns: { ...conversation, kto_tag: 'boolean', tools: 'string' },
        usage: llamaFactoryUsage('kto', false),
        write: (row) => said(writeWhole(row), (whole) => ({ ...whole, kto_tag: row.label })),
        files: plainFiles,
        extraFiles: datasetInfo({ ...shared, columns: { ...columns, kto_tag: 'kto_tag' } }),
        reads: {
          needs: ['conversations', 'kto_tag'],
          parts: (reader) => ({ ...wholeOf(reader), labels: [reader.value('kto_tag')] }),
        },
      },
    },
    options,
  );
}

function wholeOf(reader: ColumnReader): ReadParts {
  return { alternates: true, implicit: true, chosen: reader.content('conversations') };
}

function writeWhole(row: SftRow | UnpairedRow): FileRow | string {
  const written = writeTurns([...row.prompt, ...row.completion], 'even');
  if (typeof written === 'string') return written;
  return row.completion.length > 1
    ? 'The completion has several turns, and the loader would learn all turns of the model or one.'
    : { conversations: written, tools: toolsOf(row) };
}

interface Turn {
  readonly [name: string]: string;
  readonly from: string;
  readonly value: string;
}

/** The turns, or why the loader would skip them. */
function writeTurns(messages: readonly Message[], count: 'even' | 'odd'): readonly Turn[] | string {
  const written: Turn[] = [];
  for (const message of messages) {
    const value = writeTurn(message);
    if (typeof value === 'string') return value;
    written.push(value);
  }
  const spoken = written[0]?.from === 'system' ? written.slice(1) : written;
  if (!spoken.every(({ from }, place) => isModel(from) === (place % 2 === 1))) {
    return 'The turns of the model and of others do not alternate.';
  }
  return spoken.length % 2 === (count === 'odd' ? 1 : 0)
    ? written
    : 'The conversation does not end where the completion begins.';
}

function writeCompletion(messages: readonly Message[]): Turn | string {
  const [message, ...others] = messages;
  if (message === undefined || others.length > 0 || message.role !== 'assistant') {
    return 'The completion is not one turn of the assistant.';
  }
  return writeTurn(message);
}

function writeTurn({ role, content, toolCalls = [] }: Message): Turn | string {
  const [call, ...others] = toolCalls;
  if (call === undefined) {
    if (role === 'assistant' && content.trim() === '') return 'A turn of the model is empty.';
    return { from: speakers[role], value: content };
  }
  if (content.trim() !== '') return 'A turn calls a tool and speaks besides.';
  const calls = [call, ...others].map(({ name, input }) => ({ name, arguments: input }));
  return { from: 'function_call', value: JSON.stringify(others.length === 0 ? calls[0] : calls) };
}

const speakers: Readonly<Record<Message['role'], string>> = {
  assistant: 'gpt',
  system: 'system',
  tool: 'observation',
  user: 'human',
};

function isModel(from: string): boolean {
  return from === 'gpt' || from === 'function_call';
}

function toolsOf({ tools = [] }: TrainingRow): string {
  return tools.length === 0 ? '' : writeTools(tools);
}
