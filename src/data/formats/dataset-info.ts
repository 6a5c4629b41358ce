import type { JsonValue } from '../../contracts/json.ts';

/**
 * The `dataset_info.json` by which LLaMA-Factory finds data files: an entry for each, named like the file.
 *
 * @see https://github.com/hiyouga/LLaMA-Factory/blob/main/data/README.md
 */
export function datasetInfo(
  files: readonly string[],
  entry: Readonly<Record<string, JsonValue>>,
): Readonly<Record<string, string>> {
  const entries = files.map((file) => [entryName(file), { file_name: file, ...entry }] as const);
  return { 'dataset_info.json': `${JSON.stringify(Object.fromEntries(entries), undefined, 2)}\n` };
}

/** `train-00000-of-00001.jsonl` is `train`, `train-00001-of-00002.jsonl` is `train-00001`. */
function entryName(file: string): string {
  return file
    .replace(/\.\w+$/, '')
    .replace(/-00000-of-00001$/, '')
    .replace(/-of-\d+$/, '');
}

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
