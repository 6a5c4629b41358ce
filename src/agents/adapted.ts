import * as z from 'zod';
import { expectation, expectFunction } from '../base/expect.ts';
import { expectOptions } from '../base/expect-options.ts';
import { messageOf } from '../base/failure.ts';
import { isThenable } from '../base/is-thenable.ts';
import { isPlainObject, jsonFault } from '../base/json.ts';
import type { StandardSchema } from '../base/standard-schema.ts';
import type { JsonValue, MaybePromise } from '../contracts/json.ts';
import type { ActCall } from '../contracts/world.ts';
import { makeTool, type Tool, type ToolSpec } from '../environments/tools/tool.ts';

/** The effect of a foreign tool, as declared by its user. */
export type ToldEffect<Input = any> =
  | 'pure'
  | 'read'
  | 'irreversible'
  | {
      /** The tool can be undone. */
      readonly effect: 'reversible';
      /** Undoes the call; must do nothing if it never happened. */
      readonly undo: (
        input: Input,
        known: { readonly remembered?: JsonValue; readonly output?: JsonValue },
        call: ActCall,
      ) => unknown;
      /** Looks up what `undo` will need. */
      readonly remember?: (input: Input) => MaybePromise<JsonValue>;
    };

/** A tool of another SDK. */
export interface Foreign {
  readonly description?: string | undefined;
  readonly input: StandardSchema;
  readonly jsonSchema?: JsonValue | undefined;
  readonly hints?: Readonly<Record<string, JsonValue>> | undefined;
  readonly timeoutMs?: number | undefined;
  readonly run: (input: unknown, call: ActCall) => unknown;
}

/** The value that a schema parsed, or the problem it found. */
export type ReadInput = { readonly value: unknown } | { readonly problem: string };

/** An input with an asynchronous schema: its structure has been checked, the rest is checked before use. */
export class Unread {
  readonly result: Promise<ReadInput>;

  constructor(result: Promise<ReadInput>) {
    this.result = result.catch((error: unknown) => ({ problem: messageOf(error) }));
  }
}

function inputOf(parsed: unknown): MaybePromise<ReadInput> {
  return parsed instanceof Unread ? parsed.result : { value: parsed };
}

/** Converts a tool of another SDK. */
export function adapted(name: string, told: ToldEffect, { run, ...foreign }: Foreign): Tool {
  const { description, input, jsonSchema, hints, timeoutMs } = foreign;
  const common = {
    input,
    ...(description !== undefined && { description }),
    ...(jsonSchema !== undefined && { jsonSchema }),
    ...(hints !== undefined && { hints }),
    ...(timeoutMs !== undefined && { timeoutMs }),
  };
  const read = async (parsed: unknown): Promise<unknown> => {
    const input = await inputOf(parsed);
    if ('value' in input) return input.value;
    throw new Error(`Its input is invalid. ${input.problem}`);
  };
  const runHere = async (_db: unknown, parsed: unknown, call: ActCall) =>
    run(await read(parsed), call);
  expectEffect(`effects.${name}`, told);
  if (typeof told === 'object') {
    const { effect, undo, remember } = told;
    const spec: ToolSpec<unknown, unknown, unknown> = {
      ...{ ...common, effect, run: runHere },
      async undo(...[, parsed, known, call]) {
        const input = await inputOf(parsed);
        // An input that was refused never ran.
        if ('value' in input) await undo(input.value, known, call);
      },
      ...(remember !== undefined && {
        remember: async (_db, parsed) => remember(await read(parsed)),
      }),
    };
    return makeTool(spec, true);
  }
  if (told !== 'pure') return makeTool({ ...common, effect: told, run: runHere }, true);
  return makeTool({
    ...{ ...common, effect: told },
    run: async (db, parsed, call) => ({ output: await runHere(db, parsed, call) }),
  });
}

