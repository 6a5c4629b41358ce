import { describe, expect, test } from 'vitest';
import { grammarSchema } from '../../../src/backends/llama/schema.ts';
import type { JsonValue } from '../../../src/index.ts';

const anything = {
  oneOf: [
    { type: ['string', 'number', 'boolean', 'null'] },
    { type: 'object', additionalProperties: true },
    { type: 'array' },
  ],
};

const known: readonly (readonly [string, JsonValue, JsonValue])[] = [
  ['a string', { type: 'string', minLength: 1, maxLength: 9 }, 'same'],
  ['a date', { type: 'string', format: 'date' }, 'same'],
  ['a number', { type: 'number', description: 'how many' }, { type: 'number' }],
  [
    'an integer as zod writes it',
    { type: 'integer', minimum: -9007199254740991, maximum: 9007199254740991 },
    { type: 'integer' },
  ],
  ['a constant', { const: 'yes', title: 'Agreed' }, { const: 'yes' }],
  ['a choice', { type: 'string', enum: ['a', 'b', null] }, { enum: ['a', 'b', null] }],
  [
    'an object',
    {
      $schema: 'https://json-schema.org/draft/2020-12/schema',
      type: 'object',
      properties: { a: { type: 'boolean' } },
      required: ['a'],
      additionalProperties: false,
    },
    { type: 'object', properties: { a: { type: 'boolean' } } },
  ],
  ['any object', { type: 'object' }, { type: 'object', additionalProperties: true }],
  [
    'an object of numbers',
    { type: 'object', additionalProperties: { type: 'number' } },
    { type: 'object', additionalProperties: { type: 'number' } },
  ],
  [
    'an empty object',
    { type: 'object', additionalProperties: false },
    { type: 'object', additionalProperties: false },
  ],
  [
    'a list',
    { type: 'array', items: { type: 'null' }, minItems: 1, maxItems: 2 },
    { type: 'array', minItems: 1, maxItems: 2, items: { type: 'null' } },
  ],
  [
    'a tuple',
    { type: 'array', prefixItems: [{ type: 'null' }, { type: 'string' }], items: false },
    { type: 'array', prefixItems: [{ type: 'null' }, { type: 'string' }], maxItems: 2 },
  ],
  [
    'one or the other',
    { anyOf: [{ type: 'null' }, { type: 'string' }] },
    { oneOf: [{ type: 'null' }, { type: 'string' }] },
  ],
  [
    'several types',
    { type: ['object', 'null'], properties: { a: { type: 'null' } } },
    { oneOf: [{ type: 'object', properties: { a: { type: 'null' } } }, { type: 'null' }] },
  ],
  ['all of one', { allOf: [{ type: 'null' }] }, { type: 'null' }],
  [
    'properties without a type',
    { properties: { a: true } },
    { type: 'object', properties: { a: anything } },
  ],
  ['anything', {}, anything],
  ['anything, by true', true, anything],
  [
    'a definition',
    {
      $ref: '#/definitions/a',
      definitions: { a: { type: 'array', items: { $ref: '#/definitions/a' } } },
    },
    {
      oneOf: [{ $ref: '#/$defs/a' }],
      $defs: { a: { type: 'array', items: { $ref: '#/$defs/a' } } },
    },
  ],
];

test.each(known)('translates %s', (_, schema, expected) => {
  expect(grammarSchema(schema)).toEqual({
    schema: expected === 'same' ? schema : expected,
    unbound: [],
  });
});

describe('what a grammar does not hold a text to', () => {
  test.each<[JsonValue, string]>([
    [{ type: 'integer', minimum: 0 }, 'minimum'],
    [{ type: 'number', multipleOf: 2 }, 'multipleOf'],
    [{ type: 'string', pattern: '^a' }, 'pattern'],
    [{ type: 'string', format: 'email' }, 'format'],
    [{ type: 'array', uniqueItems: true }, 'uniqueItems'],
    [{ type: 'object', properties: { a: { type: 'null' } }, required: ['b'] }, 'required'],
    [{ type: 'object', properties: { a: { type: 'string', pattern: 'x' } } }, 'pattern'],
  ])('%j is told: %s', (schema, word) => {
    expect(grammarSchema(schema).unbound).toEqual([word]);
  });
});

describe('what no grammar can be made from', () => {
  test.each<[JsonValue, string]>([
    [false, '`false` as a part'],
    [{ allOf: [{ type: 'null' }, { type: 'string' }] }, 'no `type` (allOf)'],
    [{ type: 'string', if: {} }, '`if`'],
    [{ type: 'frog' }, 'the type `frog`'],
    [{ enum: [[1]] }, 'a `enum` that is not a single value'],
    [{ const: { a: 1 } }, 'a `const` that is not a single value'],
    [{ $ref: 'https://example.org/schema' }, 'a `$ref` to `https://example.org/schema`'],
    [{ type: 'object', properties: { a: { minimum: 1 } } }, 'no `type` (minimum)'],
  ])('%j is refused', (schema, what) => {
    expect(() => grammarSchema(schema)).toThrow(
      `No grammar can be made from a schema with ${what}: write it with \`type\`, \`properties\`, \`items\`, \`enum\` and \`anyOf\`.`,
    );
  });

  test('is a capability that the model lacks', () => {
    let thrown: unknown;
    try {
      grammarSchema(false);
    } catch (error) {
      thrown = error;
    }
    expect(thrown).toMatchObject({ kind: 'capability', parameter: 'schema', retryable: false });
  });
});
