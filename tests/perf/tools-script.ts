// The model that all methods ask: it calls a right tool with a chance of 0.6, and judges states by what can be seen of
// them, with noise.
import { type Completion, type GenerateRequest, type Random, seededRandom } from 'espalier';
import { type ScriptedModel, scriptedModel } from 'espalier/testing';
import type { Call, ToolTask as Task } from '../../src/bench/tasks/tool-task.ts';

/** The words of the judge, from a state that is as bad as at the start to one that looks complete. */
export const scale: Readonly<Record<string, number>> = {
  ...{ nothing: 0, little: 0.25, half: 0.5, most: 0.75, all: 1 },
};
const skill = 0.6;
/** How much a judgement errs, at most: it is uniform. */
const noise = 0.3;

const known = new WeakMap<Task, ReturnType<typeof rightCalls>>();

/** The model for one task. */
export function scriptFor(task: Task, seed: string): ScriptedModel {
  const right = known.get(task) ?? rightCalls(task);
  known.set(task, right);
  return scriptedModel({
    capabilities: { n: true, schema: true, tools: true },
    answer(request, index) {
      const made = request.messages.flatMap(({ toolCalls = [] }) => toolCalls as readonly Told[]);
      const db = made.reduce(
        (state, { name, input }) => after(task, state, { tool: name, input }),
        task.start,
      );
      const asked = request.toolChoice === 'required' ? 'call' : 'view';
      const random = seededRandom(seed).split(
        asked,
        JSON.stringify(made.map(({ name, input }) => [name, input])),
        index,
      );
      if (asked === 'call') return completionOf(pick(task, right(db), random));
      const seen = task.parts(db);
      const lacking = seen.filter((part) => !part).length;
      return viewOf(request, lacking, { of: seen.length, random });
    },
    usage: ({ messages, tools = [] }, completions) => ({
      inputTokens:
        tokensIn(tools) +
        messages.reduce(
          (sum, { role, content, toolCalls }) => sum + tokensIn({ role, content, toolCalls }),
          0,
        ),
      outputTokens: completions.reduce(
        (sum, { text, toolCalls }) => sum + tokensIn({ text, toolCalls }),
        0,
      ),
    }),
  });
}

interface Told {
  readonly name: string;
  readonly input: Call['input'];
}

/** A token for each four characters. */
function tokensIn(told: unknown): number {
  return Math.ceil(JSON.stringify(told).length / 4);
}

function completionOf({ tool, input }: Call): Completion {
  return { text: '', finishReason: 'tool', toolCalls: [{ id: 'call', name: tool, input }] };
}

/** A judgement in a word; or the plan of ToolChain*, of as many steps as there seem to be left. */
function viewOf(
  { schema }: GenerateRequest,
  lacking: number,
  { of, random }: { readonly of: number; readonly random: Random },
): string {
  const error = (2 * random.next() - 1) * noise;
  if (schema !== undefined) {
    const steps = Math.max(0, Math.round(lacking + of * error));
    return JSON.stringify({ steps: Array.from({ length: steps }, () => 'a call') });
  }
  const words = Object.keys(scale);
  const place = Math.round((words.length - 1) * (1 - lacking / of + error));
  return words[Math.max(0, Math.min(words.length - 1, place))] ?? '';
}

/** A right call with the chance of the script's skill, else a wrong one or where none is. */
function pick({ calls }: Task, right: readonly Call[], random: Random): Call {
  const isRight = random.next() < skill && right.length > 0;
  const from = isRight ? right : calls.filter((call) => !right.includes(call));
  const drawn = from[random.integer(from.length)];
  if (drawn === undefined) throw new Error('Expected some wrong calls.');
  return drawn;
}

/** The data after a call; as they were, where it cannot be made. */
function after(task: Task, db: unknown, { tool, input }: Call): unknown {
  try {
    if (task.refuses(tool, db) !== undefined) return db;
    return task.tools[tool]?.does(db, input).state ?? db;
  } catch {
    return db;
  }
}

/** The calls that bring a state closer to the goal, by trying all. */
function rightCalls(task: Task): (db: unknown) => readonly Call[] {
  const start = JSON.stringify(task.start);
  const states = new Map<string, { readonly db: unknown; readonly next: readonly string[] }>();
  const open = [start];
  for (let key = open.pop(); key !== undefined; key = open.pop()) {
    if (states.has(key)) continue;
    const db: unknown = JSON.parse(key);
    const next = task.isDone(db)
      ? []
      : task.calls.map((call) => JSON.stringify(after(task, db, call)));
    states.set(key, { db, next });
    open.push(...next);
  }
  const distances = new Map<string, number>();
  let level = [...states].filter(([, { db }]) => task.isDone(db)).map(([key]) => key);
  for (let distance = 0; level.length > 0; distance++) {
    for (const key of level) distances.set(key, distance);
    level = [...states]
      .filter(
        ([key, { next }]) =>
          !distances.has(key) && next.some((to) => distances.get(to) === distance),
      )
      .map(([key]) => key);
  }
  if (!distances.has(start)) throw new Error(`The task cannot be solved: ${task.text}`);
  return (db) => {
    const key = JSON.stringify(db);
    const left = distances.get(key) ?? 0;
    const { next = [] } = states.get(key) ?? {};
    return task.calls.filter((_, place) => distances.get(next[place] ?? '') === left - 1);
  };
}
