import { datasetFormat } from './dataset-format.ts';
import { datasetInfo, llamaFactoryUsage, plainFiles } from './dataset-info.ts';
import type { DatasetFormat, FormatOptions } from './format.ts';
import { type ColumnReader, type ReadParts, sidesOf } from './reading.ts';
import { rowTexts, said } from './text.ts';

const shared = { prompt: 'instruction', query: 'input' };

/**
 * LLaMA-Factory's Alpaca form, with text; use it with `template: empty`, which adds no end token. White space at the
 * beginning of a completion is left out.
 */
export function llamaFactory(
  options: FormatOptions = {},
): DatasetFormat<'preference' | 'sft' | 'unpaired'> {
  const texts = rowTexts(options);
  return datasetFormat(
    { name: 'llama-factory', title: 'LLaMA-Factory, Alpaca form, as text: DPO, KTO, SFT' },
    {
      preference: {
        columns: { instruction: 'string', input: 'string', chosen: 'string', rejected: 'string' },
        usage: llamaFactoryUsage('dpo', true),
        write: (row) =>
          said(texts.pair(row), ({ prompt, ...sides }) => ({ ...alpaca(prompt), ...sides })),
        files: plainFiles,
        extraFiles: datasetInfo({
          ranking: true,
          columns: { ...shared, chosen: 'chosen', rejected: 'rejected' },
        }),
        reads: {
          needs: ['instruction', 'chosen', 'rejected'],
          parts: (reader) => ({ ...promptOf(reader), ...sidesOf(reader) }),
        },
      },
      sft: {
        columns: { instruction: 'string', input: 'string', output: 'string' },
        usage: llamaFactoryUsage('sft', true),
        write: (row) =>
          said(texts.single(row, row.ends), ({ prompt, completion: output }) => ({
            ...alpaca(prompt),
            output,
          })),
        files: plainFiles,
        extraFiles: datasetInfo({ columns: { ...shared, response: 'output' } }),
        reads: { needs: ['instruction', 'output'], parts: completionOf },
      },
      unpaired: {
        columns: { instruction: 'string', input: 'string', output: 'string', kto_tag: 'boolean' },
        usage: llamaFactoryUsage('kto', true),
        write: (row) =>
          said(texts.single(row, row.ends), ({ prompt, completion: output }) => ({
            ...alpaca(prompt),
            output,
            kto_tag: row.label,
          })),
        files: plainFiles,
        extraFiles: datasetInfo({ columns: { ...shared, response: 'output', kto_tag: 'kto_tag' } }),
        reads: {
          needs: ['instruction', 'kto_tag'],
          parts: (reader) => ({ ...completionOf(reader), labels: [reader.value('kto_tag')] }),
        },
      },
    },
    options,
  );
}

function alpaca(prompt: string): { readonly instruction: string; readonly input: string } {
  return { instruction: prompt, input: '' };
}

function promptOf(reader: ColumnReader): ReadParts {
  const prompt = reader.content('instruction');
  const { input } = reader.columns;
  const isParted = typeof prompt === 'string' && typeof input === 'string' && input !== '';
  return { templated: true, prompt: isParted ? `${prompt}\n${input}` : prompt };
}

function completionOf(reader: ColumnReader): ReadParts {
  return { ...promptOf(reader), chosen: reader.content('output') };
}
