import { EspalierError } from '../base/errors.ts';
import { expectation, expectObject, expectOneOf } from '../base/expect.ts';
import { expectOptions } from '../base/expect-options.ts';
import { messageOf } from '../base/failure.ts';
import { isThenable } from '../base/is-thenable.ts';
import { isPlainObject } from '../base/json.ts';
import type { StandardSchema } from '../base/standard-schema.ts';
import type { JsonValue } from '../contracts/json.ts';
import type { ActCall } from '../contracts/world.ts';
import type { Tool } from '../environments/tools/tool.ts';
import {
  adapted,
  type ReadInput,
  readSchema,
  type ToldEffect,
  toldBytes,
  Unread,
} from './adapted.ts';

/** A tool of the AI SDK, structurally typed. */
export interface AiSdkTool<Input = any, Options = any, Told = any> {
  /** The description for the model: a text, or in version 7 a function of the context. */
  readonly description?: unknown;
  /** Example inputs, appended to the description. */
  readonly inputExamples?: unknown;
  /** The schema of its input: a Standard Schema, or one of `jsonSchema()`. */
  readonly inputSchema?: unknown;
  /** Runs it. */
  readonly execute?: ((input: Input, options: Options) => unknown) | undefined;
  /** Converts its output to what the model sees. */
  readonly toModelOutput?: ((told: Told) => unknown) | undefined;
  /** Whether a person must approve the call. */
  readonly needsApproval?: unknown;
}

/** Options of {@link aiSdkTools}. */
export interface AiSdkToolsOptions<Tools> {
  /** The effect of each tool, which the tools themselves do not declare. */
  readonly effects: { readonly [Name in keyof Tools]: ToldEffect };
  /** The version of the SDK: 5 calls `toModelOutput` differently. @defaultValue 6 */
  readonly major?: 5 | 6 | 7;
  /** The value passed to tools as `context` and `experimental_context`. @defaultValue none */
  readonly context?: unknown;
  /** The timeout of one call, in milliseconds. @defaultValue 30 000 */
  readonly timeoutMs?: number;
}

/**
 * Converts tools of the AI SDK 5, 6 and 7 for a `toolEnvironment`.
 *
 * A tool that needs approval must be irreversible or have an `undo`; `approve` of a commit asks for the approval.
 * `execute` gets no `messages`. If it streams, the last part is the output.
 *
 * @throws EspalierError `usage` if a tool has no `execute` (as those run by a provider), its schema cannot be read
 * synchronously, its effect is missing, or an effect names an unknown tool.
 */
export function aiSdkTools<Tools extends Readonly<Record<string, AiSdkTool>>>(
  tools: Tools,
  options: AiSdkToolsOptions<Tools>,
): { readonly [Name in keyof Tools]: Tool<Parameters<NonNullable<Tools[Name]['execute']>>[0]> } {
  expectObject('tools', tools);
  expectOptions('aiSdkTools', options, 'effects major context timeoutMs');
  const { effects, major = 6, context, timeoutMs } = options;
  expectObject('effects', effects);
  expectOneOf('major', String(major), ['5', '6', '7']);
  const missing = Object.keys(effects).find((name) => !Object.hasOwn(tools, name));
  if (missing !== undefined) {
    throw expectation('effects', `names of the tools (${Object.keys(tools).join(', ')})`, missing);
  }
  const made = Object.entries(tools).map(([name, tool]) => {
    const effect = Object.hasOwn(effects, name) ? effects[name] : undefined;
    return [name, adaptedTool({ name, tool, effect }, { major, context, timeoutMs })] as const;
  });
  return Object.fromEntries(made) as never;
}

function adaptedTool(
  named: {
    readonly name: string;
    readonly tool: AiSdkTool;
    readonly effect: ToldEffect | undefined;
  },
  {
    major,
    context,
    timeoutMs,
  }: { readonly major: number; readonly context: unknown; readonly timeoutMs: number | undefined },
): Tool {
  const { name, tool, effect } = named;
  const { execute, toModelOutput, needsApproval = false } = Object(tool) as AiSdkTool;
  if (effect === undefined) throw expectation(`effects.${name}`, 'told', effect);
  if (typeof execute !== 'function') {
    throw expectation(`tools.${name}`, 'a tool with an `execute`', tool);
  }
  if (needsApproval !== false && (effect === 'pure' || effect === 'read')) {
    const message = `\`${name}\` needs approval, so it is not ${effect}. Declare it as irreversible, or with its \`undo\`.`;
    throw new EspalierError('usage', message);
  }
  return adapted(name, effect, {
    ...schemaOf(name, tool.inputSchema),
    ...{ description: descriptionOf(tool, context), timeoutMs },
    async run(input, call) {
      const output = await lastOf(execute(input, optionsOf(call, context)));
      if (toModelOutput === undefined) return sent(output);
      const told = major === 5 ? output : { toolCallId: call.id, input, output };
      return shown(await toModelOutput(told));
    },
  });
}

