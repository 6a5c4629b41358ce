import type { PreferenceRow, SftRow, UnpairedRow } from '../rows.ts';
import { datasetInfo, llamaFactoryUsage } from './dataset-info.ts';
import type { FormatFamily, FormatOptions, RowFormat } from './format.ts';
import { rowFormat } from './row-format.ts';
import { rowTexts } from './text.ts';
import { pairWriter, whole } from './trl.ts';

/** LLaMA-Factory's Alpaca form, with text: to be used with `template: empty`, which adds no end token. */
export const llamaFactory: FormatFamily<'preference' | 'sft' | 'unpaired'> = {
  name: 'llama-factory',
  title: 'LLaMA-Factory, Alpaca form, as text: DPO, KTO, SFT',
  formats: { preference, sft, unpaired },
};

const shared = { prompt: 'instruction', query: 'input' };

function preference(options: FormatOptions = {}): RowFormat<PreferenceRow> {
  const pair = pairWriter(options);
  return rowFormat(
    {
      name: 'llama-factory-preference',
      kind: 'preference',
      columns: { instruction: 'string', input: 'string', chosen: 'string', rejected: 'string' },
      usage: llamaFactoryUsage('dpo', true),
      write(row) {
        const written = pair(row);
        if (typeof written === 'string') return written;
        const { prompt, chosen, rejected } = written;
        return { instruction: prompt, input: '', chosen, rejected };
      },
      extraFiles: (files) =>
        datasetInfo(files, {
          ranking: true,
          columns: { ...shared, chosen: 'chosen', rejected: 'rejected' },
        }),
    },
    options,
  );
}

function unpaired(options: FormatOptions = {}): RowFormat<UnpairedRow> {
  const texts = rowTexts(options);
  return rowFormat(
    {
      name: 'llama-factory-unpaired',
      kind: 'unpaired',
      columns: { instruction: 'string', input: 'string', output: 'string', kto_tag: 'boolean' },
      usage: llamaFactoryUsage('kto', true),
      write: (row) =>
        whole(texts.completion(row, row.completion, row.ends), (output) => ({
          instruction: texts.prompt(row).text,
          input: '',
          output,
          kto_tag: row.label,
        })),
      extraFiles: (files) =>
        datasetInfo(files, {
          columns: { ...shared, response: 'output', kto_tag: 'kto_tag' },
        }),
    },
    options,
  );
}

function sft(options: FormatOptions = {}): RowFormat<SftRow> {
  const texts = rowTexts(options);
  return rowFormat(
    {
      name: 'llama-factory-sft',
      kind: 'sft',
      columns: { instruction: 'string', input: 'string', output: 'string' },
      usage: llamaFactoryUsage('sft', true),
      write: (row) =>
        whole(texts.completion(row, row.completion, row.ends), (output) => ({
          instruction: texts.prompt(row).text,
          input: '',
          output,
        })),
      extraFiles: (files) => datasetInfo(files, { columns: { ...shared, response: 'output' } }),
    },
    options,
  );
}
