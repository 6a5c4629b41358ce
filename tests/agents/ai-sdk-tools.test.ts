/** Tools with the shapes of the AI SDK 5, 6 and 7, executed by an environment. */
import { expect, test } from 'vitest';
import * as z from 'zod';
import { aiSdkTools } from '../../src/agents/index.ts';
import { memoryJournal } from '../../src/calls/index.ts';
import { type Tool, toolEnvironment } from '../../src/environments/index.ts';
import { plainContext } from '../../src/testing/index.ts';

type Equal<One, Other> =
  (<T>() => T extends One ? 1 : 2) extends <T>() => T extends Other ? 1 : 2 ? true : false;

function same<_ extends true>(): void {}

const inputSchema = z.object({ city: z.string() });

/** What a model sees of a call of the only tool. */
async function seen(tools: Readonly<Record<string, Tool>>, input: object = { city: 'Oslo' }) {
  const environment = toolEnvironment(null, { name: 'sdk', task: 'Look.', tools: () => tools });
  const { state } = await environment.reset(plainContext());
  const action = { tool: Object.keys(tools)[0] ?? '', input } as never;
  const next = await environment.step(state, action, plainContext());
  return next.state.turns.at(-1)?.content.replace(/<\/?(?:output|error)>|\n/g, '');
}

test('inputs keep their types, and the call tells its id and its signal', async () => {
  const told: unknown[] = [];
  const weather = {
    description: 'The weather.',
    inputSchema,
    execute: async (
      { city }: { city: string },
      options: { toolCallId: string; abortSignal?: AbortSignal; experimental_context?: unknown },
    ) => {
      told.push(options);
      return { city, celsius: 4 };
    },
  };
  const tools = aiSdkTools({ weather }, { effects: { weather: 'read' }, context: { user: 'ann' } });
  same<Equal<typeof tools.weather, Tool<{ city: string }>>>();
  expect(await seen(tools)).toBe('{"city":"Oslo","celsius":4}');
  expect(told).toMatchObject([
    { messages: [], context: { user: 'ann' }, experimental_context: { user: 'ann' } },
  ]);
  expect(told[0]).toHaveProperty('toolCallId', expect.any(String));
  expect(told[0]).toHaveProperty('abortSignal', expect.any(AbortSignal));
});

test('a tool of another SDK may return an object with `output` or `state`', async () => {
  const region = { inputSchema, execute: () => ({ state: 'Bavaria' }) };
  const tools = aiSdkTools({ region }, { effects: { region: 'read' } });
  expect(await seen(tools)).toBe('{"state":"Bavaria"}');
});

test('what is streamed ends with the output, and a model sees what the tool says it should', async () => {
  const stream = {
    inputSchema,
    async *execute() {
      yield 'looking';
      yield 'cold';
    },
  };
  expect(await seen(aiSdkTools({ stream }, { effects: { stream: 'read' } }))).toBe('cold');
  const output = {
    type: 'content',
    value: [
      { type: 'text', text: 'cold' },
      { type: 'media', mediaType: 'image/png', data: 'AAAA' },
    ],
  };
  const five = {
    inputSchema,
    execute: () => 4,
    toModelOutput: (value: number) => (value === 4 ? output : value),
  };
  expect(await seen(aiSdkTools({ five }, { effects: { five: 'read' }, major: 5 }))).toBe(
    'cold[image/png, 3 bytes]',
  );
  const six = {
    inputSchema,
    execute: () => 4,
    toModelOutput: (told: { input: object; output: number }) => ({
      ...{ type: 'json', value: { got: told.output, from: told.input } },
    }),
  };
  expect(await seen(aiSdkTools({ six }, { effects: { six: 'read' } }))).toBe(
    '{"got":4,"from":{"city":"Oslo"}}',
  );
  const failing = {
    inputSchema,
    execute: () => 4,
    toModelOutput: () => ({ type: 'error-text', value: 'No.' }),
  };
  expect(await seen(aiSdkTools({ failing }, { effects: { failing: 'read' } }))).toBe('No.');
});

test('schemas of `jsonSchema()`, with and without a check, and lazy ones', async () => {
  const jsonSchema = {
    type: 'object',
    properties: { city: { type: 'string' } },
    required: ['city'],
  };
  const execute = ({ city }: { city: string }) => city;
  const checked = {
    execute,
    inputSchema: {
      jsonSchema,
      validate: (value: { city?: unknown }) =>
        value.city === 'Oslo'
          ? { success: true, value }
          : { success: false, error: new Error('Where?') },
    },
  };
  const plain = { execute, inputSchema: () => ({ jsonSchema }) };
  for (const tools of [
    aiSdkTools({ checked }, { effects: { checked: 'read' } }),
    aiSdkTools({ plain }, { effects: { plain: 'read' } }),
  ]) {
    expect(await seen(tools)).toBe('Oslo');
    expect(await seen(tools, { city: 7 })).toMatch(/Its input is invalid\. .*(?:Where\?|string)/);
  }
});

