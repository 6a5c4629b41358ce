import { canonicalJson } from '../../base/canonical-json.ts';
import { expectation, expectObject } from '../../base/expect.ts';
import { isPlainObject } from '../../base/json.ts';
import {
  type Checked,
  checkBy,
  expectSchema,
  jsonSchemaOf,
  type StandardSchema,
} from '../../base/standard-schema.ts';
import type { JsonValue } from '../../contracts/json.ts';
import type { ToolDefinition } from '../../contracts/language-model.ts';
import type { AnyCall, InvalidCall } from './state.ts';
import { type Asked, type DeclaredTool, declared, type Tool } from './tool.ts';

/** A call after parsing. */
export type Understood = Asked | { readonly answer: JsonValue } | { readonly invalid: InvalidCall };

/** The tools of an environment, and its answer. */
export interface Toolbox {
  readonly tools: ReadonlyMap<string, DeclaredTool>;
  readonly definitions: readonly ToolDefinition[];
  /** Parses a call. */
  understand(call: AnyCall): Understood;
  /** A parsed call in its canonical form. */
  action(understood: Understood): AnyCall;
  /** A call from a model's response. */
  fromWire(name: string, input: JsonValue): AnyCall;
  /** A call in the form that models use: its input is an object. */
  toWire(call: AnyCall): { readonly name: string; readonly input: JsonValue };
}

/** The longest input of an invalid call that is kept, in characters of JSON. */
const longestKept = 10_000;

/** How deep an input may be nested. */
const deepest = 100;

export function toolbox(tools: Readonly<Record<string, Tool>>, answer?: StandardSchema): Toolbox {
  expectObject('tools', tools);
  const named = new Map<string, DeclaredTool>();
  for (const [name, tool] of Object.entries(tools)) {
    if (name === 'answer' || name === 'invalid') {
      throw expectation('tools', `no tool named \`${name}\`, which is reserved`, tools);
    }
    named.set(name, declared(name, tool));
  }
  const end = answerOf(answer);
  const definitions = [...[...named.values()].map(({ definition }) => definition), end.definition];

  function understand(call: AnyCall): Understood {
    if (!isCall(call)) return invalid('', null, 'Expected a call with `tool` and `input`.');
    const { tool: name, input } = call;
    if (name === 'invalid') {
      const { tool = '', input: given = null, problem } = input as unknown as Partial<InvalidCall>;
      return invalid(String(tool), given, String(problem));
    }
    const tool = named.get(name);
    if (name !== 'answer' && tool === undefined) {
      const names = definitions.map((definition) => definition.name).join(', ');
      return invalid(name, input, `There is no such tool. There are: ${names}.`);
    }
    if (!isShallow(input)) {
      return invalid(name, null, `Its input is nested deeper than ${deepest} levels.`);
    }
    const checked = tool === undefined ? end.check(input) : tool.check(input);
    if ('problem' in checked) {
      return invalid(name, input, `Its input is invalid. ${checked.problem}`);
    }
    return tool === undefined ? { answer: checked.input } : { tool, ...checked };
  }

  return {
    tools: named,
    definitions,
    understand,
    action(understood) {
      if ('tool' in understood) return { tool: understood.tool.name, input: understood.input };
      if ('answer' in understood) return { tool: 'answer', input: understood.answer };
      return { tool: 'invalid', input: { ...understood.invalid } };
    },
    fromWire(name, input) {
      if (name === 'answer') return { tool: name, input: end.unwrap(input) };
      if (name !== 'invalid') return { tool: name, input };
      return { tool: name, input: { tool: name, input, problem: 'There is no such tool.' } };
    },
    toWire({ tool, input }) {
      if (tool === 'answer') return { name: tool, input: end.wrap(input) };
      if (tool !== 'invalid') return { name: tool, input };
      const { tool: name, input: given } = input as unknown as InvalidCall;
      return { name, input: given };
    },
  };
}

function isCall(call: unknown): call is AnyCall {
  if (!isPlainObject(call) || typeof call['tool'] !== 'string') return false;
  return call['tool'] !== 'invalid' || isPlainObject(call['input']);
}

function invalid(tool: string, input: unknown, problem: string): Understood {
  return { invalid: { tool: tool.slice(0, 200), input: kept(input), problem } };
}

/** A more deeply nested value could not be put into messages, which are validated as a whole. */
function isShallow(value: unknown, left: number = deepest): boolean {
  if (typeof value !== 'object' || value === null) return true;
  return left > 0 && Object.values(value).every((part) => isShallow(part, left - 1));
}

function kept(input: unknown): JsonValue {
  try {
    const text = canonicalJson('input', input);
    return text.length > longestKept ? null : (JSON.parse(text) as JsonValue);
  } catch {
    return null;
  }
}

interface Answering {
  readonly definition: ToolDefinition;
  check(value: JsonValue): Checked;
  wrap(value: JsonValue): JsonValue;
  unwrap(input: JsonValue): JsonValue;
}

/** The answer as a tool. An answer that is not an object is wrapped in one, since tools only accept objects. */
function answerOf(schema: StandardSchema | undefined): Answering {
  if (schema !== undefined) expectSchema('answer', schema);
  const told = schema === undefined ? { type: 'string' } : jsonSchemaOf('answer', schema);
  const isObject = isPlainObject(told) && told['type'] === 'object';
  const wrapped: JsonValue = {
    ...{ type: 'object', properties: { answer: told }, required: ['answer'] },
    additionalProperties: false,
  };
  return {
    definition: {
      name: 'answer',
      description: 'Ends the task with the answer.',
      input: isObject ? told : wrapped,
    },
    check: (value) => (schema === undefined ? checkText(value) : checkAnswer(schema, value)),
    wrap: (value) => (isObject ? value : { answer: value }),
    unwrap(input) {
      const isWrapped = !isObject && isPlainObject(input) && Object.hasOwn(input, 'answer');
      return isWrapped ? (input['answer'] as JsonValue) : input;
    },
  };
}

function checkText(value: JsonValue): Checked {
  if (typeof value === 'string') return { input: value, parsed: value };
  return { problem: 'Expected `answer` to be a text.' };
}

/** Checks an answer: the value that its schema parsed, which must parse to itself. */
function checkAnswer(schema: StandardSchema, value: JsonValue): Checked {
  const checked = checkBy(schema, value);
  if ('problem' in checked || canonicalOf(checked.parsed) === canonicalOf(checked.input)) {
    return checked;
  }
  throw expectation(
    'answer',
    'a schema that does not change the values that it has parsed',
    schema,
  );
}

function canonicalOf(value: unknown): string | undefined {
  try {
    return canonicalJson('answer', value);
  } catch {
    return undefined;
  }
}
