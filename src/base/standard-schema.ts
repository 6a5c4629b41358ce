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
  /** What the libraries have agreed upon. */
  readonly '~standard': {
    /** The version of the agreement. */
    readonly version: 1;
    /** The library. */
    readonly vendor: string;
    /** Checks a value. What one checks asynchronously is refused. */
    readonly validate: (value: unknown) =>
      | {
          /** What was read. */
          readonly value: Output;
          /** Nothing is wrong. */
          readonly issues?: undefined;
        }
      | {
          /** What is wrong. */
          readonly issues: readonly {
            /** In words. */
            readonly message: string;
            /** Where. */
            readonly path?: readonly unknown[] | undefined;
          }[];
        }
      | Promise<unknown>;
    /** The types, for the compiler alone. */
    readonly types?:
      | {
          /** What is written. */
          readonly input: Input;
          /** What is read. */
          readonly output: Output;
        }
      | undefined;
  };
}

/** What was read by a schema, or what is wrong with it. */
export type Checked =
  | { readonly input: JsonValue; readonly parsed: unknown }
  | { readonly problem: string };

/** The longest input that is taken, in characters of JSON: it stays in each state behind the call. */
const longestInput = 1_000_000;
const mostIssues = 5;
/** An issue may name every key of an input. */
const longestIssue = 500;

/** Throws unless `value` is a Standard Schema. */
export function expectSchema(name: string, value: unknown): void {
  const validate = (value as Partial<StandardSchema> | undefined)?.['~standard']?.validate;
  if (typeof validate === 'function') return;
  throw expectation(name, 'a Standard Schema, such as `z.object({ … })`', value);
}

/**
 * Reads a value by a schema. `input` is its canonical form, equal for values that mean the same: what was read, where
 * reading that again changes nothing, and else what was written; keys are sorted. A schema that throws, or checks
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
      problem: `The input has ${text.length} characters; at most ${longestInput} are taken.`,
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

/** Inputs in their canonical form, by the schema: a call is looked at several times on its way into a state. */
const canonicalBy = new WeakMap<object, StandardSchema>();

/** What was read, where it is JSON that is read as itself. */
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
      // Some libraries give one where a part of theirs throws.
      throw new Error('Its schema gave a promise: it checks asynchronously, or it threw.');
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
 * The JSON schema of what a schema takes.
 *
 * @throws EspalierError `usage` where the library cannot tell it.
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

/** What libraries tell besides that have agreed upon JSON schemas too. */
interface Telling {
  readonly vendor: string;
  readonly jsonSchema?: { readonly input: (options: { readonly target: string }) => unknown };
}

function untold(name: string, vendor: string, cause: unknown): EspalierError {
  const message = `\`${vendor}\` does not tell the JSON schema of \`${name}\`. Give it as \`jsonSchema\`.`;
  return new EspalierError('usage', message, { cause });
}
