import type { JsonValue } from '../../contracts/json.ts';
import type { GenerateRequest } from '../../contracts/language-model.ts';
import type { Droppable } from './downgrades.ts';

/**
 * Texts for features that a model does not support otherwise. They come at the end of the question, so that everything
 * before it stays the same, and stays cached.
 */

/** The text before a partial answer, for a model that cannot continue one. */
export const beginningInWords =
  'Your answer has already begun, with the text below. Go on exactly where it stops: do not repeat it, and do not comment on it.';

/** The warning if a model cannot enforce this schema, although it can enforce others. */
export const unbound =
  'cannot be constrained to a schema like this one: it is requested in words, and may not be followed.';

/**
 * The features of a request that are expressed in words. @param beginning - The partial answer, if it is sent in the
 * question.
 */
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
