import { chatTool, dataUrl } from '../../backends/transport/chat-request.ts';
import { expectBoolean } from '../../base/expect.ts';
import { expectOptions } from '../../base/expect-options.ts';
import { isOfTools } from '../../base/tools-in-words.ts';
import type { JsonValue } from '../../contracts/json.ts';
import type { Message, ToolDefinition } from '../../contracts/language-model.ts';
import type { RowKind, TrainingRow } from '../rows.ts';
import type { Columns, ColumnType, FileRow } from './columns.ts';
import { datasetFormat, type Form } from './dataset-format.ts';
import type { DatasetFormat, FormatOptions } from './format.ts';
import { implicitReading, type Reading, sidesOf, usualReadings } from './reading.ts';
import { said, sameSides } from './text.ts';
import { rolloutColumns, writeRollout } from './trl.ts';
import { conversationUsage, grpoUsage, rolloutUsage } from './trl-usage.ts';
import { wholeTurns } from './whole-turns.ts';

/** TRL has no conversational form of step labels. */
export type ConversationKind = Exclude<RowKind, 'stepwise'>;

/** How messages stand in a file. */
interface Turns {
  readonly type: ColumnType;
  readonly columns: Columns;
  readonly write: (messages: readonly Message[], before: readonly Message[]) => JsonValue;
  readonly columnsOf: (row: TrainingRow) => FileRow;
  readonly showsImages?: boolean;
  readonly refusal: (turns: readonly Message[], row: TrainingRow) => string | undefined;
}

const plainTurns: Turns = {
  type: { list: { struct: { role: 'string', content: 'string' } } },
  columns: {},
  write: (messages) => messages.map(({ role, content }) => ({ role, content })),
  columnsOf: () => ({}),
  refusal: (turns, { tools = [] }) =>
    tools.length > 0 || turns.some(isOfTools)
      ? 'The row has to do with tools: the form trl-tools can say it.'
      : undefined,
};

const partType: ColumnType = {
  struct: { type: 'string', image: { optional: 'string' }, text: { optional: 'string' } },
};

/** Each content is a list of parts, so that all rows of a file are alike. */
const partTurns: Turns = {
  ...plainTurns,
  type: { list: { struct: { role: 'string', content: { list: partType } } } },
  write: (messages) =>
    messages.map(({ role, content, images = [] }) => ({
      role,
      content: [
        ...images.map((image) => ({ type: 'image', image: dataUrl(image), text: null })),
        ...(content === '' ? [] : [{ type: 'text', image: null, text: content }]),
      ],
    })),
  showsImages: true,
};

const toolTurns: Turns = {
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

/** TRL, with conversations: each completion is a complete turn. */
export function trlConversational(
  given: FormatOptions & {
    /**
     * Whether conversations may have images: each content is then a list of parts, with images as `data:` URLs.
     *
     * @defaultValue false: rows with images are refused
     */
    readonly images?: boolean;
  } = {},
): DatasetFormat<ConversationKind> {
  expectOptions('trl-conversational', given, 'render provenance endToken images');
  const { images = false, ...options } = given;
  expectBoolean('images', images);
  const { type } = plainTurns;
  const info = {
    name: 'trl-conversational',
    title: 'TRL, as conversations: DPO, KTO, SFT, GRPO',
    readings: [
      pairReading('axolotl-preference', 'messages', {
        messages: type,
        chosen: type,
        rejected: type,
      }),
      pairReading('distilabel-preference', 'prompt', {
        prompt: 'string',
        chosen: type,
        rejected: type,
      }),
      implicitReading('trl-conversational-preference-implicit', { chosen: type, rejected: type }),
      implicitReading('trl-conversational-sft', { messages: type }),
    ],
  };
  return datasetFormat(info, formsOf(images ? partTurns : plainTurns), options);
}

/**
 * TRL, with tool-calling conversations. Call arguments are an object in JSON Lines, and in Parquet JSON that `datasets`
 * from 4.7 on reads as an object.
 */
export function trlTools(options: FormatOptions = {}): DatasetFormat<ConversationKind> {
  const title = 'TRL, as conversations that call tools: DPO, KTO, SFT, GRPO';
  return datasetFormat({ name: 'trl-tools', title }, formsOf(toolTurns), options);
}

/** Pairs of conversations as others write them. */
function pairReading(name: string, prompt: string, columns: Columns): Reading {
  return {
    name,
    kind: 'preference',
    columns,
    needs: Object.keys(columns),
    parts: (reader) => ({ prompt: reader.content(prompt), ...sidesOf(reader) }),
  };
}

function formsOf(turns: Turns): { readonly [Kind in ConversationKind]: Form<Kind> } {
  const { type, columns, showsImages = false } = turns;
  return {
    preference: {
      showsImages,
      columns: { prompt: type, chosen: type, rejected: type, ...columns },
      usage: conversationUsage('DPO'),
      write: (row) => writeRow(turns, row, { chosen: row.chosen, rejected: row.rejected }),
      reads: usualReadings.pair,
    },
    prompt: {
      showsImages,
      columns: { prompt: type, answer: 'string', ...columns },
      usage: grpoUsage,
      write: (row) => said(writeRow(turns, row, {}), (own) => ({ ...own, answer: row.answer })),
      reads: usualReadings.prompt,
    },
    rollout: {
      showsImages,
      columns: { prompt: type, completion: type, ...rolloutColumns, ...columns },
      usage: rolloutUsage,
      write: (row) =>
        said(writeCompletion(turns, row), (own) => ({ ...own, ...writeRollout(row) })),
      reads: usualReadings.rollout,
    },
    sft: {
      showsImages,
      columns: { prompt: type, completion: type, ...columns },
      usage: conversationUsage('SFT'),
      write: (row) => writeCompletion(turns, row),
      reads: usualReadings.completion,
    },
    unpaired: {
      showsImages,
      columns: { prompt: type, completion: type, label: 'boolean', ...columns },
      usage: conversationUsage('KTO'),
      write: (row) => said(writeCompletion(turns, row), (own) => ({ ...own, label: row.label })),
      reads: usualReadings.unpaired,
    },
  };
}

type Sides = Readonly<Record<string, readonly Message[]>>;

function writeCompletion(
  turns: Turns,
  row: TrainingRow & { readonly completion: readonly Message[] },
): FileRow | string {
  return writeRow(turns, row, { completion: row.completion });
}

function writeRow(turns: Turns, row: TrainingRow, begun: Sides): FileRow | string {
  const whole = wholeTurns(row, begun);
  if (typeof whole === 'string') return whole;
  const { prompt, sides } = whole;
  const completions = Object.values(sides);
  if (completions.some((messages) => messages.every(isEmpty))) return 'The completion is empty.';
  if (completions.some((messages) => messages.at(-1)?.role !== 'assistant')) {
    return 'The completion does not end with a turn of the assistant.';
  }
  for (const completion of completions.length === 0 ? [[]] : completions) {
    const refused = turns.refusal([...prompt, ...completion], row);
    if (refused !== undefined) return refused;
  }
  const written = Object.entries(sides).map(
    ([side, messages]) => [side, turns.write(messages, prompt)] as const,
  );
  const [one, other] = written.map(([, value]) => JSON.stringify(value));
  if (one !== undefined && one === other) return sameSides;
  return {
    prompt: turns.write(prompt, []),
    ...Object.fromEntries(written),
    ...turns.columnsOf(row),
  };
}

function isEmpty({ content, toolCalls = [] }: Message): boolean {
  return content.trim() === '' && toolCalls.length === 0;
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
  return JSON.stringify(tools.map((tool) => chatTool(tool)));
}
