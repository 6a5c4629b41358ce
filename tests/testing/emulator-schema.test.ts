import { expect, test } from 'vitest';
import { chat, opened, textOf } from './emulator-support.ts';

/** Sixty answers to a schema. */
async function answers(schema: object): Promise<readonly unknown[]> {
  const server = await opened({ dialect: 'vllm' });
  const reply = await chat(server, {
    n: 60,
    response_format: { type: 'json_schema', json_schema: { name: 'a', schema } },
  });
  const { choices } = reply.body as { choices: { message: { content: string } }[] };
  return choices.map(({ message }): unknown => JSON.parse(message.content));
}

test.each([
  [{ const: [1, 'a'] }, [1, 'a'] as unknown],
  [{ type: 'null' }, null],
  [{ type: 'object', properties: {} }, {}],
  [
    { type: 'object', properties: { a: { const: 1 }, b: { const: 2 } } },
    { a: 1, b: 2 },
  ],
  [{ $ref: '#/$defs/one', $defs: { one: { const: 1 } } }, 1],
  [{ type: 'array', items: { const: 1 }, minItems: 2, maxItems: 2 }, [1, 1]],
  [{ anyOf: [{ const: 5 }] }, 5],
  [{ type: ['null', 'object'], properties: { a: { const: 1 } } }, { a: 1 }],
])('%j has one answer', async (schema, value) => {
  expect(new Set((await answers(schema)).map((answer) => JSON.stringify(answer)))).toEqual(
    new Set([JSON.stringify(value)]),
  );
});

test('takes every option of an enumeration, and both truths', async () => {
  expect(new Set(await answers({ enum: ['a', 'b', 'c'] }))).toEqual(new Set(['a', 'b', 'c']));
  expect(new Set(await answers({ type: 'boolean' }))).toEqual(new Set([true, false]));
  expect(new Set(await answers({ oneOf: [{ const: 1 }, { const: 2 }] }))).toEqual(new Set([1, 2]));
});

test('keeps integers within their bounds, the bounds included', async () => {
  expect(new Set(await answers({ type: 'integer', minimum: 3, maximum: 5 }))).toEqual(
    new Set([3, 4, 5]),
  );
  const open = { type: 'integer', exclusiveMinimum: 3, exclusiveMaximum: 6 };
  expect(new Set(await answers(open))).toEqual(new Set([4, 5]));
  for (const value of await answers({ type: 'integer' })) expect(value).toSatisfy(Number.isInteger);
});

test('keeps numbers within their bounds', async () => {
  for (const value of await answers({ type: 'number', minimum: -2, maximum: -1 })) {
    expect(Number(value) >= -2 && Number(value) <= -1).toBe(true);
  }
  for (const value of await answers({ type: 'number', minimum: 7, maximum: 7 })) {
    expect(value).toBe(7);
  }
  for (const value of await answers({ type: 'number', exclusiveMaximum: 0 })) {
    expect(Number(value) < 0).toBe(true);
  }
});

test('keeps texts and arrays to their lengths', async () => {
  for (const value of await answers({ type: 'string', minLength: 20, maxLength: 21 })) {
    expect(String(value).length).toBe(20);
  }
  for (const value of await answers({ type: 'string', maxLength: 3 })) {
    expect(String(value).length).toBe(3);
  }
  const lengths = (await answers({ type: 'array', minItems: 1, maxItems: 3 })).map(
    (value) => (value as unknown[]).length,
  );
  expect(new Set(lengths)).toEqual(new Set([1, 2, 3]));
});

test('comes to an end where a schema does not', async () => {
  const node = {
    type: 'object',
    properties: { value: { const: 1 }, next: { $ref: '#/$defs/node' } },
    required: ['value'],
  };
  const [first] = await answers({ $ref: '#/$defs/node', $defs: { node } });
  let depth = 0;
  let place = first as { value: number; next?: unknown } | undefined;
  while (place !== undefined) {
    expect(place.value).toBe(1);
    place = place.next as typeof place;
    depth++;
  }
  expect(depth).toBeGreaterThan(2);
});

test('differs by sample, and repeats itself', async () => {
  const schema = { type: 'object', properties: { name: { type: 'string' } } };
  const first = (await answers(schema)).map((answer) => JSON.stringify(answer));
  expect(new Set(first).size).toBe(60);
  expect((await answers(schema)).map((answer) => JSON.stringify(answer))).toEqual(first);
});

test('is told to a given answer, which need not heed it', async () => {
  const server = await opened({
    dialect: 'vllm',
    answer: ({ schema }) => `asked for ${JSON.stringify(schema)}`,
  });
  const any = await chat(server, { response_format: { type: 'json_object' } });
  expect(textOf(any)).toBe('asked for {"type":"object"}');
  expect(textOf(await chat(server))).toBe('asked for undefined');
});
