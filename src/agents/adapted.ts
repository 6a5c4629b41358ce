import * as z from 'zod';
import { expectation, expectFunction } from '../base/expect.ts';
import { expectOptions } from '../base/expect-options.ts';
import { messageOf } from '../base/failure.ts';
import { isThenable } from '../base/is-thenable.ts';
import { isPlainObject, jsonFault } from '../base/json.ts';
import type { StandardSchema } from '../base/standard-schema.ts';
import type { JsonValue, MaybePromise } from '../contracts/json.ts';
import type { ActCall } from '../contracts/world.ts';
import { makeTool, type Tool } from '../environments/tools/tool.ts';

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

/** What a schema has read, or what is wrong with it. */
export type ReadInput = { readonly value: unknown } | { readonly problem: string };

/** An input whose schema checks asynchronously: its form was checked, and the rest is before it is used. */
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
    throw new Error(`Its input is not what it takes. ${input.problem}`);
  };
  const runHere = async (_db: unknown, parsed: unknown, call: ActCall) =>
    run(await read(parsed), call);
  expectEffect(`effects.${name}`, told);
  if (typeof told === 'object') {
    const { effect, undo, remember } = told;
    return makeTool({
      ...{ ...common, effect, run: runHere },
      async undo(...[, parsed, known, call]) {
        const input = await inputOf(parsed);
        // What was refused never ran.
        if ('value' in input) await undo(input.value, known, call);
      },
      ...(remember !== undefined && {
        remember: async (_db, parsed) => remember(await read(parsed)),
      }),
    });
  }
  if (told !== 'pure') return makeTool({ ...common, effect: told, run: runHere });
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
 * A JSON schema of others, as it is told and as a check. One that cannot be kept, or read here, takes any object, and
 * patterns are left out of the check, since others' can keep the process busy for ever: the tool itself has to check them.
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
        // A schema that leads back to itself has no end, and is tried once more in vain.
        result.catch(() => {});
        return anyObject['~standard'].validate(value);
      },
    },
  };
}

/** What holds schemas under names of its own. */
const named = ['properties', '$defs', 'definitions', 'dependentSchemas'];
/** What holds no schema; a `not` that says anything is never read here. */
const data = ['const', 'default', 'enum', 'examples', 'not'];
/** What would refuse more where a schema within it takes more. */
const exact = ['oneOf', 'contains'];

/** A schema that takes whatever its patterns refuse: the same one where there are none. */
function withoutPatterns(schema: JsonValue): JsonValue {
  if (Array.isArray(schema)) {
    const parts = schema.map(withoutPatterns);
    return parts.every((part, place) => part === schema[place]) ? schema : parts;
  }
  if (!isPlainObject(schema)) return schema;
  // What is allowed besides them cannot be told without them.
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

/** An object with other values, without those that are `undefined`: the same one where all stay. */
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

/** Bytes as they are told of: a conversation has no place for them. */
export function toldBytes(kind: string, bytes: unknown): string {
  if (typeof bytes === 'string') return `[${kind}, ${Buffer.byteLength(bytes, 'base64')} bytes]`;
  const { byteLength } = Object(bytes) as { readonly byteLength?: unknown };
  return typeof byteLength === 'number' ? `[${kind}, ${byteLength} bytes]` : `[${kind}]`;
}
