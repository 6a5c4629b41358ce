import { describe, expect, test } from 'vitest';
import { boundSchema, canBind } from '../../../src/backends/anthropic/schema.ts';
import type { JsonValue } from '../../../src/contracts/json.ts';
import { ask, message, modelOn, refusal, stub } from './messages-server.ts';

/** A schema in an object: the outermost one has to be of objects. */
function within(part: JsonValue): JsonValue {
  const { $defs, ...rest } = part as { readonly $defs?: JsonValue };
  const properties = { part: rest };
  return { type: 'object', properties, ...($defs !== undefined && { $defs }) };
}

function optional(count: number): JsonValue {
  const names = Array.from({ length: count }, (_, place) => [`p${place}`, { type: 'string' }]);
  return { type: 'object', properties: { a: {}, ...Object.fromEntries(names) }, required: ['a'] };
}

function unions(count: number): JsonValue {
  const union = { anyOf: [{ type: 'string' }, { type: 'null' }] };
  const half = Math.floor(count / 2);
  const types = Array.from({ length: count - half }, () => ({ type: ['string', 'null'] }));
  const all = [...types, ...Array.from({ length: half }, () => union)];
  const properties = Object.fromEntries(all.map((part, place) => [`p${place}`, part] as const));
  return { type: 'object', properties, required: Object.keys(properties) };
}

test.each<[string, JsonValue, boolean]>([
  ['list', { type: 'array', items: { type: 'string' } }, false],
  ['text', { type: 'string' }, false],
  ['union', { anyOf: [{ type: 'object', properties: {} }, { type: 'null' }] }, false],
  ['object or nothing', { type: ['object', 'null'], properties: {} }, false],
  ['object of 24 that may be left out', optional(24), true],
  ['object of 25 that may be left out', optional(25), false],
  ['object of 16 unions', unions(16), true],
  ['object of 17 unions', unions(17), false],
  ['closed object', { type: 'object', properties: { a: { type: 'string' } } }, true],
  ['list within', within({ type: 'array', items: { type: 'string' } }), true],
  ['map', { type: 'object', additionalProperties: { type: 'number' } }, false],
  ['map by patterns', { type: 'object', properties: {}, patternProperties: { a: {} } }, false],
  ['any object', { type: 'object' }, false],
  ['property that may be any object', within({ type: ['object', 'null'] }), false],
  [
    'tree behind a name with a slash',
    within({ $ref: '#/$defs/a~1b', $defs: { 'a/b': { items: { $ref: '#/$defs/a~1b' } } } }),
    false,
  ],
  ['empty object', { type: 'object', additionalProperties: false }, true],
  ['map in a list', within({ items: { type: 'object', additionalProperties: {} } }), false],
  [
    'map of definitions',
    within({ $defs: { m: { type: 'object', additionalProperties: {} } } }),
    false,
  ],
  ['default that looks like a map', within({ default: { type: 'object' }, type: 'string' }), true],
  ['property of a keyword', { type: 'object', properties: { additionalProperties: {} } }, true],
  ['reference', within({ $ref: '#/$defs/a', $defs: { a: { type: 'string' } } }), true],
  [
    'reference twice',
    within({ anyOf: [{ $ref: '#/$defs/a' }, { $ref: '#/$defs/a' }], $defs: { a: {} } }),
    true,
  ],
  ['tree', within({ $ref: '#/$defs/a', $defs: { a: { items: { $ref: '#/$defs/a' } } } }), false],
  ['schema of itself', { type: 'object', properties: { more: { $ref: '#' } } }, false],
  [
    'circle of two',
    within({ $ref: '#/$defs/a', $defs: { a: { $ref: '#/$defs/b' }, b: { $ref: '#/$defs/a' } } }),
    false,
  ],
])('answers can be bound to a %s: %#', (_, schema, expected) => {
  expect(canBind(schema)).toBe(expected);
});

test('many ways to one definition are gone once', () => {
  const next = (place: number) => ({ $ref: `#/$defs/d${place + 1}` });
  const pair = (place: number) => ({
    ...{ type: 'object', properties: { a: next(place), b: next(place) }, required: ['a', 'b'] },
  });
  const $defs = Object.fromEntries(
    Array.from({ length: 60 }, (_, place) => [`d${place}`, pair(place)] as const),
  );
  expect(canBind(within({ $ref: '#/$defs/d0', $defs }))).toBe(true);
});

test('what answers cannot be bound to is told in words', async () => {
  const server = stub(message('{"a": 1}'));
  const schema = { type: 'object', additionalProperties: { type: 'number' } };
  const { warnings } = await ask(modelOn(server), { schema });
  expect(server.seen[0]?.body['output_config']).toBeUndefined();
  expect(JSON.stringify(server.seen[0]?.body['messages'])).toContain('satisfies this JSON schema');
  expect(warnings).toEqual([
    {
      model: 'anthropic:claude-sonnet-5-5',
      about: 'schema',
      message:
        'anthropic:claude-sonnet-5-5 cannot be constrained to a schema like this one: it is requested in words, and may not be followed.',
    },
  ]);
});

test.each([
  'Schema is too complex for compilation.',
  'The compiled grammar is too large.',
  'output_config.format.schema: Invalid schema: Schema type is missing for schema',
  "output_config.format.schema: For 'number' type, property 'multipleOf' is not supported",
])('a schema that is refused (%s) is told in words from then on', async (said) => {
  const tooMuch = refusal(400, said, {
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
