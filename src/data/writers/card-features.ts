import type { Columns, ColumnType } from '../formats/columns.ts';
import { yamlString } from './markdown.ts';

const types = { boolean: 'bool', float: 'float64', int: 'int64', json: 'json', string: 'string' };

/**
 * The types of columns as the card declares them, as lines of YAML. From JSON lines alone `datasets` takes a column
 * for one without type where its first values are empty lists or `null`, and fails on the first that is not.
 */
export function cardFeatures(columns: Columns): readonly string[] {
  return Object.entries(columns).flatMap(([name, type]) => [
    `- name: ${yamlString(name)}`,
    ...indented(typeLines(type)),
  ]);
}

function typeLines(type: ColumnType): readonly string[] {
  if (typeof type === 'string') return [`dtype: ${types[type]}`];
  if ('optional' in type) return typeLines(type.optional);
  if ('struct' in type) return ['struct:', ...cardFeatures(type.struct)];
  const { list } = type;
  if (typeof list === 'string' && list !== 'json') return [`list: ${types[list]}`];
  const inner = typeLines(list);
  // A list of structs has their fields in the place of a type.
  return inner[0] === 'struct:' ? ['list:', ...inner.slice(1)] : ['list:', ...indented(inner)];
}

function indented(lines: readonly string[]): readonly string[] {
  return lines.map((line) => `  ${line}`);
}
