import type { Message } from '../../contracts/language-model.ts';
import { datasetFormat } from './dataset-format.ts';
import type { DatasetFormat, FormatOptions } from './format.ts';
import { usualReadings } from './reading.ts';
import { rowTexts, said } from './text.ts';

/**
 * The files of Step-DPO: the question, the steps so far, and two next steps. The last user turn is the question; its
 * trainer adds its own system turn.
 *
 * @see Lai et al., "Step-DPO: Step-wise Preference Optimization for Long-chain Reasoning of LLMs", 2024.
 */
export function stepDpoFiles(options: FormatOptions = {}): DatasetFormat<'preference'> {
  const texts = rowTexts({ ...options, render: stepsSoFar });
  return datasetFormat(
    {
      name: 'step-dpo',
      title: 'Step-DPO: question, steps so far, two next steps',
      paper: 'Lai et al., 2024, arXiv 2406.18629',
    },
    {
      preference: {
        columns: {
          prompt: 'string',
          initial_reason_steps: 'string',
          chosen: 'string',
          rejected: 'string',
        },
        usage:
          'Read by `train.py` of <https://github.com/dvlab-research/Step-DPO> with `--data_path`. It puts its own template around the question.',
        write(row) {
          const question = questionOf(row.prompt);
          if (question === undefined) {
            return 'The prompt is more than a question and the steps so far.';
          }
          return said(texts.pair(row), ({ prompt: steps, ...sides }) => ({
            prompt: question,
            initial_reason_steps: steps,
            ...sides,
          }));
        },
        reads: {
          needs: ['prompt', 'initial_reason_steps', 'chosen'],
          parts: (reader) => ({
            templated: true,
            context: reader.columns['initial_reason_steps'],
            ...usualReadings.pair.parts(reader),
          }),
        },
      },
    },
    options,
  );
}

function stepsSoFar(messages: readonly Message[]): string {
  const last = messages.at(-1);
  return last?.role === 'assistant' ? last.content : '';
}

/** The question, if only a system message comes before it. */
function questionOf(messages: readonly Message[]): string | undefined {
  const spoken = messages.filter(({ role }) => role !== 'system');
  const [question, steps, ...others] = spoken;
  const isPlain =
    question?.role === 'user' &&
    (steps === undefined || steps.role === 'assistant') &&
    others.length === 0;
  return isPlain ? question.content : undefined;
}
