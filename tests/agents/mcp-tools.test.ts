/** Tools with the shapes of MCP clients, version 1 and 2 of the SDK. */
import { expect, test } from 'vitest';
import { mcpTools } from '../../src/agents/index.ts';
import { memoryJournal } from '../../src/calls/index.ts';
import { type Tool, toolEnvironment } from '../../src/environments/index.ts';
import { type JsonValue, mcts, search } from '../../src/index.ts';
import { plainContext } from '../../src/testing/index.ts';

interface Told {
  readonly name: string;
  readonly arguments: Readonly<Record<string, unknown>>;
}

const pages = [
  [
    {
      name: 'files.read',
      description: 'Reads a file.',
      inputSchema: { type: 'object', properties: { path: { type: 'string' } }, required: ['path'] },
      annotations: { readOnlyHint: true, futureHint: 'x' },
    },
  ],
  [
    { name: 'files.remove', inputSchema: { type: 'object' } },
    { name: 'note', inputSchema: { $ref: '#/nowhere' } },
  ],
];

const results: Readonly<Record<string, unknown>> = {
  text: {
    content: [
      { type: 'text', text: 'a' },
      { type: 'text', text: 'b' },
    ],
  },
  structured: { content: [{ type: 'text', text: 'a' }], structuredContent: { lines: 2 } },
  blob: {
    content: [
      { type: 'resource', resource: { uri: 'file:///a', mimeType: 'a/b', blob: 'AAAAAA==' } },
      { type: 'resource', resource: { uri: 'file:///b', text: 'b' } },
      { type: 'resource_link', uri: 'file:///c', name: 'c' },
    ],
  },
  image: { content: [{ type: 'image', mimeType: 'image/png', data: 'AAAA' }] },
  failed: { content: [{ type: 'text', text: 'No such file.' }], isError: true },
};

const listTools = async (params?: { readonly cursor?: string }) => {
  const page = Number(params?.cursor ?? 0);
  return {
    tools: pages[page] ?? [],
    ...(page + 1 < pages.length && { nextCursor: `${page + 1}` }),
  };
};

/** A client of version 1 passes a schema of results between, and one of version 2 does not. */
function client(version: 1 | 2) {
  const calls: { told: Told; options: unknown }[] = [];
  const answer = (told: Told, options: unknown) => {
    calls.push({ told, options });
    return results[String(told.arguments['path'])];
  };
  const one = {
    listTools,
    callTool: async (told: Told, _schema: unknown = {}, options?: unknown) => answer(told, options),
  };
  const two = {
    listTools,
    callTool: async (told: Told, options: unknown) => answer(told, options),
  };
  return { client: version === 1 ? one : two, calls };
}

async function seen(tools: Readonly<Record<string, Tool>>, tool: string, path: unknown) {
  const environment = toolEnvironment(null, { name: 'mcp', task: 'Look.', tools: () => tools });
  const { state } = await environment.reset(plainContext());
  const next = await environment.step(state, { tool, input: { path } }, plainContext());
  return next.state.turns.at(-1)?.content;
}

test.each([1, 2] as const)('results of a client of version %i', async (version) => {
  const { client: open, calls } = client(version);
  const tools = await mcpTools(open, { trusted: true });
  expect(await seen(tools, 'files_read', 'text')).toBe('<output>\na\nb\n</output>');
  expect(await seen(tools, 'files_read', 'structured')).toBe('<output>\n{"lines":2}\n</output>');
  expect(await seen(tools, 'files_read', 'image')).toBe(
    '<output>\n[image/png, 3 bytes]\n</output>',
  );
  expect(await seen(tools, 'files_read', 'blob')).toBe(
    '<output>\n[a/b at file:///a, 4 bytes]\nb\n{"type":"resource_link","uri":"file:///c","name":"c"}\n</output>',
  );
  expect(await seen(tools, 'files_read', 'failed')).toBe('<error>\nNo such file.\n</error>');
  expect(await seen(tools, 'files_read', 7)).toContain('expected string');
  expect(calls).toHaveLength(5);
  expect(calls[0]).toMatchObject({
    told: { name: 'files.read', arguments: { path: 'text' } },
    options: { signal: expect.any(AbortSignal) },
  });
});

