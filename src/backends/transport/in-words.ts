import type { JsonValue } from '../../contracts/json.ts';
import type { GenerateRequest } from '../../contracts/language-model.ts';
import type { Droppable } from './downgrades.ts';

/*
 * What is asked for in words where a model takes it no other way. It stands at the end of the question, so
 * that whatever comes before stays the same, and in caches.
 */

/** What introduces the beginning of an answer, which follows it, to a model that cannot go on from one. */
export const beginningInWords =
  'Your answer has already begun, with the text below. Go on exactly where it stops: do not repeat it, and do not comment on it.';

/** What is warned of where a model cannot be bound to one schema, although it can be to others. */
export const unbound =
  'cannot be bound to a schema like this one: it is asked for in words, and may not be kept.';

/** What of a request is asked for in words. @param beginning - That of the answer, where it is told. */
export function inWords(
  { schema, toolChoice }: Pick<GenerateRequest, 'schema' | 'toolChoice'>,
  refuses: (what: Droppable) => boolean,
  beginning: string = '',
): readonly string[] {
  const isForced = toolChoice !== undefined && toolChoice !== 'auto' && refuses('toolChoice');
  return [
    ...(schema !== undefined && refuses('schema') ? [schemaInWords(schema)] : []),
    ...(isForced ? [toolChoiceInWords(toolChoice)] : []),
    ...(beginning === '' ? [] : [`${beginningInWords}\n\n${beginning}`]),
  ];
}

function schemaInWords(schema: JsonValue): string {
  return `Answer with nothing but JSON that satisfies this JSON schema: ${JSON.stringify(schema)}`;
}

function toolChoiceInWords(choice: 'none' | 'required' | { readonly name: string }): string {
  if (choice === 'none') return 'Answer without calling a tool.';
  return choice === 'required'
    ? 'Answer by calling one of the tools.'
    : `Answer by calling the tool \`${choice.name}\`.`;
}
