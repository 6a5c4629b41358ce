import { type Method, type MethodOptions, methods } from '../methods/index.ts';
import type { SearchOptions } from '../search/contracts.ts';
import { solved } from '../search/stop-conditions.ts';

/** The names of all methods. */
export const methodNames: readonly string[] = methods.map(({ name }) => name);

/** A method, and what takes the place of its parts. */
type MethodPlan = Pick<SearchOptions, 'algorithm' | 'evaluator' | 'policy'> & {
  readonly method: Method;
};

/**
 * A method with the paper's defaults. The packaged model was taught to propose a step and to judge a state in one word,
 * and plays only those parts.
 *
 * @param ends - Whether it ends with the first solution, where the paper does not say.
 */
export function methodFor(
  name: string,
  options: MethodOptions,
  { ends = true }: { readonly ends?: boolean } = {},
): MethodPlan {
  const entry = methods.find((each) => each.name === name);
  if (entry === undefined) throw new Error(`Expected one of ${methodNames.join(', ')}.`);
  const { create, plain } = entry;
  const method = { ...(ends && { stopWhen: [solved()] }), ...create(options) };
  return { method, ...(options.model.provider === 'tiny' && plain?.(options)) };
}
