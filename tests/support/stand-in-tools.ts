import { systemClock } from '../../src/base/clock.ts';
import type { Journal } from '../../src/calls/journal.ts';
import { commitPath, recoverDeeds } from '../../src/environments/tools/commit.ts';
import type { Committing } from '../../src/environments/tools/commit-path.ts';
import { Outside } from '../../src/environments/tools/outside.ts';
import {
  type CommitOptions,
  type Committed,
  type MadeCall,
  type Recovery,
  seenOf,
} from '../../src/environments/tools/plan.ts';
import { predictTool, type Ran, runTool } from '../../src/environments/tools/running.ts';
import {
  type DeclaredTool,
  declared,
  makeTool,
  type Tool,
} from '../../src/environments/tools/tool.ts';
import type { Environment, JsonValue, SearchNode } from '../../src/index.ts';

export interface State {
  readonly data: JsonValue;
  readonly calls: readonly MadeCall[];
}

export interface Action {
  readonly tool: string;
  readonly input: JsonValue;
}

export interface ToolWorld extends Environment<State, Action> {
  commit(what: SearchNode<State, Action>, options: CommitOptions): Promise<Committed>;
  recover(): Promise<Recovery>;
  close(): Promise<void>;
}

/** As little of an environment with tools as deeds need. */
export function toolEnvironment(
  start: JsonValue,
  {
    name,
    tools,
    journal,
  }: {
    name: string;
    task: string;
    tools(tool: typeof makeTool): Record<string, Tool>;
    journal: Journal;
  },
): ToolWorld {
  const all = new Map(
    Object.entries(tools(makeTool)).map(([key, tool]) => [key, declared(key, tool)]),
  );
  const outside = new Outside({ environment: name, tools: all, journal });
  const parts: Committing = { environment: name, tools: all, outside, permit: () => true };

  async function run(
    state: State,
    tool: DeclaredTool,
    input: JsonValue,
    context: any,
  ): Promise<Ran> {
    const checked = tool.check(input);
    if ('problem' in checked) return { error: checked.problem };
    const { parsed } = checked;
    const changes = state.calls.filter(
      ({ effect, fate }) => fate === 'planned' || (fate === 'ran' && effect === 'reversible'),
    );
    const version = seenOf([
      state.data,
      changes.map((call) => [call.tool, call.input, call.seen ?? null]),
    ]);
    const effect = { name: `${name}.${tool.name}`, repeatable: true, pure: true };
    return context.effect(
      effect,
      { version, input: checked.input },
      async ({ signal, clock }: any) => {
        const call = { signal, clock, id: version };
        const on = { db: structuredClone(state.data), parsed };
        if (tool.effect === 'pure') return runTool(tool, on, call);
        return outside.at(state, call, (act) => {
          if (tool.effect === 'reversible')
            return act({ tool, input: checked.input, parsed }, state, call);
          return tool.effect === 'read' ? runTool(tool, on, call) : predictTool(tool, on, call);
        });
      },
    );
  }

  return {
    name,
    reset: () => ({ state: { data: start, calls: [] } }),
    async step(state, { tool: asked, input }, context) {
      const tool = all.get(asked) as DeclaredTool;
      const ran = await run(state, tool, input, context);
      const { effect } = tool;
      const isPlanned = effect === 'irreversible';
      const fate = isPlanned ? 'planned' : 'error' in ran ? 'failed' : 'ran';
      const call: MadeCall = {
        ...{ tool: asked, input, effect, fate },
        ...('output' in ran && { seen: seenOf(ran.output) }),
      };
      const data = 'data' in ran && ran.data !== undefined ? ran.data : state.data;
      return { state: { data, calls: [...state.calls, call] } };
    },
    key: ({ data, calls }) => seenOf([data, calls as unknown as JsonValue]),
    commit: (what, options) => commitPath(parts, what, options),
    recover: () =>
      recoverDeeds(parts, journal, {
        signal: new AbortController().signal,
        clock: systemClock,
        id: '',
      }),
    close: () => outside.close(),
  };
}