/** As `zodSchema()` makes one: it reads asynchronously. */
function zodSchema(schema: z.ZodType) {
  return {
    get jsonSchema() {
      return z.toJSONSchema(schema, { target: 'draft-7', io: 'input' });
    },
    validate: async (value: unknown) => {
      const { success, data, error } = await schema.safeParseAsync(value);
      return success ? { success, value: data } : { success, error };
    },
  };
}

test('schemas that read asynchronously are checked in their form at once, and in full before anything runs', async () => {
  const ran: string[] = [];
  const look = {
    inputSchema: () =>
      zodSchema(
        z.object({
          city: z
            .string()
            .refine(async (text) => text !== 'Rome', 'Not Rome.')
            .transform((text) => text.toUpperCase()),
        }),
      ),
    execute: ({ city }: { city: string }) => ran.push(city),
  };
  const tools = aiSdkTools({ look }, { effects: { look: 'read' } });
  expect(await seen(tools, { city: 'Oslo' })).toBe('1');
  expect(await seen(tools, { city: 7 })).toContain('Its input is invalid. city: ');
  expect(await seen(tools, { city: 'Rome' })).toMatch(/Its input is invalid\..*Not Rome\./);
  expect(ran).toEqual(['OSLO']);
});

test('what is reversible, and refused by a schema that reads asynchronously, leaves the outside open', async () => {
  const log: string[] = [];
  const set = {
    inputSchema: zodSchema(z.object({ to: z.number().refine(async (to) => to < 9) })),
    execute: ({ to }: { to: number }) => void log.push(`set ${to}`),
  };
  const undo = ({ to }: { to: number }) => void log.push(`undo ${to}`);
  const environment = toolEnvironment(null, {
    ...{ name: 'sdk', task: 'Set it.', journal: memoryJournal() },
    tools: () => aiSdkTools({ set }, { effects: { set: { effect: 'reversible', undo } } }),
  });
  const { state } = await environment.reset(plainContext());
  for (const to of [9, 2]) {
    await environment.step(state, { tool: 'set', input: { to } }, plainContext());
  }
  await environment.close();
  expect(log).toEqual(['set 2', 'undo 2']);
});

test('a JSON schema that cannot be read here leaves the check to the tool', async () => {
  const odd = {
    inputSchema: { jsonSchema: { type: 'object', $ref: '#/nowhere' } },
    execute: ({ city }: { city: string }) => city,
  };
  expect(await seen(aiSdkTools({ odd }, { effects: { odd: 'read' } }))).toBe('Oslo');
});

test('outputs are seen as the SDK sends them', async () => {
  const of = async (execute: () => unknown, toModelOutput?: () => unknown) => {
    const tool = { inputSchema, execute, ...(toModelOutput && { toModelOutput }) };
    return seen(aiSdkTools({ tool }, { effects: { tool: 'read' } }));
  };
  expect(await of(() => ({ at: new Date(0), none: undefined, list: [undefined] }))).toBe(
    '{"at":"1970-01-01T00:00:00.000Z","list":[null]}',
  );
  expect(await of(() => new Uint8Array(3))).toBe('[binary, 3 bytes]');
  const text = (told: unknown) =>
    of(
      () => 1,
      () => told,
    );
  expect(await text({ type: 'execution-denied', reason: 'Not today.' })).toBe('Not today.');
  const value = [
    { type: 'media', mediaType: 'image/gif', data: 'AA==' },
    { type: 'image-url', url: 'https://example.com/a.png' },
    { type: 'file', mediaType: 'image/png', data: { type: 'data', data: new Uint8Array(2) } },
    { type: 'file', mediaType: 'a/b', data: { type: 'url', url: new URL('https://example.com/') } },
    { type: 'file', mediaType: 'text/plain', data: { type: 'text', text: ' within ' } },
    { type: 'file-id', fileId: 'f1' },
  ];
  expect(await text({ type: 'content', value })).toBe(
    '[image/gif, 1 bytes][image-url at https://example.com/a.png][image/png, 2 bytes][a/b at https://example.com/] within [file-id]',
  );
});

test('a description may be a function of the context, and examples stand below it', async () => {
  const tool = {
    inputSchema,
    description: ({ context }: { context: string }) => `For ${context}.`,
    inputExamples: [{ input: { city: 'Oslo' } }, { input: { city: 'Lima' } }],
    execute: () => 1,
  };
  const environment = toolEnvironment(null, {
    ...{ name: 'sdk', task: 'Look.' },
    tools: () => aiSdkTools({ tool }, { effects: { tool: 'read' }, context: 'ann' }),
  });
  expect(environment.notation.tools?.[0]?.description).toBe(
    'For ann.\n\nInput examples:\n{"city":"Oslo"}\n{"city":"Lima"}',
  );
});