function expectEffect(name: string, told: ToldEffect): void {
  const effect = Object(told) === told ? (told as Exclude<ToldEffect, string>).effect : told;
  const isKnown = typeof told === 'string' && ['pure', 'read', 'irreversible'].includes(told);
  if (isKnown) return;
  if (typeof told === 'string' || effect !== 'reversible') {
    const wanted = "'pure', 'read', 'irreversible', or an object with 'reversible' and its `undo`";
    throw expectation(name, wanted, effect);
  }
  expectOptions(name, told, 'effect undo remember');
  expectFunction(`${name}.undo`, told.undo);
}

const anyObject = z.looseObject({});

/**
 * A foreign JSON schema, for the model and as a check. A schema that cannot be stored or read accepts any object.
 * Patterns are not checked, because foreign ones may keep the process busy forever: the tool itself must check them.
 */
export function readSchema(told: unknown): {
  readonly input: StandardSchema;
  readonly jsonSchema: JsonValue;
} {
  const isKept = isPlainObject(told) && jsonFault(told) === undefined;
  const jsonSchema: JsonValue = isKept ? (told as JsonValue) : { type: 'object' };
  return { input: checkOf(jsonSchema), jsonSchema };
}

function checkOf(jsonSchema: JsonValue): StandardSchema {
  let schema: StandardSchema;
  try {
    const read = withoutPatterns(jsonSchema);
    schema = z.fromJSONSchema(read as Parameters<typeof z.fromJSONSchema>[0]);
  } catch {
    return anyObject;
  }
  return {
    '~standard': {
      ...{ version: 1, vendor: 'json-schema' },
      validate(value) {
        const result = schema['~standard'].validate(value);
        if (!isThenable(result)) return result;
        // A recursive schema has no end; the second attempt also fails.
        result.catch(() => {});
        return anyObject['~standard'].validate(value);
      },
    },
  };
}

/** Keywords whose values are schemas by name. */
const named = ['properties', '$defs', 'definitions', 'dependentSchemas'];
/** Keywords whose values are not schemas; `not` is never read here unless it is trivial. */
const data = ['const', 'default', 'enum', 'examples', 'not'];
/** Keywords that would refuse more if a schema within them accepted more. */
const exact = ['oneOf', 'contains'];

/** A schema that accepts whatever its patterns refuse: the same schema if it has none. */
function withoutPatterns(schema: JsonValue): JsonValue {
  if (Array.isArray(schema)) {
    const parts = schema.map(withoutPatterns);
    return parts.every((part, place) => part === schema[place]) ? schema : parts;
  }
  if (!isPlainObject(schema)) return schema;
  // Without the patterns it cannot be said which other properties are allowed.
  const dropped = ['pattern', 'patternProperties'].filter((key) => Object.hasOwn(schema, key));
  if (dropped.includes('patternProperties')) dropped.push('additionalProperties');
  return mapped(schema, (key, value) => {
    if (dropped.includes(key)) return undefined;
    if (data.includes(key)) return value;
    const isNamed = named.includes(key) && isPlainObject(value);
    const part = isNamed
      ? mapped(value, (_, schemaOfName) => withoutPatterns(schemaOfName))
      : withoutPatterns(value);
    return exact.includes(key) && part !== value ? undefined : part;
  });
}

type JsonObject = Readonly<Record<string, JsonValue>>;

/** An object with mapped values, without those that are `undefined`: the same object if nothing changes. */
function mapped(
  object: JsonObject,
  map: (key: string, value: JsonValue) => JsonValue | undefined,
): JsonValue {
  const told = Object.entries(object);
  const entries = told.flatMap(([key, value]) => {
    const other = map(key, value);
    return other === undefined ? [] : [[key, other] as const];
  });
  const isSame =
    entries.length === told.length && entries.every(([key, value]) => value === object[key]);
  return isSame ? object : Object.fromEntries(entries);
}

/** Bytes as text for a model, since a conversation cannot contain them. */
export function toldBytes(kind: string, bytes: unknown): string {
  if (typeof bytes === 'string') return `[${kind}, ${Buffer.byteLength(bytes, 'base64')} bytes]`;
  const { byteLength } = Object(bytes) as { readonly byteLength?: unknown };
  return typeof byteLength === 'number' ? `[${kind}, ${byteLength} bytes]` : `[${kind}]`;
}
