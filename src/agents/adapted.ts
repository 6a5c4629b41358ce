import { expectOneOf } from '../base/expect.ts';
import { expectOptions } from '../base/expect-options.ts';
import type { StandardSchema } from '../base/standard-schema.ts';
import type { JsonValue, MaybePromise } from '../contracts/json.ts';
import type { ActCall } from '../contracts/world.ts';
import { makeTool, type Tool } from '../environments/tools/tool.ts';

/** What a tool from elsewhere does to the world, as whoever uses it says. */
export type ToldEffect<Input = any> =
  | 'pure'
  | 'read'
  | 'irreversible'
  | {
      /** It can be taken back. */
      readonly effect: 'reversible';
      /** Takes it back, and does nothing where it never happened. */
      readonly undo: (
        input: Input,
        known: { readonly remembered?: JsonValue; readonly output?: JsonValue },
        call: ActCall,
      ) => unknown;
      /** Looks up what `undo` will need. */
      readonly remember?: (input: Input) => MaybePromise<JsonValue>;
    };

/** A tool from elsewhere. */
export interface Foreign {
  readonly description?: string | undefined;
  readonly input: StandardSchema;
  readonly jsonSchema?: JsonValue | undefined;
  readonly hints?: Readonly<Record<string, JsonValue>> | undefined;
  readonly run: (input: unknown, call: ActCall) => unknown;
}

/** A tool from elsewhere as one of ours. */
export function adapted(name: string, told: ToldEffect, { run, ...foreign }: Foreign): Tool {
  const { description, input, jsonSchema, hints } = foreign;
  const common = {
    input,
    ...(description !== undefined && { description }),
    ...(jsonSchema !== undefined && { jsonSchema }),
    ...(hints !== undefined && { hints }),
  };
  const runHere = (_db: unknown, parsed: unknown, call: ActCall) => run(parsed, call);
  if (typeof told === 'object') {
    expectOptions(`effects.${name}`, told, 'effect undo remember');
    const { effect, undo, remember } = told;
    return makeTool({
      ...{ ...common, effect, run: runHere },
      undo: (...[, parsed, known, call]) => undo(parsed, known, call),
      ...(remember !== undefined && { remember: (_db, parsed) => remember(parsed) }),
    });
  }
  expectOneOf(`effects.${name}`, told, ['pure', 'read', 'irreversible']);
  if (told !== 'pure') return makeTool({ ...common, effect: told, run: runHere });
  return makeTool({
    ...{ ...common, effect: told },
    run: async (db, parsed, call) => ({ output: await runHere(db, parsed, call) }),
  });
}

/** Bytes as they are told of: a conversation has no place for them. */
export function toldBytes(kind: string, base64: unknown): string {
  const length = typeof base64 === 'string' ? Math.floor((base64.length * 3) / 4) : 0;
  return `[${kind}, ${length} bytes]`;
}
