import { expect, test } from 'vitest';
import { anthropic, openai } from '../../src/backends/index.ts';
import type { JsonValue } from '../../src/contracts/json.ts';
import { plainContext } from '../../src/testing/index.ts';
import { chat, message, opened, post } from './emulator-support.ts';

/** An object that is closed and requires all it has. */
const closed = (properties: object, rest: object = {}) => ({
  ...{ type: 'object', properties, required: Object.keys(properties) },
  ...{ additionalProperties: false, ...rest },
});
const text = { type: 'string' };
/** Objects within each other, so many levels of properties deep. */
const nested = (levels: number): object =>
  Array.from({ length: levels }).reduce<object>((inner) => closed({ in: inner }), text);
const numbered = (length: number) =>
  Object.fromEntries(Array.from({ length }, (_, place) => [`p${place}`, text]));

const good: readonly (readonly [string, object])[] = [
  ['an optional one as a union', closed({ a: { anyOf: [text, { type: 'null' }] } })],
  ['numbers within bounds', closed({ a: { type: 'number', minimum: 0, maximum: 1 } })],
  ['recursion', closed({ a: { anyOf: [{ $ref: '#' }, { type: 'null' }] } })],
  ['properties with the names of keywords', closed({ allOf: text, not: text })],
  ['ten levels', nested(10)],
  ['5000 properties', closed(numbered(5000))],
  ['1000 values', closed({ a: { enum: Array.from({ length: 1000 }, (_, place) => `${place}`) } })],
];

const bad: readonly (readonly [string, object, string])[] = [
  ['a text at the root', text, `got 'type: "string"'`],
  ['a list at the root', { type: 'array', items: text }, `got 'type: "array"'`],
  ['a union at the root', { anyOf: [closed({})] }, "'anyOf'"],
  ['an open object', { ...closed({}), additionalProperties: true }, "'additionalProperties'"],
  ['an open object within', closed({ a: { type: 'object' } }), "In context=('properties', 'a')"],
  ['an optional property', { ...closed({ a: text, b: text }), required: ['a'] }, "Missing 'b'"],
  ['allOf', closed({ a: { allOf: [text] } }), "'allOf' is not permitted"],
  ['oneOf', closed({ a: { oneOf: [text] } }), "'oneOf' is not permitted"],
  ['not', closed({ a: { not: text } }), "'not' is not permitted"],
  ['if', closed({ a: { if: text } }), "'if' is not permitted"],
  ['patternProperties', closed({}, { patternProperties: { a: text } }), "'patternProperties'"],
  ['propertyNames', closed({}, { propertyNames: text }), "'propertyNames'"],
  ['dependentRequired', closed({}, { dependentRequired: {} }), "'dependentRequired'"],
  ['a look-ahead', closed({ a: { type: 'string', pattern: 'a(?=b)' } }), "'pattern'"],
  ['eleven levels', nested(11), 'levels'],
  ['5001 properties', closed(numbered(5001)), '5001 properties'],
  [
    '1001 values',
    closed({ a: { enum: Array.from({ length: 1001 }, (_, place) => `${place}`) } }),
    '1001 enum values',
  ],
  ['names too long', closed({ a: { enum: ['x'.repeat(120_000)] } }), '120001 characters'],
];

test.each(good)('OpenAI keeps strictly: %s', async (_, schema) => {
  const server = await opened({ dialect: 'openai' });
  const named = { name: 'sum', schema, strict: true };
  const format = { type: 'json_schema', json_schema: named };
  expect((await chat(server, { response_format: format })).status).toBe(200);
});

test.each(bad)('OpenAI refuses to keep strictly: %s', async (_, schema, part) => {
  const server = await opened({ dialect: 'openai' });
  const named = { name: 'sum', schema, strict: true };
  const format = { type: 'json_schema', json_schema: named };
  const refused = await chat(server, { response_format: format });
  expect(refused).toMatchObject({ status: 400, body: { error: { param: 'response_format' } } });
  expect(refused.text).toContain(JSON.stringify(part).slice(1, -1));
  const loose = { ...format, json_schema: { ...named, strict: false } };
  expect((await chat(server, { response_format: loose })).status).toBe(200);
  const responses = (body: object) =>
    post(server, '/v1/responses', { body: { model: 'emulated', input: 'Hi', ...body } });
  const strict = { type: 'json_schema', ...named };
  expect(await responses({ text: { format: strict } })).toMatchObject({
    status: 400,
    body: { error: { param: 'text.format.schema', code: 'invalid_json_schema' } },
  });
  const tool = { name: 'add', parameters: schema, strict: true };
  expect(await responses({ tools: [{ type: 'function', ...tool }] })).toMatchObject({
    status: 400,
    body: { error: { param: 'tools[0].parameters', code: 'invalid_function_parameters' } },
  });
  expect(await chat(server, { tools: [{ type: 'function', function: tool }] })).toMatchObject({
    status: 400,
    body: { error: { param: 'tools[0].function.parameters' } },
  });
  expect(server.account.completionsServed).toBe(1);
});