test('hints count where the server is trusted, and all are passed on', async () => {
  const { client: open, calls } = client(2);
  const effects = async (options?: Parameters<typeof mcpTools>[1]) =>
    Object.fromEntries(
      Object.entries(await mcpTools(open, options)).map(([name, { effect }]) => [name, effect]),
    );
  const all = 'irreversible';
  expect(await effects()).toEqual({ files_read: all, files_remove: all, note: all });
  expect(await effects({ trusted: true })).toEqual({
    files_read: 'read',
    files_remove: all,
    note: all,
  });
  expect(await effects({ effects: { note: 'pure' }, prefix: 'mcp-' })).toEqual({
    ...{ 'mcp-files_read': all, 'mcp-files_remove': all, 'mcp-note': 'pure' },
  });
  const tools = await mcpTools(open);
  expect(tools['files_read']?.hints).toEqual({ readOnlyHint: true, futureHint: 'x' });
  expect(await seen(tools, 'files_read', 'text')).toContain('Planned');
  expect(calls).toEqual([]);
});

test('a call that has ended is not cancelled when the limit of time or the search ends', async () => {
  const { client: open, calls } = client(1);
  const stop = new AbortController();
  const tools = await mcpTools(open, { trusted: true });
  const environment = toolEnvironment(null, {
    ...{ name: 'mcp', task: 'Look.' },
    tools: () => tools,
  });
  const { state } = await environment.reset(plainContext());
  const action = { tool: 'files_read', input: { path: 'text' } };
  await environment.step(state, action, plainContext({ signal: stop.signal }));
  stop.abort();
  expect(calls).toMatchObject([{ options: { signal: { aborted: false } } }]);
});

test('a call may take as long as is told', async () => {
  const open = { listTools, callTool: () => new Promise(() => {}) };
  const tools = await mcpTools(open, { trusted: true, timeoutMs: 20 });
  expect(await seen(tools, 'files_read', 'text')).toContain('It took longer than 20 ms');
});

test('a list without an end is refused', async () => {
  const { client: open } = client(2);
  const endless = async ({ cursor = '0' } = {}) => ({
    ...{ tools: [{ name: `t${cursor}` }], nextCursor: `${Number(cursor) + 1}` },
  });
  await expect(mcpTools({ ...open, listTools: endless })).rejects.toThrow(
    'The server lists its tools on more than 100 pages, so the list has no end.',
  );
  const stuck = async () => ({ tools: [], nextCursor: 'a' });
  await expect(mcpTools({ ...open, listTools: stuck })).rejects.toThrow(
    'The server gives the same cursor twice, so the list has no end. Ask its operator.',
  );
});

test.each(['', null])('a list ends with the cursor %o', async (nextCursor) => {
  const asked: unknown[] = [];
  const once = async (params: unknown) => {
    asked.push(params);
    return { tools: [{ name: 'a' }], nextCursor };
  };
  const tools = await mcpTools({ ...client(2).client, listTools: once });
  expect(Object.keys(tools)).toEqual(['a']);
  expect(asked).toEqual([undefined]);
});

test('a server that lists nothing and gives no reason is reported in a sentence', async () => {
  const { client: open } = client(2);
  const silent = () => Promise.reject(undefined);
  await expect(mcpTools({ ...open, listTools: silent as never })).rejects.toThrow(
    'The server did not list its tools, and threw `undefined`. See whether it runs.',
  );
  for (const [error, reason] of [
    [new TypeError('fetch failed'), ': fetch failed.'],
    [new Error(), ', and threw an object.'],
  ] as const) {
    await expect(
      mcpTools({ ...open, listTools: () => Promise.reject(error) }),
    ).rejects.toMatchObject({
      code: 'usage',
      message: `The server did not list its tools${reason} See whether it runs.`,
      cause: error,
    });
  }
  await expect(mcpTools({ ...open, listTools: (() => undefined) as never })).rejects.toThrow(
    'Expected the server to answer `listTools` with `{ tools }`',
  );
});

