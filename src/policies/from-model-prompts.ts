import type { Notation } from '../spec/environment.ts';
import type { Failure } from '../spec/failure.ts';
import { isPlainObject, type JsonValue } from '../spec/json.ts';
import type { Message } from '../spec/language-model.ts';

/** The prompt after an answer that is no action: the conversation, the answer, and what is wrong with it. */
export function repairPrompt(
  messages: readonly Message[],
  answer: string,
  { message }: Failure,
): readonly Message[] {
  return [
    ...messages,
    { role: 'assistant', content: answer },
    { role: 'user', content: `${message} Answer again, in the same form.` },
  ];
}

/** The prompt of a state with a request behind it. An answer that was begun is left as it stands. */
export function withRequest(messages: readonly Message[], request: string): readonly Message[] {
  const last = messages.at(-1);
  return last?.role === 'user'
    ? [...messages.slice(0, -1), { ...last, content: `${last.content}\n\n${request}` }]
    : [...messages, { role: 'user', content: request }];
}

/** Asks for one action as JSON, in a notation that has none of its own. */
export const jsonRequest =
  'Answer in JSON, and write nothing else: {"step": "<text>"}, with the step in the form asked for above as its text.';

/** The schema of what {@link jsonRequest} asks for. */
export const jsonSchema: JsonValue = object({ step: { type: 'string' } });

/** What a list of actions is to be like. */
export interface ListRequest {
  /** How many. */
  readonly count: number;
  /** Actions that are there already, as text. */
  readonly known: readonly string[];
  /** One instruction an action; none where they are not told apart. */
  readonly instructions: readonly string[];
}

/** Asks for several different actions at once. */
export function listRequest<State, Action>(
  { schema }: Notation<State, Action>,
  { count, known, instructions }: ListRequest,
): string {
  const steps = count === 1 ? 'one step' : `${count} different steps`;
  const [item, form] =
    schema === undefined
      ? ['"<text>"', 'each text one step in the form asked for above']
      : ['{…}', 'each object one step in the form asked for above'];
  return [
    `Propose ${steps} for this one place, each of which could come next, the best one first.`,
    `Answer in JSON, and write nothing else: {"steps": [${item}]}, ${form}.`,
    ...instructions.map((instruction, place) => `Step ${place + 1} of the list: ${instruction}`),
    ...(known.length === 0 ? [] : ['These are known. Propose others:', ...known.map(listed)]),
  ].join('\n');
}

/** The schema of what {@link listRequest} asks for. Servers refuse limits on the length of a list. */
export function listSchema<State, Action>({ schema }: Notation<State, Action>): JsonValue {
  return object({ steps: { type: 'array', items: schema ?? { type: 'string' } } });
}

/** The items of a list in whatever it was wrapped; a single item as a list of one. */
export function itemsOf(value: JsonValue): readonly JsonValue[] {
  if (Array.isArray(value)) return value as readonly JsonValue[];
  const steps = isPlainObject(value) ? value['steps'] : undefined;
  return Array.isArray(steps) ? (steps as readonly JsonValue[]) : [value];
}

function listed(text: string): string {
  return `- ${text.replaceAll('\n', '\n  ')}`;
}

function object(properties: Readonly<Record<string, JsonValue>>): JsonValue {
  const required = Object.keys(properties);
  return { type: 'object', properties, required, additionalProperties: false };
}
