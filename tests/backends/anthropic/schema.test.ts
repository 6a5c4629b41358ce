import { describe, expect, test } from 'vitest';
import { boundSchema, canBind } from '../../../src/backends/anthropic/schema.ts';
import type { JsonValue } from '../../../src/contracts/json.ts';
import { ask, message, modelOn, refusal, stub } from './messages-server.ts';

test.each<[string, JsonValue, boolean]>([
  ['closed object', { type: 'object', properties: { a: { type: 'string' } } }, true],
  ['list', { type: 'array', items: { type: 'string' } }, true],
  ['map', { type: 'object', additionalProperties: { type: 'number' } }, false],
  ['map by patterns', { type: 'object', properties: {}, patternProperties: { a: {} } }, false],
  ['any object', { type: 'object' }, false],
  ['empty object', { type: 'object', additionalProperties: false }, true],
  ['map in a list', { type: 'array', items: { type: 'object', additionalProperties: {} } }, false],
  ['map among definitions', { $defs: { m: { type: 'object', additionalProperties: {} } } }, false],
  ['default that looks like a map', { default: { type: 'object' }, type: 'string' }, true],
  ['property of the name of a keyword', { properties: { additionalProperties: {} } }, true],
  ['reference', { $ref: '#/$defs/a', $defs: { a: { type: 'string' } } }, true],
  [
    'reference twice',
    { anyOf: [{ $ref: '#/$defs/a' }, { $ref: '#/$defs/a' }], $defs: { a: {} } },
    true,
  ],
  ['tree', { $ref: '#/$defs/a', $defs: { a: { items: { $ref: '#/$defs/a' } } } }, false],
  ['schema of itself', { properties: { more: { $ref: '#' } } }, false],
  [
    'circle of two',
    { $ref: '#/$defs/a', $defs: { a: { $ref: '#/$defs/b' }, b: { $ref: '#/$defs/a' } } },
    false,
  ],
])('answers can be bound to a %s: %#', (_, schema, expected) => {
  expect(canBind(schema)).toBe(expected);
});

test('many ways to one definition are gone once', () => {
  const $defs = Object.fromEntries(
    Array.from({ length: 60 }, (_, place) => {
      const next = { $ref: `#/$defs/d${place + 1}` };
      return [`d${place}`, { anyOf: [next, next] }];
    }),
  );
  expect(canBind({ $ref: '#/$defs/d0', $defs })).toBe(true);
});

test('what answers cannot be bound to is told in words', async () => {
  const server = stub(message('{"a": 1}'));
  const schema = { type: 'object', additionalProperties: { type: 'number' } };
  const { warnings } = await ask(modelOn(server), { schema });
  expect(server.seen[0]?.body['output_config']).toBeUndefined();
  expect(JSON.stringify(server.seen[0]?.body['messages'])).toContain('satisfies this JSON schema');
  expect(warnings).toEqual([]);
});

test('a schema that turns out to be too much is told in words from then on', async () => {
  const tooMuch = refusal(400, 'Schema is too complex for compilation.', {
    type: 'invalid_request_error',
  });
  const server = stub(tooMuch, message('{"a": "b"}'));
  const schema = { type: 'object', properties: { a: { type: 'string' } } };
  const { warnings } = await ask(modelOn(server), { schema });
  expect(server.seen.map(({ body }) => body['output_config'] !== undefined)).toEqual([true, false]);
  expect(warnings.map(({ about }) => about)).toEqual(['schema']);
});

describe('a schema for the Messages API', () => {
  test('has closed objects, however deep', () => {
    const inner = { type: 'object', properties: { a: { type: 'string' } }, required: ['a'] };
    const closed = { ...inner, additionalProperties: false };
    expect(
      boundSchema({
        $schema: 'https://json-schema.org/draft/2020-12/schema',
        type: 'object',
        properties: { one: inner, many: { type: 'array', items: inner } },
        $defs: { inner },
        additionalProperties: true,
      }),
    ).toEqual({
      type: 'object',
      properties: { one: closed, many: { type: 'array', items: closed } },
      $defs: { inner: closed },
      additionalProperties: false,
    });
  });

  test('tells bounds in the description', () => {
    expect(
      boundSchema({ type: 'number', description: 'A value.', minimum: 0, maximum: 1 }),
    ).toEqual({ type: 'number', description: 'A value. {"minimum":0,"maximum":1}' });
    expect(
      boundSchema({ type: 'array', minItems: 3, items: { type: 'string', minLength: 1 } }),
    ).toEqual({
      type: 'array',
      items: { type: 'string', description: '{"minLength":1}' },
      description: '{"minItems":3}',
    });
  });

  test('keeps what the API takes', () => {
    const kept = {
      anyOf: [{ type: 'null' }, { enum: ['a', 'b'] }, { const: 1 }, { $ref: '#/$defs/x' }],
      title: 'Kept',
    };
    expect(boundSchema(kept)).toEqual(kept);
    const list = { type: 'array', minItems: 1, items: { type: 'string', format: 'date' } };
    expect(boundSchema(list)).toEqual(list);
  });

  test('has another word for oneOf, and no format that the API does not know', () => {
    expect(boundSchema({ oneOf: [{ type: 'string', format: 'phone' }, { type: 'null' }] })).toEqual(
      {
        anyOf: [{ type: 'string', description: '{"format":"phone"}' }, { type: 'null' }],
      },
    );
  });

  test('tells what values other properties may have', () => {
    expect(boundSchema({ type: 'object', additionalProperties: { type: 'number' } })).toEqual({
      type: 'object',
      additionalProperties: false,
      description: '{"additionalProperties":{"type":"number"}}',
    });
  });
});
