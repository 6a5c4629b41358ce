import { expectBoolean } from '../../base/expect.ts';
import { expectOptions } from '../../base/expect-options.ts';
import { isOfTools } from '../../base/tools-in-words.ts';
import type { PromptRow } from '../rows.ts';
import type { Columns } from './columns.ts';
import { datasetFormat } from './dataset-format.ts';
import type { DatasetFormat, FormatOptions } from './format.ts';
import { provenanceColumns, writeProvenance } from './provenance-columns.ts';
import { usualReadings } from './reading.ts';
import { wholeTurns } from './whole-turns.ts';

/** verl: prompts with the right answer for a rule. Provenance is in `extra_info`. */
export function verl(
  options: FormatOptions & {
    /** The name by which verl chooses the reward function. @defaultValue `'espalier'` */
    readonly dataSource?: string;
    /** The ability that the prompts train. @defaultValue `'reasoning'` */
    readonly ability?: string;
  } = {},
): DatasetFormat<'prompt'> {
  expectOptions('verl', options, 'render provenance endToken dataSource ability');
  const { dataSource = 'espalier', ability = 'reasoning', provenance = true } = options;
  expectBoolean('provenance', provenance);
  const extra: Columns = provenance ? provenanceColumns('prompt') : { problem_id: 'string' };
  const extraOf = (row: PromptRow) =>
    provenance ? writeProvenance(row) : { problem_id: row.provenance.problem };
  return datasetFormat(
    { name: 'verl', title: 'verl: prompts for reinforcement' },
    {
      prompt: {
        columns: {
          data_source: 'string',
          prompt: { list: { struct: { role: 'string', content: 'string' } } },
          ability: 'string',
          reward_model: { struct: { style: 'string', ground_truth: 'string' } },
          extra_info: { struct: extra },
        },
        usage: `\`\`\`sh
python3 -m verl.trainer.main_ppo data.train_files=<this dataset>/<configuration>/train-00000-of-00001.<file> \\
  custom_reward_function.path=reward.py  # compute_score(data_source, solution_str, ground_truth, extra_info)
\`\`\``,
        write(row) {
          const whole = wholeTurns(row, {});
          if (typeof whole === 'string') return whole;
          if ((row.tools ?? []).length > 0 || whole.prompt.some(isOfTools)) {
            return 'The prompt has to do with tools, which this form cannot say.';
          }
          return {
            data_source: dataSource,
            prompt: whole.prompt.map(({ role, content }) => ({ role, content })),
            ability,
            reward_model: { style: 'rule', ground_truth: row.answer },
            extra_info: extraOf(row),
          };
        },
        files: ['parquet'],
        reads: { ...usualReadings.prompt, needs: ['data_source', 'prompt'] },
      },
    },
    { provenance: false },
  );
}
