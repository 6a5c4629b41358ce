import { canonicalJson } from '../../base/canonical-json.ts';
import type { JsonValue } from '../../contracts/json.ts';
import type { Message } from '../../contracts/language-model.ts';
import type { RowNotation } from '../record.ts';

/** What an agent did in one step: it thought, called a tool, or both. */
export interface ToolBenchAction {
  /** The text it wrote beside the call; empty if it only called. */
  readonly thought: string;
  /** The call; left out if it only thought. */
  readonly call?: {
    /** Names the call in the conversation: `call_` and the number of the step, from 1. */
    readonly id: string;
    /** The tool. */
    readonly name: string;
    /** The arguments, keys sorted, so that equal calls are equal; the text itself if it is not JSON. */
    readonly input: JsonValue;
  };
}

/** A step that was taken. */
export interface ToolBenchStep {
  /** The step of the agent. */
  readonly action: ToolBenchAction;
  /** The answer of the tool; left out if none was called. */
  readonly observation?: string;
}

/** The state of a conversation. */
export interface ToolBenchState {
  /** The instructions; empty where the file does not tell them. */
  readonly system: string;
  /** The request of the user, in the words that the agent was shown. */
  readonly query: string;
  /** The steps so far. */
  readonly steps: readonly ToolBenchStep[];
}

/** Instructions, the query, and for each step the turn of the agent and that of the tool. */
export const toolBenchNotation: RowNotation<ToolBenchState, ToolBenchAction> = {
  prompt: ({ system, query, steps }): readonly Message[] => [
    ...(system === '' ? [] : [{ role: 'system', content: system } as const]),
    { role: 'user', content: query },
    ...steps.flatMap(stepTurns),
  ],
  format: ({ thought, call }) =>
    [
      ...(thought === '' ? [] : [`Thought: ${thought}`]),
      ...(call === undefined
        ? []
        : [`Action: ${call.name}`, `Action Input: ${inputText(call.input)}`]),
    ].join('\n'),
  turn: agentTurn,
};

/** Arguments as a value that is the same for equal calls. */
export function canonicalInput(text: string): JsonValue {
  try {
    const value: unknown = JSON.parse(text);
    return JSON.parse(canonicalJson('arguments', value)) as JsonValue;
  } catch {
    return text;
  }
}

/** The key that distinguishes steps of siblings. */
export function stepKey({ thought, call }: ToolBenchAction): string {
  return canonicalJson('step', [thought, call?.name ?? null, call?.input ?? null]);
}

function agentTurn({ thought, call }: ToolBenchAction): Message {
  return { role: 'assistant', content: thought, ...(call && { toolCalls: [call] }) };
}

function stepTurns({ action, observation }: ToolBenchStep): readonly Message[] {
  const turn = agentTurn(action);
  if (observation === undefined || action.call === undefined) return [turn];
  return [turn, { role: 'tool', content: observation, toolCallId: action.call.id }];
}

function inputText(input: JsonValue): string {
  return typeof input === 'string' ? input : JSON.stringify(input);
}
