import { isPlainObject } from '../../base/json.ts';
import type { Notation } from '../../contracts/environment.ts';
import type { Failure } from '../../contracts/failure.ts';
import type { JsonValue } from '../../contracts/json.ts';
import type { Completion, Message } from '../../contracts/language-model.ts';
import type { Provenance } from '../../contracts/provenance.ts';
import { objectSchema } from '../../prompting/object-schema.ts';
import { fill, type PromptSet, promptsOf } from '../../prompting/prompts.ts';

const propose =
  'Propose {actions} for this one place, each of which could come next, the best one first.';

/** The texts that come with `fromModel`. */
export const fromModelPrompts: PromptSet<
  'item' | 'json' | 'known' | 'listOfObjects' | 'listOfTexts' | 'one' | 'repair' | 'several'
> = {
  name: 'from-model',
  version: 1,
  texts: {
    json: 'Answer in JSON, and write nothing else: {"step": "<text>"}, with the step in the form asked for above as its text.',
    one: 'one step',
    several: '{count} different steps',
    listOfTexts: `${propose}\nAnswer in JSON, and write nothing else: {"steps": ["<text>"]}, each text one step in the form asked for above.`,
    listOfObjects: `${propose}\nAnswer in JSON, and write nothing else: {"steps": [{…}]}, each object one step in the form asked for above.`,
    item: 'Step {number} of the list: {instruction}',
    known: 'These are known. Propose others:\n{known}',
    repair: '{problem} Answer again, in the same form.',
  },
};

/** The provenance of the repair prompt, if the policy makes repairs. */
export function repairProvenance(repairs: number): Provenance {
  return repairs === 0 ? {} : { prompts: promptsOf(fromModelPrompts) };
}

/**
 * The turns that send an answer back with its problem, in the words of a prompt set. If it had tool calls, the problem
 * is sent as their result.
 */
export function repairTurns(
  { text: said, toolCalls = [], original }: Completion,
  { message }: Failure,
  text: string,
): readonly Message[] {
  const answer: Message = { role: 'assistant', content: said };
  const content = fill(text, { problem: message });
  if (toolCalls.length === 0) return [answer, { role: 'user', content }];
  return [
    { ...answer, toolCalls, ...(original !== undefined && { original }) },
    ...toolCalls.map(({ id }): Message => ({ role: 'tool', content, toolCallId: id })),
  ];
}

/** The schema of an action as JSON, for notations without one. */
export const jsonSchema: JsonValue = objectSchema({ step: { type: 'string' } });

/** The list of actions to ask for. */
export interface ListRequest {
  /** Their number. */
  readonly count: number;
  /** Actions that already exist, as text. */
  readonly known: readonly string[];
  /** One instruction per action; empty if they all have the same. */
  readonly instructions: readonly string[];
}

/** Asks for several different actions at once. */
export function listRequest<State, Action>(
  { schema }: Notation<State, Action>,
  { count, known, instructions }: ListRequest,
  texts: typeof fromModelPrompts.texts,
): string {
  const actions = count === 1 ? fill(texts.one, {}) : fill(texts.several, { count });
  return [
    fill(schema === undefined ? texts.listOfTexts : texts.listOfObjects, { actions }),
    ...instructions.map((instruction, place) =>
      fill(texts.item, { number: place + 1, instruction }),
    ),
    ...(known.length === 0 ? [] : [fill(texts.known, { known: known.map(listed).join('\n') })]),
  ].join('\n');
}

/** The schema for {@link listRequest}. It sets no length, because servers refuse limits on it. */
export function listSchema<State, Action>({ schema }: Notation<State, Action>): JsonValue {
  return objectSchema({ steps: { type: 'array', items: schema ?? { type: 'string' } } });
}

/** The items of a list, however it was wrapped; a single item becomes a list of one. */
export function itemsOf(value: JsonValue): readonly JsonValue[] {
  if (Array.isArray(value)) return value as readonly JsonValue[];
  const steps = isPlainObject(value) ? value['steps'] : undefined;
  return Array.isArray(steps) ? (steps as readonly JsonValue[]) : [value];
}

function listed(text: string): string {
  return `- ${text.replaceAll('\n', '\n  ')}`;
}
