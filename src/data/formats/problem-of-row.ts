import { isPlainObject } from '../../base/json.ts';
import { type ReadRow, type RowContent, textOf } from './reading.ts';

/** The identity of a row's problem: its name if the row has one, else its question; `''` if neither is known. */
export function problemOf(row: ReadRow): string {
  const { prompt, chosen, rejected, implicit = false } = row;
  const id = idOf(row);
  if (id !== undefined) return `${id.name} ${id.value}`;
  const question = questionOf(implicit ? (chosen ?? rejected) : prompt, implicit);
  return question.normalize('NFKC').toLowerCase().replace(/\s+/g, ' ').trim();
}

/** The name of a row's problem, if the row has one. */
export function idOf({ columns }: ReadRow): Readonly<Record<'name' | 'value', string>> | undefined {
  const { extra_info: info } = columns;
  const places = isPlainObject(info) ? [columns, info] : [columns];
  for (const place of places) {
    for (const name of ['problem_id', 'root_id']) {
      const id = place[name];
      if (typeof id === 'string' || typeof id === 'number') return { name, value: String(id) };
    }
  }
  return undefined;
}

/** The first turn of the user: later ones depend on the path. */
function questionOf(content: RowContent | undefined, implicit: boolean): string {
  if (content === undefined) return '';
  // Where the prompt of a text ends is not known.
  if (typeof content === 'string') return implicit ? '' : content;
  const asked = content.find(({ role }) => role === 'user' || role === 'human') ?? content[0];
  return asked === undefined ? '' : textOf([asked]);
}