test('what cannot be taken over is refused', async () => {
  const { client: open } = client(2);
  await expect(mcpTools(open, { effects: { write: 'read' } })).rejects.toThrow(
    'Expected `effects` to be tools that the server has (files.read, files.remove, note), got `"write"`',
  );
  const twice = { ...open, listTools: async () => ({ tools: [{ name: 'a' }, { name: 'a' }] }) };
  await expect(mcpTools(twice)).rejects.toThrow('Expected `tools` to be no two tools named `a`');
});

test('names that would become the same are numbered', async () => {
  const long = 'l'.repeat(70);
  const names = ['a.b', 'a_b', 'a b', `${long}1`, `${long}2`];
  const open = {
    listTools: async () => ({ tools: names.map((name) => ({ name })) }),
    callTool: async ({ name }: Told) => ({ content: [{ type: 'text', text: name }] }),
  };
  const effects = Object.fromEntries(names.map((name) => [name, 'read'] as const));
  const tools = await mcpTools(open, { effects });
  const seenNames = ['a_b_2', 'a_b', 'a_b_3', 'l'.repeat(64), `${'l'.repeat(62)}_2`];
  expect(Object.keys(tools)).toEqual(seenNames);
  for (const [index, name] of seenNames.entries()) {
    expect(await seen(tools, name, '')).toBe(`<output>\n${names[index]}\n</output>`);
  }
});

test('lists that are none, and a trust that is none, are refused', async () => {
  const { client: open } = client(2);
  const given = [
    [null, 'got `null`.'],
    [{}, 'got an object without fields.'],
    [{ resources: [], next: 1 }, 'got an object with `"resources"`, `"next"`.'],
    [{ tools: null }, 'got `null`.'],
    [{ tools: 5 }, 'got `5`.'],
  ] as const;
  const getServerVersion = () => ({ name: 'notes', version: '1' });
  for (const [answer, got] of given) {
    const wrong = { ...open, listTools: async () => answer, getServerVersion };
    await expect(mcpTools(wrong)).rejects.toThrow(
      `Expected the server \`"notes"\` to answer \`listTools\` with \`{ tools }\`, a list of tools that each have a name, ${got}`,
    );
  }
  await expect(mcpTools(open, { trusted: 'false' as never })).rejects.toThrow('`trusted`');
  for (const [tool, got] of [
    [{}, 'got an object without fields.'],
    [{ title: 'a', inputSchema: {} }, 'got an object with `"title"`, `"inputSchema"`.'],
    [null, 'got `null`.'],
  ] as const) {
    const wrong = { ...open, listTools: async () => ({ tools: [{ name: 'a' }, tool] }) };
    await expect(mcpTools(wrong)).rejects.toThrow(
      `Expected the server to answer \`listTools\` with a \`name\` in \`tools[1]\`, ${got}`,
    );
  }
});

test.each([
  ['no object', null, 'got `null`.'],
  ['without a list', { content: null }, 'got `null`.'],
  ['empty', {}, 'got an object without fields.'],
  ['another one', { answer: 1 }, 'got an object with `"answer"`.'],
  ['with a part that is none', { content: [null] }, 'got an array of 1.'],
])('a result that is %s is a failure of the tool, in a sentence', async (_, result, got) => {
  const { client: open } = client(2);
  const tools = await mcpTools({ ...open, callTool: async () => result }, { trusted: true });
  expect(await seen(tools, 'files_read', 'a')).toBe(
    `<error>\nExpected the server to answer the call of \`files.read\` with \`{ content }\`, a list of parts, ${got}\n</error>`,
  );
});

