import {
  expectation,
  expectFunction,
  expectInteger,
  expectObject,
  expectOneOf,
  refusalOf,
} from '../../base/expect.ts';
import { expectOptions } from '../../base/expect-options.ts';
import { isThenable } from '../../base/is-thenable.ts';
import { isPlainObject } from '../../base/json.ts';
import {
  type Checked,
  checkBy,
  expectSchema,
  jsonSchemaOf,
  type StandardSchema,
} from '../../base/standard-schema.ts';
import type { JsonValue, MaybePromise } from '../../contracts/json.ts';
import type { LanguageModel, ToolDefinition } from '../../contracts/language-model.ts';
import type { ActCall } from '../../contracts/world.ts';

/**
 * The effect of a tool on the world.
 *
 * - `pure`: only returns a new state. Equal calls in equal states are made once.
 * - `read`: reads the outside world. Equal calls are made once until something there changes.
 * - `reversible`: makes changes that can be undone.
 * - `irreversible`: makes permanent changes. A search never runs it; only `commit` does.
 */
export type Effect = 'pure' | 'read' | 'reversible' | 'irreversible';

declare const inputOf: unique symbol;
declare const parsedOf: unique symbol;

/** A declared tool. */
export interface Tool<Input = any, Parsed = any> {
  /** Its effect on the world. */
  readonly effect: Effect;
  /** Additional hints, such as those of a server. */
  readonly hints?: Readonly<Record<string, JsonValue>>;
  /** Its input type, for the compiler only. */
  readonly [inputOf]?: Input;
  /** Its parsed input type, for the compiler only. */
  readonly [parsedOf]?: Parsed;
}

declare const listed: unique symbol;

/**
 * Tools whose names are known only at run time, such as those of an MCP server. Spread next to declared tools, they are
 * part of an environment's types.
 */
export type ListedTools<Prefix extends string = ''> = Readonly<Record<string, Tool>> & {
  /** The prefix of their names, for the compiler only. */
  readonly [listed]?: Prefix;
};

/** Whether some tools are listed ones. For `any` this is unknown. */
type IsListed<Tools> = symbol extends keyof Tools
  ? false
  : typeof listed extends keyof Tools
    ? true
    : false;

/** The prefixes of listed tools. */
type PrefixOf<Tools> = Extract<Tools[typeof listed & keyof Tools], string>;

/**
 * The name of a listed tool. Without a prefix it is distinguished from declared ones by a brand, since it could equal
 * any of them; if nothing is declared, it is a plain string.
 */
type ListedName<Tools> = string extends `${PrefixOf<Tools>}${string}`
  ? string extends keyof Tools
    ? string
    : // As a pattern: an intersection alone keeps the compiler from telling any calls apart.
      `${string & { readonly [listed]: true }}`
  : `${PrefixOf<Tools>}${string}`;

/** A call of a listed tool. */
export type ListedCall<Tools> =
  IsListed<Tools> extends true
    ? {
        /** The tool. */
        readonly tool: ListedName<Tools>;
        /** Its input. */
        readonly input: Readonly<Record<string, JsonValue>>;
        /** The further calls of the same turn, in order. */
        readonly also?: readonly {
          /** The tool. */
          readonly tool: string;
          /** Its input. */
          readonly input: JsonValue;
        }[];
      }
    : never;

/** The names of tools that were declared. */
export type DeclaredName<Tools> = keyof {
  [Name in keyof Tools as string extends Name
    ? IsListed<Tools> extends true
      ? never
      : Name
    : Name]: Name;
} &
  string;

