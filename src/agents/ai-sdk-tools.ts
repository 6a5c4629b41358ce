import * as z from 'zod';
import { EspalierError } from '../base/errors.ts';
import { expectation, expectObject, expectOneOf } from '../base/expect.ts';
import { expectOptions } from '../base/expect-options.ts';
import { isPlainObject } from '../base/json.ts';
import type { StandardSchema } from '../base/standard-schema.ts';
import type { JsonValue } from '../contracts/json.ts';
import type { ActCall } from '../contracts/world.ts';
import type { Tool } from '../environments/tools/tool.ts';
import { adapted, type ToldEffect, toldBytes } from './adapted.ts';

/** A tool of the AI SDK, by its structure. */
export interface AiSdkTool<Input = any, Options = any, Told = any> {
  /** What it does, for the model. */
  readonly description?: unknown;
  /** What it takes: a Standard Schema, or one of `jsonSchema()`. */
  readonly inputSchema?: unknown;
  /** Runs it. */
  readonly execute?: ((input: Input, options: Options) => unknown) | undefined;
  /** What the model sees of its output. */
  readonly toModelOutput?: ((told: Told) => unknown) | undefined;
  /** Whether a person has to be asked. */
  readonly needsApproval?: unknown;
}

/** How tools of the AI SDK are taken over. */
export interface AiSdkToolsOptions<Tools> {
  /** What each does to the world: nothing in a tool says so. */
  readonly effects: { readonly [Name in keyof Tools]: ToldEffect };
  /** The version of the SDK: 5 passes an output to `toModelOutput` in another way. @defaultValue 6 */
  readonly major?: 5 | 6 | 7;
  /** What tools are passed as `context` and `experimental_context`. @defaultValue nothing */
  readonly context?: unknown;
}

/**
 * Tools of the AI SDK 5, 6 and 7, to be put among those of a `toolEnvironment`.
 *
 * A tool that needs approval is irreversible, or has an `undo`; `approve` of a commit asks for the approval.
 *
 * @throws EspalierError `usage` where a tool has no `execute`, its schema cannot be read at once, or no effect is told.
 */
export function aiSdkTools<Tools extends Readonly<Record<string, AiSdkTool>>>(
  tools: Tools,
  options: AiSdkToolsOptions<Tools>,
): { readonly [Name in keyof Tools]: Tool<Parameters<NonNullable<Tools[Name]['execute']>>[0]> } {
  expectObject('tools', tools);
  expectOptions('aiSdkTools', options, 'effects major context');
  const { effects, major = 6, context } = options;
  expectOneOf('major', String(major), ['5', '6', '7']);
  const made = Object.entries(tools).map(([name, tool]) => {
    const effect = Object.hasOwn(effects, name) ? effects[name] : undefined;
    return [name, adaptedTool({ name, tool, effect }, { major, context })] as const;
  });
  return Object.fromEntries(made) as never;
}

function adaptedTool(
  named: {
    readonly name: string;
    readonly tool: AiSdkTool;
    readonly effect: ToldEffect | undefined;
  },
  { major, context }: { readonly major: number; readonly context: unknown },
): Tool {
  const { name, tool, effect } = named;
  const { description, execute, toModelOutput, needsApproval = false } = tool;
  if (effect === undefined) throw expectation(`effects.${name}`, 'told', effect);
  if (typeof execute !== 'function') {
    throw expectation(`tools.${name}`, 'a tool with an `execute`', tool);
  }
  if (needsApproval !== false && (effect === 'pure' || effect === 'read')) {
    const message = `\`${name}\` needs approval, so it is not ${effect}. Tell it as irreversible, or with its \`undo\`.`;
    throw new EspalierError('usage', message);
  }
  return adapted(name, effect, {
    ...schemaOf(name, tool.inputSchema),
    description: typeof description === 'string' ? description : undefined,
    async run(input, call) {
      const output = await lastOf(execute(input, optionsOf(call, context)));
      if (toModelOutput === undefined) return output;
      const told = major === 5 ? output : { toolCallId: call.id, input, output };
      return shown(await toModelOutput(told));
    },
  });
}

function optionsOf({ id, signal }: ActCall, context: unknown): object {
  return {
    ...{ toolCallId: id, messages: [], abortSignal: signal },
    ...(context !== undefined && { context, experimental_context: context }),
  };
}

/** A tool may stream what it has so far: the last part is its output. */
async function lastOf(output: unknown): Promise<unknown> {
  const settled = await output;
  if (typeof settled !== 'object' || settled === null || !(Symbol.asyncIterator in settled)) {
    return settled;
  }
  let last: unknown;
  for await (const part of settled as AsyncIterable<unknown>) last = part;
  return last;
}

/** What a model is shown of an output. */
function shown(told: unknown): unknown {
  const { type, value } = told as { readonly type?: unknown; readonly value?: unknown };
  if (type === 'text' || type === 'json') return value;
  if (type === 'error-text' || type === 'error-json') {
    throw new Error(typeof value === 'string' ? value : JSON.stringify(value));
  }
  if (type !== 'content' || !Array.isArray(value)) return told;
  return value.map(partText).join('\n');
}

function partText(part: unknown): string {
  const { type, text, mediaType, data } = part as Readonly<Record<string, unknown>>;
  return type === 'text' ? String(text) : toldBytes(String(mediaType ?? type), data);
}

/** What a schema of `jsonSchema()` looks like; `validate` may be left out. */
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
    return { input: schema as StandardSchema };
  }
  const { jsonSchema, validate } = (schema ?? {}) as Schema;
  if (!isPlainObject(jsonSchema)) {
    throw expectation(`tools.${name}.inputSchema`, 'a schema that is there at once', told);
  }
  const json = jsonSchema as JsonValue;
  if (validate === undefined) return { input: z.fromJSONSchema(jsonSchema), jsonSchema: json };
  return { input: checkedBy(validate), jsonSchema: json };
}

function checkedBy(validate: (value: unknown) => unknown): StandardSchema {
  return {
    '~standard': {
      version: 1,
      vendor: 'ai-sdk',
      validate(value) {
        const result = validate(value);
        if (result instanceof Promise) return result;
        const { success, value: read, error } = result as Readonly<Record<string, unknown>>;
        if (success === true) return { value: read };
        return { issues: [{ message: error instanceof Error ? error.message : String(error) }] };
      },
    },
  };
}