const optional = (length: number) => ({ ...closed(numbered(length)), required: [] });
const unions = (length: number) =>
  closed(
    Object.fromEntries(Object.keys(numbered(length)).map((name) => [name, { anyOf: [text] }])),
  );

test.each([
  ['24 optional properties', optional(24)],
  ['16 unions', unions(16)],
  ['one item at least', closed({ a: { type: 'array', items: text, minItems: 1 } })],
  [
    'a definition used twice',
    closed({ a: { $ref: '#/$defs/a' }, b: { $ref: '#/$defs/a' } }, { $defs: { a: text } }),
  ],
  ['a property called minimum', closed({ minimum: text })],
])('Anthropic binds answers to %s', async (_, schema) => {
  const server = await opened({ dialect: 'anthropic' });
  const format = { type: 'json_schema', schema };
  expect((await message(server, { output_config: { format } })).status).toBe(200);
});

test.each([
  ['recursion', closed({ a: { $ref: '#' } }), 'Recursive'],
  [
    'recursion by way of others',
    closed(
      { a: { $ref: '#/$defs/b' } },
      {
        $defs: {
          b: closed({ c: { $ref: '#/$defs/c' } }),
          c: { type: 'array', items: { $ref: '#/$defs/b' } },
        },
      },
    ),
    'Recursive',
  ],
  ['minimum', closed({ a: { type: 'number', minimum: 0 } }), "'number' type, properties minimum"],
  ['multipleOf', closed({ a: { type: 'integer', multipleOf: 2 } }), 'multipleOf'],
  ['maxLength', closed({ a: { type: 'string', maxLength: 2 } }), 'maxLength'],
  ['maxItems', closed({ a: { type: 'array', maxItems: 2 } }), 'maxItems'],
  ['two items at least', closed({ a: { type: 'array', minItems: 2 } }), 'minItems'],
  ['25 optional properties', optional(25), 'too complex'],
  ['17 unions', unions(17), 'too complex'],
])('Anthropic refuses to bind answers to %s', async (_, schema, part) => {
  const server = await opened({ dialect: 'anthropic' });
  const format = { type: 'json_schema', schema };
  const refused = await message(server, { output_config: { format } });
  expect(refused.status).toBe(400);
  expect(refused.text).toContain(part);
  const tool = { name: 'add', input_schema: schema };
  expect((await message(server, { tools: [{ ...tool, strict: true }] })).status).toBe(400);
  expect((await message(server, { tools: [tool] })).status).toBe(200);
});

test('Anthropic takes at most 20 strict tools', async () => {
  const server = await opened({ dialect: 'anthropic' });
  const tools = (length: number) =>
    Array.from({ length }, (_, place) => ({
      ...{ name: `t${place}`, input_schema: closed({}), strict: true },
    }));
  expect((await message(server, { tools: tools(20) })).status).toBe(200);
  expect((await message(server, { tools: tools(21) })).status).toBe(400);
});

// No model of ours may be refused for its schema: what cannot be kept strictly is asked for loosely.
const schemas = [...good, ...bad].map(([name, schema]) => [name, schema as JsonValue] as const);

test.each(schemas)('OpenAI refuses our models nothing: %s', async (_, schema) => {
  const server = await opened({ dialect: 'openai' });
  const at = { model: 'emulated', apiKey: 'key', retry: false } as const;
  const model = openai({ ...at, baseUrl: `${server.url}/v1` });
  const messages = [{ role: 'user', content: 'Hi' }] as const;
  await plainContext().generate(model, { messages, schema });
  await plainContext().generate(model, { messages, tools: [{ name: 'add', input: schema }] });
  expect(server.account).toMatchObject({ requests: 2, rejected: 0 });
});

test.each(good)('our models ask OpenAI to keep strictly: %s', async (_, schema) => {
  const server = await opened({ dialect: 'openai' });
  const at = { model: 'emulated', apiKey: 'key', retry: false } as const;
  const messages = [{ role: 'user', content: 'Hi' }] as const;
  const model = openai({ ...at, baseUrl: `${server.url}/v1` });
  await plainContext().generate(model, { messages, schema: schema as JsonValue });
  expect(server.requests[0]?.body).toMatchObject({ text: { format: { strict: true } } });
});

test.each(schemas)('Anthropic refuses our models nothing: %s', async (_, schema) => {
  const server = await opened({ dialect: 'anthropic', models: ['claude-sonnet-5-5'] });
  const at = { model: 'claude-sonnet-5-5', apiKey: 'key', retry: false } as const;
  const model = anthropic({ ...at, baseUrl: server.url });
  const messages = [{ role: 'user', content: 'Hi' }] as const;
  await plainContext().generate(model, { messages, schema });
  await plainContext().generate(model, { messages, tools: [{ name: 'add', input: schema }] });
  expect(server.account).toMatchObject({ requests: 2, rejected: 0 });
});
