import { isPlainObject } from '../../src/base/json.ts';
import type { Environment, Notation } from '../../src/contracts/environment.ts';
import type { Message, ToolCall } from '../../src/contracts/language-model.ts';

/** A call of a tool as an action. */
export interface Step {
  readonly tool: string;
  readonly input: Readonly<Record<string, unknown>>;
}

/** A small agent: it looks things up, and answers. */
export interface Shop {
  /** What the model sees behind the task. */
  readonly turns: readonly Message[];
}

export const tools = [
  {
    name: 'price',
    description: 'What a thing costs.',
    input: {
      type: 'object',
      properties: { thing: { type: 'string' } },
      required: ['thing'],
      additionalProperties: false,
    },
  },
  {
    name: 'answer',
    input: {
      type: 'object',
      properties: { text: { type: 'string' } },
      required: ['text'],
      additionalProperties: false,
    },
  },
] as const;

const task: Message = { role: 'user', content: 'What is cheaper, tea or milk?' };

function read(value: unknown) {
  const { tool, input } = isPlainObject(value) ? value : {};
  const known = tools.find(({ name }) => name === tool);
  if (known === undefined || !isPlainObject(input)) {
    const message = `Expected a call of price or answer, got \`${String(tool)}\`.`;
    return { failure: { kind: 'parse', message } } as const;
  }
  const [field = ''] = known.input.required;
  if (typeof input[field] !== 'string') {
    const message = `Expected \`${field}\` to be a text.`;
    return { failure: { kind: 'invalid', message } } as const;
  }
  return { action: { tool: known.name, input } };
}

export const shopNotation: Notation<Shop, Step> = {
  prompt: ({ turns }) => [task, ...turns],
  format: (step) => JSON.stringify(step),
  parse(text) {
    try {
      return read(JSON.parse(text));
    } catch {
      return { action: { tool: 'answer', input: { text } } };
    }
  },
  schema: {
    type: 'object',
    properties: { tool: { type: 'string' }, input: { type: 'object' } },
    required: ['tool', 'input'],
  },
  tools,
  called: ([call]: readonly ToolCall[]) => read({ tool: call?.name, input: call?.input }),
  turn: ({ tool, input }, completion) => ({
    role: 'assistant',
    content: completion?.text ?? '',
    toolCalls: completion?.toolCalls ?? [{ id: 'c1', name: tool, input: input as never }],
    ...(completion?.original !== undefined && { original: completion.original }),
  }),
};

/** The state after a step whose call returned something. */
export function stateAfter(turn: Message, returned: string): Shop {
  const results = (turn.toolCalls ?? []).map(
    ({ id }): Message => ({ role: 'tool', content: returned, toolCallId: id }),
  );
  return { turns: [turn, ...results] };
}

export const shop: Environment<Shop, Step> = {
  name: 'shop',
  reset: () => ({ state: { turns: [] } }),
  step({ turns }, action, { completion }) {
    const turn = shopNotation.turn?.(action, completion) ?? task;
    const state = { turns: [...turns, ...stateAfter(turn, '3').turns] };
    return { state, ...(action.tool === 'answer' && { terminal: true, reward: 1 }) };
  },
  notation: shopNotation,
};
