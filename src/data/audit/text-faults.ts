import { isPlainObject } from '../../base/json.ts';
import type { RowFault } from './report.ts';

/** What JSON writes as a code: half of a character that it writes in two halves, NUL or ESC. */
const oddCode = /\\u(?:[dD][89a-fA-F]|00(?:00|1[bB]))/;
const half = /\p{Cs}/u;
const controls: readonly string[] = ['\u0000', '\u001b'];

/**
 * What is wrong with the characters of a row: halves of one, which nothing can write as UTF-8, the sign that stands for
 * what could not be read, and signs for terminals.
 *
 * @param source - The text of the row, by which most rows are known to be sound.
 */
export function textFaults(value: unknown, source?: string): readonly RowFault[] {
  if (source !== undefined && !oddCode.test(source) && !source.includes('\ufffd')) return [];
  const faults = new Map<RowFault['code'], RowFault>();
  const note = (code: RowFault['code'], excerpt: string) => {
    if (!faults.has(code)) faults.set(code, { code, excerpt });
  };
  for (const text of textsIn(value)) {
    if (half.test(text)) note('invalid-utf8', text);
    const lost = text.indexOf('\ufffd');
    if (lost >= 0) note('lost-character', text.slice(Math.max(0, lost - 20)));
    const control = Math.max(...controls.map((sign) => text.indexOf(sign)));
    if (control >= 0) note('control-character', text.slice(Math.max(0, control - 20)));
  }
  return [...faults.values()];
}

function* textsIn(value: unknown): Generator<string> {
  if (typeof value === 'string') yield value;
  else if (Array.isArray(value)) for (const part of value) yield* textsIn(part);
  else if (isPlainObject(value)) {
    for (const [name, part] of Object.entries(value)) {
      yield name;
      yield* textsIn(part);
    }
  }
}
