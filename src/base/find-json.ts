import type { JsonValue } from '../contracts/json.ts';
import { jsonFault } from './json.ts';

/** The JSON in a model's text. */
export interface FoundJson {
  /** The complete objects and arrays, in order; of nested ones, the outermost. None is nested too deeply. */
  readonly values: readonly JsonValue[];
  /** The text from the first incomplete object or array on, where the answer was cut off. */
  readonly cut: string | undefined;
}

/** Where an object, or an array of texts or objects, may begin. Other braces and brackets are prose. */
const begin = /\{\s*["}]|\[\s*["{\]]/g;

/**
 * The number of invalid candidates that are skipped, for braces in prose. Each one costs a scan of the remaining text.
 */
const mostMistaken = 16;

/**
 * Finds JSON in prose or code fences, as models write it: with unescaped LaTeX backslashes, line breaks within texts,
 * and trailing commas.
 */
export function findJson(text: string): FoundJson {
  const values: JsonValue[] = [];
  let cut: string | undefined;
  let mistaken = 0;
  begin.lastIndex = 0;
  for (let match = begin.exec(text); match !== null; match = begin.exec(text)) {
    const { index } = match;
    const end = endOfValue(text, index);
    const value = end === undefined ? undefined : parseLoosely(text.slice(index, end));
    if (end === undefined) cut ??= text.slice(index);
    if (end !== undefined && value !== undefined) {
      if (jsonFault(value) === undefined) values.push(value);
      begin.lastIndex = end;
    } else {
      if (++mistaken === mostMistaken) break;
      begin.lastIndex = index + 1;
    }
  }
  return { values, cut };
}

/** The complete texts of the first array in JSON that was cut off. */
export function wholeTexts(cut: string): readonly string[] {
  const texts: string[] = [];
  let place = cut.indexOf('[') + 1;
  for (;;) {
    place += /^[\s,]*/.exec(cut.slice(place, place + 100))?.[0].length ?? 0;
    const end = cut[place] === '"' ? endOfText(cut, place) : undefined;
    const text = end === undefined ? undefined : parseLoosely(cut.slice(place, end));
    if (end === undefined || typeof text !== 'string') return texts;
    texts.push(text);
    place = end;
  }
}

/** The offset after the object or array that begins at `start`. */
function endOfValue(text: string, start: number): number | undefined {
  let depth = 0;
  for (let place = start; place < text.length; place++) {
    const character = text[place];
    if (character === '"') {
      const end = endOfText(text, place);
      if (end === undefined) return undefined;
      place = end - 1;
    } else if (character === '{' || character === '[') depth++;
    else if ((character === '}' || character === ']') && --depth === 0) return place + 1;
  }
  return undefined;
}

/** The offset after the quoted text that begins at `start`. */
function endOfText(text: string, start: number): number | undefined {
  for (let place = start + 1; place < text.length; place++) {
    if (text[place] === '\\') place++;
    else if (text[place] === '"') return place + 1;
  }
  return undefined;
}

function parseLoosely(text: string): JsonValue | undefined {
  try {
    return JSON.parse(repaired(text)) as JsonValue;
  } catch {
    return undefined;
  }
}

/** The same JSON in valid syntax. */
function repaired(text: string): string {
  const parts: string[] = [];
  for (let place = 0; place < text.length; ) {
    const quote = text.indexOf('"', place);
    const start = quote < 0 ? text.length : quote;
    parts.push(text.slice(place, start).replace(/,(\s*[}\]])/g, '$1'));
    const end = endOfText(text, start) ?? text.length;
    parts.push(text.slice(start, end).replace(escapes, repairedEscape).replace(lineBreak, escaped));
    place = end;
  }
  return parts.join('');
}

const escapes = /\\(u[\dA-Fa-f]{4}|[A-Za-z]+|[^A-Za-z])/g;
const lineBreak = /[\n\r\t]/g;

function escaped(character: string): string {
  return JSON.stringify(character).slice(1, -1);
}

/** LaTeX commands that begin like the JSON escape of a line break or tab. */
const commands = new Set(
  (
    'nabla natural nearrow neg neq nexists nmid not notin nparallel nsubseteq nwarrow ' +
    'tan tanh tau text textbf textit textrm tfrac therefore theta tilde times to top triangle triangleq'
  ).split(' '),
);

/**
 * Other backslashes are not escapes in JSON, and nobody writes a backspace, form feed or carriage return before a
 * letter.
 */
function repairedEscape(whole: string, body: string): string {
  const isLatex = /^[bfr][a-z]/.test(body) || commands.has(body);
  const isJson = /^(?:u[\dA-Fa-f]{4}$|["\\/]|[bfnrt])/.test(body);
  return isLatex || !isJson ? `\\${whole}` : whole;
}
