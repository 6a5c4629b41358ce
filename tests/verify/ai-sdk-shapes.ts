/** Schemas and outputs of every kind that tools of the AI SDK have. */
import type * as Zod from 'zod';
import type { AiSdkTool } from '../../src/agents/index.ts';
import { shown } from '../support/tool-search.ts';

/** What all majors have. */
export interface Sdk {
  tool(spec: object): AiSdkTool;
  dynamicTool(spec: object): AiSdkTool;
  jsonSchema(schema: object, options?: object): unknown;
  zodSchema(schema: unknown): unknown;
  asSchema(schema: unknown): { readonly jsonSchema: unknown };
}

export interface Utils {
  lazySchema(schema: () => unknown): unknown;
  readonly createProviderToolFactory?: (spec: object) => (spec: object) => AiSdkTool;
  readonly createProviderDefinedToolFactory?: (spec: object) => (spec: object) => AiSdkTool;
  readonly createProviderExecutedToolFactory?: (spec: object) => (spec: object) => AiSdkTool;
}

/** What `execute` is given. */
export interface Given {
  readonly toolCallId: string;
  readonly messages: unknown;
  readonly abortSignal: AbortSignal;
  readonly experimental_context?: unknown;
  readonly context?: unknown;
}

/** What is installed beside each other. */
export interface Packages {
  readonly ai: Sdk;
  readonly utils: Utils;
  readonly z: typeof Zod;
  readonly z3: typeof Zod;
}

const cityOf = (z: typeof Zod) => ({ city: z.string().min(2), days: z.number().int().optional() });
export const cityJson = {
  type: 'object',
  properties: { city: { type: 'string', minLength: 2 }, days: { type: 'integer' } },
  required: ['city'],
  additionalProperties: false,
} as const;

export function schemasOf({ ai, utils, z, z3 }: Packages): Readonly<Record<string, unknown>> {
  const city = cityOf(z);
  return {
    zod: z.object(city),
    wrapped: ai.zodSchema(z.object(city)),
    lazy: utils.lazySchema(() => ai.zodSchema(z.object(city))),
    zod3: ai.zodSchema(z3.object(cityOf(z3))),
    plain: ai.jsonSchema(cityJson),
    checked: ai.jsonSchema(cityJson, {
      validate: (value: { readonly city?: unknown }) =>
        typeof value.city === 'string' && value.city.length > 1
          ? { success: true, value }
          : { success: false, error: new Error('No such city.') },
    }),
  };
}

/** What a tool is made of, and what a model sees of it. */
export interface Output {
  readonly spec: object;
  readonly seen: string;
}

export function outputsOf(major: 5 | 6 | 7): Readonly<Record<string, Output>> {
  return {
    text: { spec: { execute: () => 'warm' }, seen: shown('warm') },
    object: {
      spec: { execute: () => ({ at: new Date(0), none: undefined, list: [1, undefined] }) },
      seen: shown('{"at":"1970-01-01T00:00:00.000Z","list":[1,null]}'),
    },
    nothing: { spec: { execute: () => undefined }, seen: shown('(nothing)') },
    bytes: { spec: { execute: () => new Uint8Array(9) }, seen: shown('[binary, 9 bytes]') },
    thrown: {
      spec: {
        execute: () => {
          throw new Error('No route.');
        },
      },
      seen: '<error>\nNo route.\n</error>',
    },
    rejected: {
      spec: { execute: () => Promise.reject(new Error('No luck.')) },
      seen: '<error>\nNo luck.\n</error>',
    },
    streamed: {
      spec: {
        async *execute() {
          yield { status: 'looking' };
          yield { status: 'done', celsius: 4 };
        },
      },
      seen: shown('{"status":"done","celsius":4}'),
    },
    ...Object.fromEntries(modelOutputs(major)),
  };
}

function* modelOutputs(major: 5 | 6 | 7): Generator<[string, Output]> {
  const told = (output: object) => ({ execute: () => 4, toModelOutput: () => output });
  const error = (text: string) => `<error>\n${text}\n</error>`;
  yield ['toText', { spec: told({ type: 'text', value: 'four' }), seen: shown('four') }];
  yield ['toJson', { spec: told({ type: 'json', value: [4] }), seen: shown('[4]') }];
  yield ['toError', { spec: told({ type: 'error-text', value: 'Bad.' }), seen: error('Bad.') }];
  const json = { type: 'error-json', value: { code: 1 } };
  yield ['toErrorJson', { spec: told(json), seen: error('{"code":1}') }];
  const given = (output: unknown) => ({
    ...{ type: 'json', value: major === 5 ? { output } : output },
  });
  const expected = major === 5 ? '{"output":4}' : '{"input":{"n":1},"output":4}';
  yield [
    'given',
    {
      spec: {
        execute: () => 4,
        toModelOutput: (told: unknown) => {
          if (major === 5) return given(told);
          const { toolCallId: _, ...rest } = told as { readonly toolCallId: string };
          return given(rest);
        },
      },
      seen: shown(expected),
    },
  ];
  const parts: Readonly<Record<5 | 6 | 7, readonly object[]>> = {
    5: [{ type: 'media', mediaType: 'image/png', data: 'AAAA' }],
    6: [
      { type: 'image-data', mediaType: 'image/png', data: 'AAAA' },
      { type: 'file-url', url: 'https://example.com/a.pdf', mediaType: 'application/pdf' },
    ],
    7: [
      { type: 'file', mediaType: 'image/png', data: { type: 'data', data: new Uint8Array(3) } },
      {
        ...{ type: 'file', mediaType: 'application/pdf' },
        data: { type: 'url', url: new URL('https://example.com/a.pdf') },
      },
      { type: 'file', mediaType: 'text/plain', data: { type: 'text', text: 'inside' } },
    ],
  };
  const lines = [
    '[image/png, 3 bytes]',
    '[application/pdf at https://example.com/a.pdf]',
    'inside',
  ];
  const content = [{ type: 'text', text: 'look:' }, ...parts[major]];
  const seen = shown(['look:', ...lines.slice(0, parts[major].length)].join('\n'));
  yield ['toContent', { spec: told({ type: 'content', value: content }), seen }];
  if (major === 5) return;
  const denied = { type: 'execution-denied', reason: 'Not today.' };
  yield ['denied', { spec: told(denied), seen: error('Not today.') }];
}