/** The declaration of a tool. */
export type ToolSpec<Db, Input, Parsed> = {
  /** What it does, for the model. */
  readonly description?: string;
  /** The schema of its input, an object; it must validate synchronously. */
  readonly input: StandardSchema<Input, Parsed>;
  /** The JSON schema of its input. @defaultValue converted from `input`, if its library supports it */
  readonly jsonSchema?: JsonValue;
  /** The timeout, in milliseconds. @defaultValue 30 000 */
  readonly timeoutMs?: number;
  /**
   * The maximum characters of its output shown to a model; `undo` and commits get the full output. @defaultValue 8 000
   */
  readonly maxOutput?: number;
  /** Additional hints, for information only. */
  readonly hints?: Readonly<Record<string, JsonValue>>;
} & (
  | {
      /** Only returns a new state. */
      readonly effect: 'pure';
      /** Runs the tool. Its state is frozen: return a new state, or none to keep it. */
      readonly run: (
        db: Db,
        input: Parsed,
        call: ActCall,
      ) => MaybePromise<{
        /** The state after it. @defaultValue unchanged */
        readonly state?: Db;
        /** The output shown to the model. @defaultValue none */
        readonly output?: unknown;
      }>;
    }
  | {
      /** Reads the outside world without changing it. */
      readonly effect: 'read';
      /** Runs the tool, and returns its output. */
      readonly run: (db: Db, input: Parsed, call: ActCall) => unknown;
    }
  | {
      /** Makes changes that can be undone. */
      readonly effect: 'reversible';
      /** Runs the tool, and returns its output. */
      readonly run: (db: Db, input: Parsed, call: ActCall) => unknown;
      /** Looks up what `undo` will need, such as an old price. The result is recorded before the run. */
      readonly remember?: (db: Db, input: Parsed, call: ActCall) => MaybePromise<JsonValue>;
      /**
       * Undoes the call; must do nothing if it never happened. A run interrupted by a kill has no output. Its arguments
       * are frozen, since it may be called again. Optional in a workspace, which is restored as a unit.
       */
      readonly undo?: (
        db: Db,
        input: Parsed,
        known: { readonly remembered?: JsonValue; readonly output?: JsonValue },
        call: ActCall,
      ) => unknown;
    }
  | {
      /** Makes permanent changes. */
      readonly effect: 'irreversible';
      /** Runs the tool. Called only by a commit. */
      readonly run: (db: Db, input: Parsed, call: ActCall) => unknown;
      /**
       * Predicts the result: by a rule, by asking a person, or by a model that sees the tool and the conversation.
       *
       * @defaultValue unknown: a later `read` ends the branch
       */
      readonly predict?:
        | ((
            db: Db,
            input: Parsed,
          ) => MaybePromise<{
            /** The state after it. @defaultValue unchanged */
            readonly state?: Db;
            /** The predicted output; `null` is no output. @defaultValue unknown */
            readonly output?: unknown;
          }>)
        | {
            /** The predicting model. */
            readonly model: LanguageModel;
          };
    }
);

/** A tool with its name, as the environment uses it. */
export interface DeclaredTool {
  readonly name: string;
  readonly definition: ToolDefinition;
  readonly effect: Effect;
  readonly timeoutMs: number;
  readonly maxOutput: number;
  /** Parses an input, and gives it its canonical form. */
  check(input: JsonValue): Checked;
  readonly run: (db: unknown, parsed: unknown, call: ActCall) => unknown;
  readonly remember?:
    | ((db: unknown, parsed: unknown, call: ActCall) => MaybePromise<JsonValue>)
    | undefined;
  readonly undo?:
    | ((db: unknown, parsed: unknown, known: KnownOfRun, call: ActCall) => unknown)
    | undefined;
  readonly predict?:
    | ((db: unknown, parsed: unknown) => unknown)
    | { readonly model: LanguageModel }
    | undefined;
}

/** A requested call with its parsed input. */
export interface Asked {
  readonly tool: DeclaredTool;
  readonly input: JsonValue;
  readonly parsed: unknown;
}

/**
 * An input parsed once more. The parsed value may be anything, such as a date, and cannot be frozen: each function of a
 * user gets its own, so that none changes that of another.
 */
export function readAnew({ check }: DeclaredTool, input: JsonValue): unknown {
  const checked = check(input);
  return 'parsed' in checked ? checked.parsed : input;
}

/** The recorded information on a run that is to be undone. */
export interface KnownOfRun {
  readonly remembered?: JsonValue;
  readonly output?: JsonValue;
}