test.each([
  ['as its server sends it', {}],
  ['as a client of version 1 passes it on', { content: [] }],
])('a task that has only started is not done, %s', async (_, content) => {
  const task = { taskId: 't1', status: 'working' };
  const open = { ...client(2).client, callTool: async () => ({ task, ...content }) };
  const trusted = await mcpTools(open, { trusted: true });
  expect(await seen(trusted, 'files_read', 'a')).toBe(
    '<error>\nThe server has started a task for the call of `files.read` (`"t1"`, status `"working"`) instead of answering it, so its outcome is not known yet. Ask the server about the task, or use a client that waits for it.\n</error>',
  );
  const tools = await mcpTools(open);
  const environment = toolEnvironment(null, { name: 'mcp', task: 'Do.', tools: () => tools });
  const { tree } = await search(environment, {
    policy: () => [{ action: { tool: 'note', input: {} } }],
    evaluator: () => 0.5,
    algorithm: mcts({ maxDepth: 1 }),
    budget: { simulations: 2 },
  });
  const [note] = tree.root.children;
  if (note === undefined) throw new Error('Expected a call.');
  const options = { journal: memoryJournal(), approve: () => true };
  const { status, message } = await environment.commit(note, options);
  expect(status).toBe('unknown');
  expect(message).toContain('`note` may have happened, or not: The server has started a task');
});

test.each([
  ['of the first protocol', { toolResult: 'old' }, 'old'],
  ['of the first protocol, through a newer client', { content: [], toolResult: 'old' }, 'old'],
  ['that is only structured', { structuredContent: { lines: 2 } }, '{"lines":2}'],
])('a result %s is read', async (_, result, output) => {
  const open = { ...client(2).client, callTool: async () => result };
  const tools = await mcpTools(open, { trusted: true });
  expect(await seen(tools, 'files_read', 'a')).toBe(`<output>\n${output}\n</output>`);
});

test('a call that failed without a word is a failure', async () => {
  const open = { ...client(2).client, callTool: async () => ({ isError: true }) };
  const tools = await mcpTools(open, { trusted: true });
  expect(await seen(tools, 'files_read', 'a')).toContain('The server says that it failed.');
});

test('patterns of a server do not keep the process busy', async () => {
  const properties = { path: { type: 'string', pattern: '^(a+)+$' }, pattern: { type: 'string' } };
  const inputSchema = { type: 'object', properties, required: ['path'] };
  const { client: open, calls } = client(2);
  const slow = { ...open, listTools: async () => ({ tools: [{ name: 'slow', inputSchema }] }) };
  const tools = await mcpTools(slow, { effects: { slow: 'read' } });
  const started = performance.now();
  await seen(tools, 'slow', `${'a'.repeat(40)}!`);
  expect(performance.now() - started).toBeLessThan(5_000);
  expect(calls).toHaveLength(1);
  expect(await seen(tools, 'slow', 1)).toContain('path');
  expect(calls).toHaveLength(1);
});

/** What comes of a call of a tool with a schema of its server, and how often it was passed on. */
async function calledWith(inputSchema: unknown, input: { readonly [key: string]: JsonValue }) {
  const { client: open, calls } = client(2);
  const tools = [{ name: 'own', inputSchema }, { name: 'other' }];
  const all = await mcpTools(
    { ...open, listTools: async () => ({ tools }) },
    { effects: { own: 'read', other: 'read' } },
  );
  const environment = toolEnvironment(null, { name: 'mcp', task: 'Look.', tools: () => all });
  const { tree } = await search(environment, {
    policy: () => [{ action: { tool: 'own', input } }, { action: { tool: 'other', input: {} } }],
    evaluator: () => 0.5,
    algorithm: mcts({ maxDepth: 1, evaluate: 'all' }),
    budget: { simulations: 3 },
  });
  const [own] = tree.root.children;
  const names = calls.map(({ told }) => told.name);
  expect(names.filter((name) => name === 'other')).toHaveLength(1);
  return {
    observed: own?.state?.turns.at(-1)?.content,
    calls: names.filter((name) => name === 'own').length,
  };
}

const slow = '^(a+)+$';
const long = `${'a'.repeat(40)}!`;

