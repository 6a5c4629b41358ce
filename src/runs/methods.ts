import { type Method, type MethodOptions, methods } from '../methods/index.ts';
import type { SearchOptions } from '../search/contracts.ts';
import { solved } from '../search/stop-conditions.ts';

/** The names of all methods. */
export const methodNames: readonly string[] = methods.map(({ name }) => name);

/** A method, and the replacements of its parts. */
type MethodPlan = Pick<SearchOptions, 'algorithm' | 'evaluator' | 'policy'> & {
  readonly method: Method;
};

/**
 * A method with the paper's defaults. The packaged model was trained to propose a step and to judge a state in one
 * word, and is used only for that.
 *
 * @param ends - Whether it ends with the first solution, if the paper does not say.
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
