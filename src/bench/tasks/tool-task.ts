import * as z from 'zod';
import type { Random } from '../../contracts/context.ts';
import { type Tool, type ToolEnvironment, toolEnvironment } from '../../environments/index.ts';
import type { BenchInstance } from '../task.ts';

/** A call of a tool. */
export interface Call {
  readonly tool: string;
  readonly input: Readonly<Record<string, string>>;
}

/** What a tool does, to data that it leaves as they are. It throws where it cannot. */
export interface Deed<Db = any, Input = any> {
  readonly effect: 'irreversible' | 'pure' | 'read';
  readonly input: z.ZodType<Record<string, string>>;
  does(db: Db, input: Input): { readonly state?: Db; readonly output: string };
}

export interface ToolTask<Db = any> {
  readonly kind: string;
  /** Whether a wrong call may lead to where nothing can be made good. */
  readonly hasTraps: boolean;
  readonly text: string;
  readonly start: Db;
  readonly tools: Readonly<Record<string, Deed<Db>>>;
  /** All calls that are ever made, the right ones among them. */
  readonly calls: readonly Call[];
  isDone(db: Db): boolean;
  /** What a judge can see of how far it is, whatever may still come of it. */
  parts(db: Db): readonly boolean[];
  /** Why the last call may not be made yet. */
  refuses(tool: string, db: Db): string | undefined;
}

/** The input of a tool: texts by these names. */
export const text = (...names: readonly string[]): z.ZodType<Record<string, string>> =>
  z.object(Object.fromEntries(names.map((name) => [name, z.string()])));
/** A call. */
export const call = (tool: string, input: Call['input'] = {}): Call => ({ tool, input });
/** An integer, both bounds included. */
export const between = (random: Random, low: number, high: number): number =>
  low + random.integer(high - low + 1);

/** Throws an error with this message unless the condition holds. */
export function expectThat(holds: boolean, otherwise: string): asserts holds {
  if (!holds) throw new Error(otherwise);
}

/**
 * The tools of a task as an environment: it ends with reward 1 where the task is done.
 *
 * @param onIrreversible - Called for each run of what cannot be undone; a search predicts it and runs none.
 */
export function worldOf(
  task: ToolTask,
  onIrreversible: () => void = () => {},
): ToolEnvironment<object> {
  return toolEnvironment(task.start as object, {
    name: task.kind,
    task: task.text,
    tools: (tool) =>
      Object.fromEntries(
        Object.entries(task.tools).map(([name, { effect, input, does }]): [string, Tool] => {
          if (effect === 'pure') return [name, tool({ effect, input, run: does })];
          if (effect === 'read') {
            return [name, tool({ effect, input, run: (db, given) => does(db, given).output })];
          }
          const run = (db: unknown, given: unknown) => {
            onIrreversible();
            return does(db, given).output;
          };
          return [name, tool({ effect, input, predict: does, run })];
        }),
      ),
    done: task.isDone,
    permit: ({ tool }, db) => task.refuses(tool, db) ?? true,
  });
}

/** For tasks that are done and not answered, so that there is nothing to vote on. */
export function withoutAnswer({
  answer: _,
  ...environment
}: ToolEnvironment): BenchInstance['environment'] {
  return environment;
}