test('a call is aborted at its limit, and not when it has ended', async () => {
  const signals: AbortSignal[] = [];
  const take = (_input: unknown, { abortSignal }: { abortSignal: AbortSignal }) =>
    signals.push(abortSignal);
  const hang = async (_input: unknown, told: { abortSignal: AbortSignal }) => {
    take(_input, told);
    await new Promise(() => {});
  };
  const options = { effects: { tool: 'read' }, timeoutMs: 20 } as const;
  expect(await seen(aiSdkTools({ tool: { inputSchema, execute: take } }, options))).toBe('1');
  expect(await seen(aiSdkTools({ tool: { inputSchema, execute: hang } }, options))).toContain(
    'It took longer than 20 ms',
  );
  expect(signals.map(({ aborted }) => aborted)).toEqual([false, true]);
});

test('what is reversible is taken back by the undo that was told', async () => {
  const log: string[] = [];
  const set = {
    inputSchema: z.object({ to: z.number() }),
    execute: ({ to }: { to: number }) => void log.push(`set ${to}`),
  };
  const environment = toolEnvironment(null, {
    name: 'sdk',
    task: 'Set it.',
    journal: memoryJournal(),
    tools: () =>
      aiSdkTools(
        { set },
        {
          effects: {
            set: {
              effect: 'reversible',
              remember: () => 1,
              undo: ({ to }, { remembered }) => void log.push(`${to} to ${remembered}`),
            },
          },
        },
      ),
  });
  const { state } = await environment.reset(plainContext());
  await environment.step(state, { tool: 'set', input: { to: 2 } }, plainContext());
  await environment.close();
  expect(log).toEqual(['set 2', '2 to 1']);
});

test('what cannot be taken over is refused', () => {
  const tool = { inputSchema, execute: () => 1 };
  expect(() => aiSdkTools({ tool }, { effects: {} as { tool: 'read' } })).toThrow(
    'Expected `effects.tool` to be told',
  );
  expect(() => aiSdkTools({ tool: { inputSchema } }, { effects: { tool: 'read' } })).toThrow(
    'Expected `tools.tool` to be a tool with an `execute`',
  );
  const careful = { ...tool, needsApproval: true };
  expect(() => aiSdkTools({ careful }, { effects: { careful: 'read' } })).toThrow(
    '`careful` needs approval, so it is not read.',
  );
  expect(aiSdkTools({ careful }, { effects: { careful: 'irreversible' } }).careful.effect).toBe(
    'irreversible',
  );
  const three = { ...tool, inputSchema: { '~standard': { version: 1, vendor: 'zod' } } };
  expect(() => aiSdkTools({ three }, { effects: { three: 'read' } })).toThrow(
    'a schema of zod 4, or one of zod 3 within `zodSchema()` of the SDK',
  );
  const later = { ...tool, inputSchema: { jsonSchema: Promise.resolve({}) } };
  expect(() => aiSdkTools({ later }, { effects: { later: 'read' } })).toThrow(
    'to be a schema that is there at once',
  );
});

test('a tool that is none is refused under its name', () => {
  expect(() => aiSdkTools({ a: null as never }, { effects: { a: 'read' } })).toThrow(
    'Expected `tools.a` to be a tool with an `execute`, got `null`.',
  );
});

test('patterns, and schemas that cannot be kept or have no end, take any object', async () => {
  const circular: Record<string, unknown> = { type: 'object' };
  circular['properties'] = { city: circular };
  const schemas = [
    { type: 'object', patternProperties: { '^(a+)+$': { type: 'string' } } },
    { type: 'object', allOf: [{ $ref: '#' }] },
    circular,
  ];
  const started = performance.now();
  for (const jsonSchema of schemas) {
    const odd = { inputSchema: { jsonSchema }, execute: ({ city }: { city: string }) => city };
    const tools = aiSdkTools({ odd }, { effects: { odd: 'read' } });
    expect(await seen(tools, { city: 'Oslo', [`${'a'.repeat(40)}!`]: 'x' })).toBe('Oslo');
  }
  expect(performance.now() - started).toBeLessThan(5_000);
});

test('effects that are misspelt, missing, or of no tool are refused in a sentence', () => {
  const weather = { inputSchema, execute: () => 4 };
  const wrong = (options?: unknown) => () => aiSdkTools({ weather }, options as never);
  expect(wrong()).toThrow('Expected the options of `aiSdkTools` to be an object, got `undefined`.');
  expect(wrong({})).toThrow('Expected `effects` to be an object, got `undefined`.');
  expect(wrong({ effects: { weather: 'reed' } })).toThrow(
    "Expected `effects.weather` to be 'pure', 'read', 'irreversible', or an object with 'reversible' and its `undo`, got `\"reed\"`.",
  );
  expect(wrong({ effects: { weather: null } })).toThrow('got `null`.');
  expect(wrong({ effects: { weather: 'read', wether: 'read' } })).toThrow(
    'Expected `effects` to be names of the tools (weather), got `"wether"`.',
  );
});
