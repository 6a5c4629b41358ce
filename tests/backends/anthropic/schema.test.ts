import { describe, expect, test } from 'vitest';
import { boundSchema } from '../../../src/backends/anthropic/schema.ts';

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
