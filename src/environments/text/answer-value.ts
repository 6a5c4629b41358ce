import { type ExactNumber, readNumber, scale } from './exact-number.ts';
import { plainAnswer } from './plain-answer.ts';
import { readSuffix } from './units.ts';

/** The meaning of an answer, independent of its spelling. */
export type AnswerValue =
  | NumberValue
  /** Several values in order. `brackets` is empty if there are none. */
  | { readonly kind: 'list'; readonly brackets: string; readonly items: readonly AnswerValue[] }
  | { readonly kind: 'choice'; readonly letter: string }
  | { readonly kind: 'truth'; readonly value: boolean }
  | { readonly kind: 'text'; readonly text: string };

/** A number and its context. */
export interface NumberValue {
  readonly kind: 'number';
  /** Its value; of a percentage, the number before the sign. */
  readonly value: ExactNumber;
  /** Whether it is a percentage. */
  readonly percent: boolean;
  /** Its unit; empty if none is given. */
  readonly unit: string;
  /** The variable whose value it is; empty if none is given. */
  readonly variable: string;
}

const deepest = 6;
const noSuffix = { exponent: 0, unit: '' };

/** Reads a {@link plainAnswer}. A text that is nothing else is read as text. */
export function readValue(text: string, depth = 0): AnswerValue {
  return (
    readQuantity(text) ??
    readTruth(text) ??
    readChoice(text) ??
    (depth < deepest ? readList(text, depth) : undefined) ?? {
      kind: 'text',
      text: canonicalText(text),
    }
  );
}

/** Whether a text is a number, possibly with a unit or a variable. */
export function isQuantity(text: string): boolean {
  return readValue(plainAnswer(text)).kind === 'number';
}

/** Whether a text is a number, a choice or a list of these, rather than words. */
export function isValued(text: string): boolean {
  const holds = (value: AnswerValue): boolean =>
    value.kind === 'list' ? value.items.every(holds) : value.kind !== 'text';
  return holds(readValue(plainAnswer(text)));
}

function readTruth(text: string): AnswerValue | undefined {
  const word = /^(yes|no|true|false)(?:$|[,.;:!])/i.exec(text)?.[1]?.toLowerCase();
  return word === undefined
    ? undefined
    : { kind: 'truth', value: word === 'yes' || word === 'true' };
}

/** `B`, `(b)`, `Option B`, and with its text `(B) Paris` or `B. Paris`; two letters are not a choice. */
function readChoice(text: string): AnswerValue | undefined {
  const alone = /^(?:(?:option|choice|answer)\s*:?\s*)?(?:\(([a-z])\)|([a-z])\)?)$/i.exec(text);
  const before = /^(?:\(([A-J])\)|([A-J])[.):]\s)\s*(?!.*\([A-J]\))\S/.exec(text);
  const [, bracketed, bare] = alone ?? before ?? [];
  const letter = bracketed ?? bare;
  return letter === undefined ? undefined : { kind: 'choice', letter: letter.toUpperCase() };
}

function readQuantity(text: string): NumberValue | undefined {
  const [, name, named = ''] = /^([A-Za-z])\s*=\s*(.+)$/s.exec(text) ?? [];
  const [, sign = '', currency, inner = '', amount = ''] =
    /^([-+]?)\s*([$€£¥₹])\s*([-+]?)(.*)$/s.exec(name === undefined ? text : named) ?? [];
  const body = currency === undefined ? (name === undefined ? text : named) : sign + inner + amount;
  const quantity = readAmount(currency === undefined ? body : inFull(body));
  if (quantity === undefined) return undefined;
  const unit = currency === undefined ? quantity.unit : (readSuffix(currency)?.unit ?? currency);
  return { ...quantity, unit, variable: name ?? '' };
}

/** An amount of money written in full: `5k`, `1.5M`, and Indian digit groups, `12,50,000`. */
function inFull(amount: string): string {
  const isIndian = /^-?\d{1,2}(?:,\d{2})+,\d{3}(?!\d|,\d)/.test(amount);
  return (isIndian ? amount.replaceAll(',', '') : amount)
    .replace(/(?<=\d)k$/i, ' thousand')
    .replace(/(?<=\d)M$/, ' million');
}

