import type { Message } from '../../contracts/language-model.ts';
import type { PreferenceRow, SftRow, TrainingRow, UnpairedRow } from '../rows.ts';
import { datasetInfo, llamaFactoryUsage } from './dataset-info.ts';
import type { ColumnType, FormatFamily, FormatOptions, RowFormat } from './format.ts';
import { rowFormat } from './row-format.ts';
import { writeTools } from './trl-conversational.ts';

/**
 * LLaMA-Factory's ShareGPT form, with conversations: people and tools speak at odd places, the model at even
 * ones, and a completion is one turn. Others are skipped by its loader, and refused here.
 */
export const llamaFactoryShareGpt: FormatFamily<'preference' | 'sft' | 'unpaired'> = {
  name: 'llama-factory-sharegpt',
  title: 'LLaMA-Factory, ShareGPT form, as conversations: DPO, KTO, SFT',
  formats: { preference, sft, unpaired },
};

const severalTurns =
  'The completion has several turns, and the loader would learn all turns of the model or one.';

const turn: ColumnType = { struct: { from: 'string', value: 'string' } };
const conversation = { conversations: { list: turn } } as const;
const shared = { formatting: 'sharegpt' };
const columns = { messages: 'conversations', tools: 'tools' };

function preference(options: FormatOptions = {}): RowFormat<PreferenceRow> {
  return rowFormat(
    {
      name: 'llama-factory-sharegpt-preference',
      kind: 'preference',
      columns: { ...conversation, chosen: turn, rejected: turn, tools: 'string' },
      usage: llamaFactoryUsage('dpo', false),
      write(row) {
        const prompt = writeTurns(row.prompt, 'odd');
        const chosen = writeCompletion(row.chosen);
        const rejected = writeCompletion(row.rejected);
        if (typeof prompt === 'string') return prompt;
        if (typeof chosen === 'string') return chosen;
        if (typeof rejected === 'string') return rejected;
        if (chosen.value === rejected.value) return 'Both sides are the same text.';
        return { conversations: prompt, chosen, rejected, tools: toolsOf(row) };
      },
      extraFiles: (files) =>
        datasetInfo(files, {
          ...shared,
          ranking: true,
          columns: { ...columns, chosen: 'chosen', rejected: 'rejected' },
        }),
    },
    options,
  );
}

function unpaired(options: FormatOptions = {}): RowFormat<UnpairedRow> {
  return rowFormat(
    {
      name: 'llama-factory-sharegpt-unpaired',
      kind: 'unpaired',
      columns: { ...conversation, kto_tag: 'boolean', tools: 'string' },
      usage: llamaFactoryUsage('kto', false),
      write(row) {
        const written = writeTurns([...row.prompt, ...row.completion], 'even');
        if (typeof written === 'string') return written;
        if (row.completion.length > 1) return severalTurns;
        return { conversations: written, kto_tag: row.label, tools: toolsOf(row) };
      },
      extraFiles: (files) =>
        datasetInfo(files, { ...shared, columns: { ...columns, kto_tag: 'kto_tag' } }),
    },
    options,
  );
}

function sft(options: FormatOptions = {}): RowFormat<SftRow> {
  return rowFormat(
    {
      name: 'llama-factory-sharegpt-sft',
      kind: 'sft',
      columns: { ...conversation, tools: 'string' },
      usage: `${llamaFactoryUsage('sft', false)}\n\nAdd \`mask_history: true\`: only the last turn is learnt.`,
      write(row) {
        const written = writeTurns([...row.prompt, ...row.completion], 'even');
        if (typeof written === 'string') return written;
        if (row.completion.length > 1) return severalTurns;
        return { conversations: written, tools: toolsOf(row) };
      },
      extraFiles: (files) => datasetInfo(files, { ...shared, columns }),
    },
    options,
  );
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
