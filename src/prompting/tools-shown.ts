import type { Notation } from '../contracts/environment.ts';
import type { GenerateRequest } from '../contracts/language-model.ts';

/** The settings of a request that shows tool calls but must not make any. */
export type ToolsShown = Pick<GenerateRequest, 'toolChoice' | 'tools'>;

/**
 * The settings for a conversation that is only reviewed, not continued: the tools that it calls, none of which may be
 * called now. They are described at its beginning, as in requests that offer them, so that prefix caches work and
 * thoughts that are bound to the preceding text stay valid.
 */
export function toolsShown<State, Action>({
  tools,
}: Pick<Notation<State, Action>, 'tools'>): ToolsShown {
  return tools === undefined ? {} : { tools, toolChoice: 'none' };
}