/** A number with its suffix, possibly in round brackets. */
function readAmount(text: string): NumberValue | undefined {
  const [, bracketed] = /^\(([^()]*)\)$/.exec(text) ?? [];
  if (bracketed !== undefined) return bracketed.includes(',') ? undefined : readAmount(bracketed);
  const squared = text.replace(/(?<=\p{L})\s*\^\s*\{?([23])\}?$/u, (_match, digit: string) =>
    digit === '2' ? '²' : '³',
  );
  const percentage = /^(.*?)\s*(?:%|per\s?cent|prozent|pour\s?cent)$/is.exec(squared)?.[1];
  const [, front = '', tail = ''] = /^(.*[\d}]\.?)([^\d}]*)$/s.exec(squared) ?? [];
  const value = readNumber(percentage ?? front);
  const isThousands = /^k$/i.test(tail) && /\.\d+$/.test(front);
  const suffix = percentage === undefined ? readSuffix(isThousands ? ' thousand' : tail) : noSuffix;
  if (value === undefined || suffix === undefined) return undefined;
  const { exponent, unit } = suffix;
  const percent = percentage !== undefined;
  return { kind: 'number', value: scale(value, exponent) ?? value, percent, unit, variable: '' };
}

function readList(text: string, depth: number): AnswerValue | undefined {
  const isBracketed = isOneBracket(text);
  const inner = isBracketed ? text.slice(1, -1) : text;
  const isEmpty = isBracketed && inner.trim() === '';
  const parts = isEmpty ? [] : (commaParts(inner) ?? conjunctionParts(inner));
  if (parts === undefined && !isBracketed) return undefined;
  // Round brackets around a single item only group it.
  if (parts === undefined && text.startsWith('(')) return undefined;
  return {
    kind: 'list',
    brackets: isBracketed ? `${text.at(0)}${text.at(-1)}` : '',
    items: (parts ?? [inner]).map((part) => readValue(part.trim(), depth + 1)),
  };
}

/** Whether the opening bracket of a text is closed by its last character. */
function isOneBracket(text: string): boolean {
  if (!/^[([{].*[)\]}]$/s.test(text)) return false;
  return depthsOf(text).indexOf(0) === text.length - 1;
}

/** The number of open brackets after each character. */
function depthsOf(text: string): readonly number[] {
  let depth = 0;
  return [...text].map((character) => {
    if ('([{'.includes(character)) depth++;
    if (')]}'.includes(character)) depth--;
    return depth;
  });
}

/** The parts between commas. If some commas are followed by a space, others may separate groups of digits. */
function commaParts(text: string): readonly string[] | undefined {
  const hasSpaces = /,\s/.test(text);
  const depths = depthsOf(text);
  const parts: string[] = [];
  let start = 0;
  // Positions are counted in characters, like the depths.
  const characters = [...text];
  for (const [place, character] of characters.entries()) {
    if (character !== ',' || depths[place] !== 0) continue;
    const around = characters.slice(Math.max(0, place - 1), place + 5).join('');
    if (hasSpaces && /^\d,\d{3}(?!\d)/.test(around)) continue;
    parts.push(characters.slice(start, place).join(''));
    start = place + 1;
  }
  if (parts.length === 0) return undefined;
  const last = characters
    .slice(start)
    .join('')
    .trim()
    .replace(/^(?:and|or)\s+/i, '');
  return [...parts, ...(conjunctionParts(last) ?? last.split(/\s+and\s+/i))];
}

/** `2 and 3`, `x = 2 or x = 3`: only between numbers. */
function conjunctionParts(text: string): readonly string[] | undefined {
  const parts = text.split(/\s+(?:and|or)\s+/i);
  const isList = parts.length > 1 && parts.every((part) => readQuantity(part) !== undefined);
  return isList ? parts : undefined;
}

/** Words without case, spaces and article; formulas without spaces. */
function canonicalText(text: string): string {
  const hasWords = /\p{L}{3}/u.test(text.replace(/\\[A-Za-z]+/g, ' '));
  const isFormula = !hasWords && /[\d\\^_=+*/<>|]/.test(text);
  if (isFormula) return text.replace(/\s+/g, '');
  return text.toLowerCase().replace(/^(?:the|an?)\s+(?=\S)/, '');
}
