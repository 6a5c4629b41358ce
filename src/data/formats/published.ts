import type { RowProvenance, StepwiseRow } from '../rows.ts';
import type { RenderPrompt } from './format.ts';
import { plainPrompt } from './render.ts';

/**
 * Where a row of a published dataset comes from: no tree that is known. Its labels were made by somebody who
 * knows the answer.
 *
 * @param address - Tells the problem from others: equal questions are one problem.
 */
export function publishedProvenance(dataset: string, address: string): RowProvenance {
  const problem = `${dataset}-${address.slice(0, 16)}`;
  return {
    problem,
    tree: problem,
    nodes: [],
    depth: 0,
    visits: [],
    values: [],
    parts: [],
    models: [],
    method: dataset,
    rule: dataset,
    seed: 'unknown',
    guidance: 'oracle-guided',
    stamps: ['oracle-guided'],
  };
}

/** A prompt as the question of a published form: one turn of the user verbatim, anything else rendered. */
export function questionOf(
  { prompt, tools }: Pick<StepwiseRow, 'prompt' | 'tools'>,
  render: RenderPrompt = plainPrompt,
): string {
  const [only, ...others] = prompt;
  if (only?.role === 'user' && others.length === 0) return only.content;
  return render(prompt, tools).trimEnd();
}
