import type { Message, ToolDefinition } from '../../contracts/language-model.ts';
import type {
  PreferenceRow,
  PromptRow,
  RolloutRow,
  RowKind,
  SftRow,
  TrainingRow,
  UnpairedRow,
} from '../rows.ts';
import type {
  Columns,
  ColumnType,
  ColumnValue,
  FileRow,
  FormatFamily,
  FormatOptions,
  RowFormat,
} from './format.ts';
import { functionOf } from './render.ts';
import { rowFormat } from './row-format.ts';
import { rolloutColumns, writeRollout } from './trl.ts';
import { conversationUsage, grpoUsage } from './trl-usage.ts';

/** How messages stand in a file. */
interface Turns {
  readonly family: string;
  readonly type: ColumnType;
  readonly columns: Columns;
  readonly write: (messages: readonly Message[], before: readonly Message[]) => ColumnValue;
  readonly columnsOf: (row: TrainingRow) => FileRow;
  readonly refusal: (turns: readonly Message[], row: TrainingRow) => string | undefined;
}

const plainTurns: Turns = {
  family: 'trl-conversational',
  type: { list: { struct: { role: 'string', content: 'string' } } },
  columns: {},
  write: (messages) => messages.map(({ role, content }) => ({ role, content })),
  columnsOf: () => ({}),
  refusal: (turns, { tools = [] }) =>
    tools.length > 0 || turns.some(isOfTools)
      ? 'The row has to do with tools: the form trl-tools can say it.'
      : undefined,
};

const toolTurns: Turns = {
  family: 'trl-tools',
  type: {
    list: {
      struct: {
        role: 'string',
        content: 'string',
        tool_calls: {
          optional: {
            list: {
              struct: {
                type: 'string',
                function: { struct: { name: 'string', arguments: 'json' } },
              },
            },
          },
        },
        name: { optional: 'string' },
      },
    },
  },
  columns: { tools: 'string' },
  write: (messages, before) =>
    messages.map((message) => writeTurn(message, [...before, ...messages])),
  columnsOf: ({ tools = [] }) => ({ tools: writeTools(tools) }),
  refusal: (turns) =>
    turns.some(({ role, toolCallId }) => role === 'tool' && nameOf(toolCallId, turns) === undefined)
      ? 'A turn of a tool answers no call of the conversation.'
      : undefined,
};

/** TRL has no conversational form of step labels. */
export type ConversationKind = Exclude<RowKind, 'stepwise'>;

/** TRL, with conversations: each completion is a whole turn. */
export const trlConversational: FormatFamily<ConversationKind> = familyOf(
  plainTurns,
  'TRL, as conversations: DPO, KTO, SFT, GRPO',
);

/**
 * TRL, with conversations that call tools. The arguments of a call are an object: JSON lines hold it, and Parquet
 * holds JSON that `datasets` from 4.7 on reads as an object.
 */
export const trlTools: FormatFamily<ConversationKind> = familyOf(
  toolTurns,
  'TRL, as conversations that call tools: DPO, KTO, SFT, GRPO',
);

function familyOf(turns: Turns, title: string): FormatFamily<ConversationKind> {
  return {
    name: turns.family,
    title,
    formats: {
      preference: (options) => preference(turns, options),
      prompt: (options) => prompt(turns, options),
      rollout: (options) => rollout(turns, options),
      sft: (options) => sft(turns, options),
      unpaired: (options) => unpaired(turns, options),
    },
  };
}

function preference(turns: Turns, options: FormatOptions = {}): RowFormat<PreferenceRow> {
  const { type, columns, write, columnsOf } = turns;
  return rowFormat(
    {
      name: `${turns.family}-preference`,
      kind: 'preference',
      columns: { prompt: type, chosen: type, rejected: type, ...columns },
      usage: conversationUsage('DPO'),
      write(row) {
        const { prompt: said, chosen, rejected } = row;
        const refused = refusalOf(turns, row, [chosen, rejected]);
        if (refused !== undefined) return refused;
        return {
          prompt: write(said, []),
          chosen: write(chosen, said),
          rejected: write(rejected, said),
          ...columnsOf(row),
        };
      },
    },
    options,
  );
}

