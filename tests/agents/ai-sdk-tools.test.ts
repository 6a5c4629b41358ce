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
    expect(await seen(tools, { city: 7 })).toMatch(
      /Its input is not what it takes\. .*(?:Where\?|string)/,
    );
  }
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
  const later = { ...tool, inputSchema: { jsonSchema: Promise.resolve({}) } };
  expect(() => aiSdkTools({ later }, { effects: { later: 'read' } })).toThrow(
    'to be a schema that is there at once',
  );
});