test.each([
  ['keys', { patternProperties: { [slow]: { type: 'string' } }, additionalProperties: false }],
  ['names', { propertyNames: { pattern: slow } }],
  [
    'names that are referred to',
    { propertyNames: { $ref: '#/$defs/n' }, $defs: { n: { pattern: slow } } },
  ],
  [
    'one of several',
    { properties: { path: { oneOf: [{ type: 'string', pattern: slow }, { type: 'string' }] } } },
  ],
  ['what must not be', { properties: { path: { not: { pattern: slow } } } }],
  [
    'a property named as a schema',
    { properties: { properties: { pattern: slow }, path: { pattern: slow } } },
  ],
])('patterns of a server for %s take what they cannot check', async (_, schema) => {
  const started = performance.now();
  const input = { path: long, [long]: 'x', properties: long };
  expect(await calledWith({ type: 'object', ...schema }, input)).toMatchObject({ calls: 1 });
  expect(performance.now() - started).toBeLessThan(5_000);
});

test('properties that are named as patterns are checked', async () => {
  const properties = { pattern: { type: 'number' }, patternProperties: { type: 'number' } };
  const schema = { type: 'object', properties };
  for (const name of Object.keys(properties)) {
    const told = await calledWith(schema, { [name]: 'x' });
    expect(told).toMatchObject({ calls: 0, observed: expect.stringContaining('expected number') });
  }
});

const nested = (): unknown => {
  let schema: unknown = { type: 'string' };
  for (let depth = 0; depth < 100_000; depth++) schema = { properties: { path: schema } };
  return schema;
};
const circular: Record<string, unknown> = { type: 'object' };
circular['properties'] = { path: circular };

test.each([
  ['refers to itself', { $ref: '#' }],
  ['is part of itself', { type: 'object', allOf: [{ $ref: '#' }] }],
  ['is too deep', nested()],
  ['is circular', circular],
  ['is of a text', { type: 'string' }],
])('a schema that %s takes any object, and the other tools stay', async (_, schema) => {
  expect(await calledWith(schema, { path: 'text' })).toEqual({
    observed: '<output>\na\nb\n</output>',
    calls: 1,
  });
});

test('a server that never lists its tools is given up at the limit of time', async () => {
  const signals: AbortSignal[] = [];
  const listTools = (_: unknown, { signal }: { readonly signal: AbortSignal }) => {
    signals.push(signal);
    return new Promise(() => {});
  };
  const open = { ...client(2).client, listTools };
  await expect(mcpTools(open, { timeoutMs: 20 })).rejects.toThrow(
    'The server did not list its tools within 20 ms. See whether it runs, or give it a longer `timeoutMs`.',
  );
  expect(signals.map(({ aborted }) => aborted)).toEqual([true]);
});

test('options and effects that cannot be are refused in a sentence', async () => {
  const { client: open } = client(2);
  const wrong = mcpTools as (...given: unknown[]) => Promise<unknown>;
  const options: readonly (readonly [unknown, string])[] = [
    [null, 'Expected the options of `mcpTools` to be an object, got `null`.'],
    [{ prefix: 'a.' }, 'Expected `prefix` to be letters, digits, `_` and `-`, got `"a."`.'],
    [{ timeoutMs: 0 }, 'Expected `timeoutMs` to be an integer from 1 up, got `0`.'],
    [{ effects: 'read' }, 'Expected `effects` to be an object, got `"read"`.'],
    [{ effects: { note: 'reed' } }, "Expected `effects.note` to be 'pure', 'read'"],
    [{ effects: { note: 'reversible' } }, "an object with 'reversible' and its `undo`"],
    [{ effects: { note: { effect: 'reversibel', undo() {} } } }, 'got `"reversibel"`.'],
    [
      { effects: { note: { effect: 'reversible' } } },
      'Expected `effects.note.undo` to be a function, got `undefined`.',
    ],
  ];
  for (const [given, message] of options) await expect(wrong(open, given)).rejects.toThrow(message);
});
