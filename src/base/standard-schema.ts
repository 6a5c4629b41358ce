import * as z from 'zod';
import type { JsonValue } from '../contracts/json.ts';
import { canonicalJson } from './canonical-json.ts';
import { EspalierError } from './errors.ts';
import { expectation } from './expect.ts';
import { messageOf, sentenceOf } from './failure.ts';
import { frozen } from './frozen.ts';
import { isThenable } from './is-thenable.ts';
import { isPlainObject } from './json.ts';

/**
 * A schema of any library that follows Standard Schema, such as zod, valibot and arktype.
 *
 * @see https://standardschema.dev
 */
export interface StandardSchema<Input = unknown, Output = Input> {
  /** The interface that the libraries have agreed on. */
  readonly '~standard': {
    /** The version of the interface. */
    readonly version: 1;
    /** The library. */
    readonly vendor: string;
    /** Checks a value. Asynchronous checks are refused. */
    readonly validate: (value: unknown) =>
      | {
          /** The parsed value. */
          readonly value: Output;
          /** No problems. */
          readonly issues?: undefined;
        }
      | {
          /** The problems. */
          readonly issues: readonly {
            /** The description. */
            readonly message: string;
            /** The location. */
            readonly path?: readonly unknown[] | undefined;
          }[];
        }
      | Promise<unknown>;
    /** The types, for the compiler only. */
    readonly types?:
      | {
          /** The input type. */
          readonly input: Input;
          /** The output type. */
          readonly output: Output;
        }
      | undefined;
  };
}

/** A value parsed by a schema, or its problem. */
export type Checked =
  | { readonly input: JsonValue; readonly parsed: unknown }
  | { readonly problem: string };

/** The longest accepted input, in characters of JSON: it is stored in each state after the call. */
const longestInput = 1_000_000;
const mostIssues = 5;
/** The longest message shown: one may name every key of an input. */
const longestIssue = 500;

/** Throws unless `value` is a Standard Schema. */
export function expectSchema(name: string, value: unknown): void {
  const validate = (value as Partial<StandardSchema> | undefined)?.['~standard']?.validate;
  if (typeof validate === 'function') return;
  throw expectation(name, 'a Standard Schema, such as `z.object({ … })`', value);
}

/**
 * Parses a value with a schema. `input` is its canonical form, equal for values that mean the same: the parsed value if
 * parsing it again changes nothing, or else the original; keys are sorted. A schema that throws, or checks
 * asynchronously, is a problem of the input.
 */
export function checkBy(schema: StandardSchema, value: unknown): Checked {
  if (isPlainObject(value) && canonicalBy.get(value) === schema) {
    const again = read(schema, structuredClone(value));
    return 'problem' in again ? again : { input: value as JsonValue, parsed: again.parsed };
  }
  let text: string;
  try {
    text = canonicalJson('input', value);
  } catch (error) {
    return { problem: messageOf(error) };
  }
  if (text.length > longestInput) {
    return {
      problem: `The input has ${text.length} characters; at most ${longestInput} are accepted.`,
    };
  }
  if (/(?<!\\)"__proto__":/.test(text)) {
    return { problem: 'The input has a key `__proto__`, which is not taken.' };
  }
  const written = JSON.parse(text) as JsonValue;
  const first = read(schema, written);
  if ('problem' in first) return first;
  const input = frozen(canonical(schema, first.parsed) ?? (JSON.parse(text) as JsonValue));
  if (isPlainObject(input)) canonicalBy.set(input, schema);
  return { input, parsed: first.parsed };
}

/** Inputs in canonical form, with their schema: a call is checked several times on its way into a state. */
const canonicalBy = new WeakMap<object, StandardSchema>();

/** The parsed value, if it is JSON and parses to itself. */
function canonical(schema: StandardSchema, parsed: unknown): JsonValue | undefined {
  try {
    const text = canonicalJson('input', parsed);
    const again = read(schema, JSON.parse(text));
    const isSame = 'parsed' in again && canonicalJson('input', again.parsed) === text;
    return isSame ? (JSON.parse(text) as JsonValue) : undefined;
  } catch {
    return undefined;
  }
}

function read(
  schema: StandardSchema,
  value: unknown,
): { readonly parsed: unknown } | { readonly problem: string } {
  try {
    const result = schema['~standard'].validate(value);
    if (isThenable(result)) {
      Promise.resolve(result).catch(() => {});
      // Some libraries return a promise if a part of the schema throws.
      throw new Error('Its schema returned a promise: it checks asynchronously, or it threw.');
    }
    const { issues } = result;
    return issues === undefined ? { parsed: result.value } : { problem: toldIssues(issues) };
  } catch (error) {
    return { problem: `The input could not be checked: ${sentenceOf(messageOf(error))}` };
  }
}

function toldIssues(
  issues: readonly { readonly message: string; readonly path?: readonly unknown[] | undefined }[],
): string {
  const shown = issues.slice(0, mostIssues).map(({ path = [], message }) => {
    const at = path.map((part) => String(isPlainObject(part) ? part['key'] : part)).join('.');
    const told = at === '' ? message : `${at}: ${message}`;
    return told.length > longestIssue ? `${told.slice(0, longestIssue - 1)}…` : told;
  });
  const left = issues.length - shown.length;
  return [...shown, ...(left > 0 ? [`and ${left} more`] : [])].join('; ');
}

/**
 * The JSON schema of a schema's input.
 *
 * @throws EspalierError `usage` if the library cannot provide it.
 */
export function jsonSchemaOf(name: string, schema: StandardSchema): JsonValue {
  const told = schema['~standard'] as Telling;
  const { vendor, jsonSchema } = told;
  let found: unknown;
  try {
    found =
      vendor === 'zod' && '_zod' in schema
        ? z.toJSONSchema(schema as unknown as z.ZodType, { io: 'input', unrepresentable: 'any' })
        : jsonSchema?.input({ target: 'draft-2020-12' });
  } catch (error) {
    throw untold(name, vendor, error);
  }
  if (!isPlainObject(found)) throw untold(name, vendor, undefined);
  const { $schema: _, ...rest } = found;
  return JSON.parse(canonicalJson(name, rest)) as JsonValue;
}

/** The additional interface of libraries that provide JSON schemas. */
interface Telling {
  readonly vendor: string;
  readonly jsonSchema?: { readonly input: (options: { readonly target: string }) => unknown };
}

function untold(name: string, vendor: string, cause: unknown): EspalierError {
  const message = `\`${vendor}\` does not provide the JSON schema of \`${name}\`. Give it as \`jsonSchema\`.`;
  return new EspalierError('usage', message, { cause });
}