/** The description, with the examples appended as the SDK does for models without support for them. */
function descriptionOf(
  { description, inputExamples }: AiSdkTool,
  context: unknown,
): string | undefined {
  const told: unknown =
    typeof description === 'function'
      ? (description as (options: object) => unknown)({ context })
      : description;
  const examples = Array.isArray(inputExamples) ? inputExamples : [];
  const lines = examples.map((one: { readonly input?: unknown }) => JSON.stringify(one.input));
  const parts = [
    ...(typeof told === 'string' ? [told] : []),
    ...(lines.length > 0 ? [`Input examples:\n${lines.join('\n')}`] : []),
  ];
  return parts.length > 0 ? parts.join('\n\n') : undefined;
}

function optionsOf({ id, signal }: ActCall, context: unknown): object {
  return {
    ...{ toolCallId: id, messages: [], abortSignal: signal },
    ...(context !== undefined && { context, experimental_context: context }),
  };
}

/** A tool may stream partial results: the last part is its output. */
async function lastOf(output: unknown): Promise<unknown> {
  const settled = await output;
  if (typeof settled !== 'object' || settled === null || !(Symbol.asyncIterator in settled)) {
    return settled;
  }
  let last: unknown;
  for await (const part of settled as AsyncIterable<unknown>) last = part;
  return last;
}

/** An output as the SDK sends it: values without a JSON form are left out, and dates become text. */
function sent(output: unknown): unknown {
  const isBinary = ArrayBuffer.isView(output) || output instanceof ArrayBuffer;
  if (typeof output !== 'object' || isBinary) return output;
  return JSON.parse(JSON.stringify(output));
}

/** The output as shown to a model. */
function shown(told: unknown): unknown {
  const { type, value, reason } = Object(told) as Readonly<Record<string, unknown>>;
  if (type === 'text') return value;
  if (type === 'json') return sent(value);
  if (type === 'error-text' || type === 'error-json') {
    throw new Error(typeof value === 'string' ? value : JSON.stringify(value));
  }
  if (type === 'execution-denied') throw new Error(String(reason ?? 'It was denied.'));
  if (type !== 'content' || !Array.isArray(value)) return sent(told);
  return value.map(partText).join('\n');
}

function partText(part: unknown): string {
  const { type, text, mediaType, url, data } = part as Readonly<Record<string, unknown>>;
  if (type === 'text') return String(text);
  const kind = String(mediaType ?? type);
  // Version 7 says how a file is stored.
  const held: Readonly<Record<string, unknown>> = isPlainObject(data) ? data : { url, data };
  if (typeof held['text'] === 'string') return held['text'];
  return held['url'] === undefined ? toldBytes(kind, held['data']) : `[${kind} at ${held['url']}]`;
}

/** The structure of a schema from `jsonSchema()`; `validate` may be missing. */
interface Schema {
  readonly jsonSchema?: unknown;
  readonly validate?: (value: unknown) => unknown;
}

function schemaOf(
  name: string,
  told: unknown,
): { readonly input: StandardSchema; readonly jsonSchema?: JsonValue } {
  const schema: unknown =
    typeof told === 'function' && !('~standard' in told) ? (told as () => unknown)() : told;
  if (schema !== null && schema !== undefined && '~standard' in Object(schema)) {
    const { vendor } = (schema as StandardSchema)['~standard'];
    if (vendor === 'zod' && !('_zod' in Object(schema))) {
      const wanted = 'a schema of zod 4, or one of zod 3 within `zodSchema()` of the SDK';
      throw expectation(`tools.${name}.inputSchema`, wanted, schema);
    }
    return { input: schema as StandardSchema };
  }
  const { jsonSchema, validate } = (schema ?? {}) as Schema;
  if (!isPlainObject(jsonSchema)) {
    throw expectation(`tools.${name}.inputSchema`, 'a schema that is there at once', told);
  }
  const read = readSchema(jsonSchema);
  return validate === undefined ? read : { ...read, input: checkedBy(validate, read.input) };
}

/** @param form - The structure of the input, as far as it can be checked synchronously. */
function checkedBy(validate: (value: unknown) => unknown, form: StandardSchema): StandardSchema {
  return {
    '~standard': {
      version: 1,
      vendor: 'ai-sdk',
      validate(value) {
        const result = validate(value);
        if (isThenable(result)) {
          const unread = new Unread(Promise.resolve(result).then(readFrom));
          const checked = form['~standard'].validate(value);
          return 'issues' in checked && checked.issues ? checked : { value: unread };
        }
        const read = readFrom(result);
        return 'value' in read ? read : { issues: [{ message: read.problem }] };
      },
    },
  };
}

function readFrom(result: unknown): ReadInput {
  const { success, value, error } = result as Readonly<Record<string, unknown>>;
  return success === true ? { value } : { problem: messageOf(error) };
}