/** The contents of a tool that its type does not show. */
interface MadeTool extends Tool {
  readonly spec: ToolSpec<unknown, unknown, unknown>;
  /** It belongs to another SDK, whose tools return whatever they like. */
  readonly isForeign: boolean;
}

const common = 'description input jsonSchema timeoutMs maxOutput hints effect run';
const known: Readonly<Record<Effect, string>> = {
  pure: common,
  read: common,
  reversible: `${common} remember undo`,
  irreversible: `${common} predict`,
};

/** Declares a tool. */
export function makeTool<Db, Input, Parsed>(
  spec: ToolSpec<Db, Input, Parsed>,
  isForeign = false,
): Tool<Input, Parsed> {
  expectObject('tool', spec);
  const { effect, hints } = spec;
  return { effect, ...(hints !== undefined && { hints }), spec, isForeign } as MadeTool;
}

/**
 * A tool with its name.
 *
 * @throws EspalierError `usage` for a name that models cannot call, and for an input that is not an object.
 */
export function declared(name: string, tool: Tool): DeclaredTool {
  const { spec, isForeign } = (tool as Partial<MadeTool> | undefined) ?? {};
  if (spec === undefined) throw expectation(`tools.${name}`, 'made by `tool`', tool);
  expectSpec(`tools.${name}`, spec);
  const { description, input, jsonSchema, effect, timeoutMs = 30_000, maxOutput = 8_000 } = spec;
  const definition: ToolDefinition = {
    name,
    ...(description !== undefined && { description }),
    input: jsonSchema ?? jsonSchemaOf(`input of ${name}`, input),
  };
  expectDefinition(definition);
  return {
    ...{ name, definition, effect, timeoutMs, maxOutput },
    check: (value) => checkBy(input, value),
    run: isForeign || effect === 'pure' || effect === 'irreversible' ? spec.run : bare(spec.run),
    ...(spec.effect === 'reversible' && { remember: spec.remember, undo: spec.undo }),
    ...(spec.effect === 'irreversible' && { predict: spec.predict }),
  };
}

/** What a tool does that returns only an output: a state would be lost. */
function bare(run: DeclaredTool['run']): DeclaredTool['run'] {
  const expectBare = (value: unknown) => {
    if (!isResult(value)) return value;
    throw new Error(
      'Only `pure` tools return a state: return the output itself, without `{ state, output }` around it.',
    );
  };
  return (...given) => {
    const value = run(...given);
    return isThenable(value) ? Promise.resolve(value).then(expectBare) : expectBare(value);
  };
}

/** Whether a value has the form that a `pure` tool and `predict` return. */
export function isResult(value: unknown): boolean {
  if (!isPlainObject(value)) return false;
  const names = Object.keys(value);
  return names.length > 0 && names.every((name) => name === 'state' || name === 'output');
}

/** Throws unless a tool is declared completely. Its name is only known here. */
function expectSpec(name: string, spec: ToolSpec<unknown, unknown, unknown>): void {
  const { effect, input, run, timeoutMs, maxOutput } = spec;
  expectOneOf(`${name}.effect`, effect, Object.keys(known));
  expectOptions(`${name} with the effect ${effect}`, spec, known[effect]);
  expectSchema(`${name}.input`, input);
  expectFunction(`${name}.run`, run);
  if (timeoutMs !== undefined) expectInteger(`${name}.timeoutMs`, timeoutMs, { min: 1 });
  if (maxOutput !== undefined) expectInteger(`${name}.maxOutput`, maxOutput, { min: 1 });
}

function expectDefinition({ name, input }: ToolDefinition): void {
  if (!/^[\w-]{1,64}$/.test(name) || name === '__proto__') {
    throw expectation('the name of a tool', 'letters, digits, `_` and `-`, at most 64', name);
  }
  if (!isPlainObject(input) || input['type'] !== 'object') {
    const type = isPlainObject(input) ? input['type'] : undefined;
    if (type === undefined) throw expectation(`input of ${name}`, 'the schema of an object', input);
    const message = `Expected \`input of ${name}\` to be the schema of an object, such as \`z.object({ … })\`, got one with the type ${JSON.stringify(type)}.`;
    throw refusalOf(input, message);
  }
}
