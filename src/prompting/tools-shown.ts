import type { Notation } from '../contracts/environment.ts';
import type { GenerateRequest } from '../contracts/language-model.ts';

/** What a request has that shows calls of tools, and wants none. */
export type ToolsShown = Pick<GenerateRequest, 'toolChoice' | 'tools'>;

/**
 * What goes with a conversation that is to be looked at, and not to be gone on with: the tools that are called in it,
 * none of which is to be called. They are told at its beginning, which then is the same as where they are offered, for
 * prefix caches and for thoughts that are bound to all that stands before them.
 */
export function toolsShown<State, Action>({
  tools,
}: Pick<Notation<State, Action>, 'tools'>): ToolsShown {
  return tools === undefined ? {} : { tools, toolChoice: 'none' };
}
