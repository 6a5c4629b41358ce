import {
  type Tool,
  type ToolEnvironment,
  type ToolOptions,
  type ToolState,
  toolEnvironment,
} from '../../src/environments/index.ts';
import { beam, type JsonValue, type SearchResult, search } from '../../src/index.ts';
import { callTools } from '../../src/policies/index.ts';
import { type ScriptedModel, scriptedModel } from '../../src/testing/index.ts';

/** A call that the scripted model makes. */
export interface Call {
  readonly tool: string;
  readonly input: JsonValue;
}

/** A search over tools in which a scripted model makes these calls: at each depth, all of a row. */
export async function searchOver(
  tools: Readonly<Record<string, Tool>>,
  rows: readonly (readonly Call[])[],
  options: Partial<ToolOptions> & { readonly signal?: AbortSignal; readonly repairs?: number } = {},
): Promise<
  SearchResult<ToolState<null, unknown>, Call> & {
    readonly environment: ToolEnvironment<null, Call, unknown>;
    readonly model: ScriptedModel;
  }
> {
  const { signal, repairs = 0, ...told } = options;
  const environment = toolEnvironment(null, {
    ...{ name: 'tools', task: 'Use them.' },
    ...told,
    tools: () => tools,
  });
  const model = scriptedModel({
    capabilities: { n: true, tools: true },
    answer({ messages }, index) {
      const depth = messages.filter(({ role }) => role === 'assistant').length;
      const row = rows[depth] ?? [];
      const { tool: name = '', input = {} } = row[index % row.length] ?? {};
      return { text: '', finishReason: 'tool', toolCalls: [{ id: `call-${index}`, name, input }] };
    },
  });
  const width = Math.max(...rows.map((row) => row.length));
  const result = await search(environment, {
    policy: callTools({ model, samples: width, repairs }),
    evaluator: () => 0.5,
    algorithm: beam({ width, maxDepth: rows.length }),
    budget: { calls: 1_000 },
    ...(signal !== undefined && { signal }),
  });
  return { environment, model, ...result };
}

/** What the model saw of each call, where each is made from the start. */
export async function seenOf(
  tools: Readonly<Record<string, Tool>>,
  calls: readonly Call[],
): Promise<readonly (string | undefined)[]> {
  const { tree } = await searchOver(tools, [calls]);
  return tree.root.children.map(({ state }) => state?.turns.at(-1)?.content);
}

/** What a model sees of an output. */
export const shown = (text: string) => `<output>\n${text}\n</output>`;