function unpaired(turns: Turns, options: FormatOptions = {}): RowFormat<UnpairedRow> {
  const { type, columns, family } = turns;
  return rowFormat(
    {
      name: `${family}-unpaired`,
      kind: 'unpaired',
      columns: { prompt: type, completion: type, label: 'boolean', ...columns },
      usage: conversationUsage('KTO'),
      write: completionWriter(turns, (row: UnpairedRow) => ({ label: row.label })),
    },
    options,
  );
}

function sft(turns: Turns, options: FormatOptions = {}): RowFormat<SftRow> {
  const { type, columns, family } = turns;
  return rowFormat(
    {
      name: `${family}-sft`,
      kind: 'sft',
      columns: { prompt: type, completion: type, ...columns },
      usage: conversationUsage('SFT'),
      write: completionWriter(turns, () => ({})),
    },
    options,
  );
}

function rollout(turns: Turns, options: FormatOptions = {}): RowFormat<RolloutRow> {
  const { type, columns, family } = turns;
  return rowFormat(
    {
      name: `${family}-rollout`,
      kind: 'rollout',
      columns: { prompt: type, completion: type, ...rolloutColumns, ...columns },
      usage: grpoUsage,
      write: completionWriter(turns, writeRollout),
    },
    options,
  );
}

function prompt(turns: Turns, options: FormatOptions = {}): RowFormat<PromptRow> {
  const { type, columns, family, write, columnsOf } = turns;
  return rowFormat(
    {
      name: `${family}-prompt`,
      kind: 'prompt',
      columns: { prompt: type, answer: 'string', ...columns },
      usage: grpoUsage,
      write: (row) =>
        refusalOf(turns, row, []) ?? {
          prompt: write(row.prompt, []),
          answer: row.answer,
          ...columnsOf(row),
        },
    },
    options,
  );
}

/** Rows of one completion. */
function completionWriter<Row extends RolloutRow | SftRow | UnpairedRow>(
  turns: Turns,
  besides: (row: Row) => FileRow,
): (row: Row) => FileRow | string {
  return (row) =>
    refusalOf(turns, row, [row.completion]) ?? {
      prompt: turns.write(row.prompt, []),
      completion: turns.write(row.completion, row.prompt),
      ...besides(row),
      ...turns.columnsOf(row),
    };
}

function refusalOf(
  turns: Turns,
  row: TrainingRow,
  completions: readonly (readonly Message[])[],
): string | undefined {
  if (row.prompt.at(-1)?.role === 'assistant') {
    return 'The prompt ends with the beginning of a turn, which TRL would take for a whole one.';
  }
  if (completions.some((messages) => messages.every(isEmpty))) return 'The completion is empty.';
  if (completions.some((messages) => messages.at(-1)?.role !== 'assistant')) {
    return 'The completion does not end with a turn of the assistant.';
  }
  for (const completion of completions.length === 0 ? [[]] : completions) {
    const refused = turns.refusal([...row.prompt, ...completion], row);
    if (refused !== undefined) return refused;
  }
  const [one, other] = completions.map((messages) =>
    JSON.stringify(turns.write(messages, row.prompt)),
  );
  return one !== undefined && one === other ? 'Both sides are the same text.' : undefined;
}

function isEmpty({ content, toolCalls = [] }: Message): boolean {
  return content.trim() === '' && toolCalls.length === 0;
}

function isOfTools({ role, toolCalls = [] }: Message): boolean {
  return role === 'tool' || toolCalls.length > 0;
}

function writeTurn(
  { role, content, toolCalls = [], toolCallId }: Message,
  conversation: readonly Message[],
): FileRow {
  return {
    role,
    content,
    tool_calls:
      toolCalls.length === 0
        ? null
        : toolCalls.map(({ name, input }) => ({
            type: 'function',
            function: { name, arguments: JSON.stringify(input) },
          })),
    name: nameOf(toolCallId, conversation) ?? null,
  };
}

/** The tool whose call a turn answers. */
function nameOf(id: string | undefined, conversation: readonly Message[]): string | undefined {
  if (id === undefined) return undefined;
  return conversation.flatMap(({ toolCalls = [] }) => toolCalls).findLast((call) => call.id === id)
    ?.name;
}

/** Tools as one JSON text. */
export function writeTools(tools: readonly ToolDefinition[]): string {
  return JSON.stringify(tools.map(functionOf));
}
