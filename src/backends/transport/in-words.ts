import type { JsonValue } from '../../contracts/json.ts';
import type { GenerateRequest } from '../../contracts/language-model.ts';

/*
 * What is asked for in words where a model takes it no other way. It stands at the end of the question, so
 * that whatever comes before stays the same, and in caches.
 */

/** What introduces the beginning of an answer, which follows it, to a model that cannot go on from one. */
export const beginningInWords =
  'Your answer has already begun, with the text below. Go on exactly where it stops: do not repeat it, and do not comment on it.';

/** Asks for JSON that satisfies a schema. */
export function schemaInWords(schema: JsonValue): string {
  return `Answer with nothing but JSON that satisfies this JSON schema: ${JSON.stringify(schema)}`;
}

/** Asks for a tool to be called; `undefined` where the model may do as it likes. */
export function toolChoiceInWords(choice: GenerateRequest['toolChoice']): string | undefined {
  if (choice === undefined || choice === 'auto') return undefined;
  return choice === 'required'
    ? 'Answer by calling one of the tools.'
    : `Answer by calling the tool \`${choice.name}\`.`;
}
