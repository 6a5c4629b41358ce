import { nearestName } from '../../base/nearest-name.ts';
import type { RowColumns } from '../formats/reading.ts';
import type { RowFault } from './report.ts';

/** Columns without which rows of some form are not read. */
const wanted: readonly string[] = [
  'chosen',
  'completion',
  'completions',
  'conversations',
  'instruction',
  'labels',
  'messages',
  'non_preferred_output',
  'output',
  'preferred_output',
  'prompt',
  'rejected',
];

/** Names that are near to one of these, and mean something else. */
const others: readonly string[] = ['input', 'label', 'prompt_id'];

/** The columns of a first row that were most likely meant for others, which it lacks. */
export function misspeltColumns(columns: RowColumns): readonly RowFault[] {
  const lacking = wanted.filter((name) => !(name in columns));
  return Object.keys(columns).flatMap((name): readonly RowFault[] => {
    if (wanted.includes(name) || others.includes(name)) return [];
    const meant = nearestName(name, lacking, name.length < 9 ? 1 : 2);
    if (meant === undefined) return [];
    return [{ code: 'misspelt-column', excerpt: `${name}: did you mean \`${meant}\`?` }];
  });
}
