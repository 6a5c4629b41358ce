import { z } from 'zod';
import type { JsonValue } from '../../contracts/json.ts';
import type { Form } from './dataset-format.ts';
import type { RowColumns, TurnKeys } from './reading.ts';

/**
 * The `dataset_info.json` by which LLaMA-Factory finds data files: an entry for each, named like the file.
 *
 * @see https://github.com/hiyouga/LLaMA-Factory/blob/main/data/README.md
 */
export function datasetInfo(
  entry: Readonly<Record<string, JsonValue>>,
): NonNullable<Form<'sft'>['extraFiles']> {
  return (files) => {
    const entries = files.map((file) => [entryName(file), { file_name: file, ...entry }] as const);
    return {
      'dataset_info.json': `${JSON.stringify(Object.fromEntries(entries), undefined, 2)}\n`,
    };
  };
}

/** `train-00000-of-00001.jsonl` is `train`, `train-00001-of-00002.jsonl` is `train-00001`. */
function entryName(file: string): string {
  return file
    .replace(/\.\w+$/, '')
    .replace(/-00000-of-00001$/, '')
    .replace(/-of-\d+$/, '');
}

/** The files that it reads: no compressed ones. */
export const plainFiles: NonNullable<Form<'sft'>['files']> = ['jsonl', 'parquet'];

/** How LLaMA-Factory is started on a folder. */
export function llamaFactoryUsage(stage: 'dpo' | 'kto' | 'sft', isText: boolean): string {
  const loss = stage === 'dpo' ? '\npref_loss: sigmoid' : '';
  const template = isText ? 'empty  # the text is complete: nothing is put around it' : '<model’s>';
  return `\`\`\`yaml
stage: ${stage}${loss}
dataset_dir: <this dataset>/<configuration>
dataset: train  # an entry of dataset_info.json
template: ${template}
\`\`\``;
}

/** The names that a `dataset_info.json` gives to the columns of a file and to the parts of turns. */
export interface ColumnMapping {
  /** The columns of the file, by the names that LLaMA-Factory knows. */
  readonly columns: Readonly<Record<string, string>>;
  readonly turns?: TurnKeys;
}

const infoSchema = z.record(
  z.string(),
  z.looseObject({
    file_name: z.string().optional(),
    columns: z.record(z.string(), z.string()).optional(),
    tags: z
      .looseObject({ role_tag: z.string().optional(), content_tag: z.string().optional() })
      .optional(),
  }),
);

/** The entries of a `dataset_info.json` for each file. An unreadable one has none. */
export function readDatasetInfo(text: string): ReadonlyMap<string, ColumnMapping> {
  const mappings = new Map<string, ColumnMapping>();
  for (const { file_name: name, columns = {}, tags } of Object.values(parse(text))) {
    if (name === undefined) continue;
    const { role_tag: role = 'from', content_tag: content = 'value' } = tags ?? {};
    mappings.set(name, { columns, ...(tags !== undefined && { turns: { role, content } }) });
  }
  return mappings;
}

function parse(text: string): z.infer<typeof infoSchema> {
  try {
    return infoSchema.safeParse(JSON.parse(text)).data ?? {};
  } catch {
    return {};
  }
}

/** LLaMA-Factory's own names of columns, where they differ from the keys of `dataset_info.json`. */
const ownNames: Readonly<Record<string, string>> = {
  prompt: 'instruction',
  query: 'input',
  response: 'output',
  messages: 'conversations',
};

/** A row with the columns that LLaMA-Factory would see. */
export function mappedColumns(row: RowColumns, mapping: ColumnMapping | undefined): RowColumns {
  if (mapping === undefined) return row;
  const names = new Map(
    Object.entries(mapping.columns).map(([key, column]) => [column, ownNames[key] ?? key]),
  );
  return Object.fromEntries(
    Object.entries(row).map(([column, value]) => [names.get(column) ?? column, value]),
  );
}
