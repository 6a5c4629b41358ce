/**
 * Tools of real MCP servers, executed through a search by clients of both versions of the SDK, over stdio and over
 * streamable HTTP: `node --import tsx mcp.ts BRIDGE`, where the bridge is a module that exports the packages.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { type McpClient, mcpTools } from '../../src/agents/index.ts';
import { memoryJournal } from '../../src/calls/index.ts';
import type { ToolDefinition } from '../../src/index.ts';
import { Checks } from '../support/checks.ts';
import { type Call, searchOver, seenOf, shown } from '../support/tool-search.ts';

interface Client extends McpClient {
  connect(transport: unknown): Promise<void>;
  close(): Promise<void>;
}

type Made<Instance = unknown> = new (...options: never[]) => Instance;

interface Server {
  setRequestHandler(schema: unknown, handle: (asked: Asked) => unknown): void;
  connect(transport: unknown): Promise<void>;
  sendToolListChanged(): Promise<void>;
}

interface Asked {
  readonly params?: { readonly cursor?: string; readonly name?: string };
}

interface Bridge {
  readonly Client: Made<Client>;
  readonly StdioClientTransport: Made;
  readonly StreamableHTTPClientTransport: Made;
  readonly Stdio2: Made;
  readonly v2: { readonly Client: Made<Client>; readonly StreamableHTTPClientTransport: Made };
  readonly InMemoryTransport: { createLinkedPair(): readonly [unknown, unknown] };
  readonly Server: Made<Server>;
  readonly ListToolsRequestSchema: unknown;
  readonly CallToolRequestSchema: unknown;
}

/** A message as a server receives it. */
interface Message {
  readonly method?: string;
  readonly params?: { readonly name?: string; readonly arguments?: unknown };
}

const [, , path = ''] = process.argv;
const bridge = (await import(pathToFileURL(path).href)) as Bridge;
const packages = join(dirname(path), 'node_modules/@modelcontextprotocol');
const everything = join(packages, 'server-everything/dist/index.js');
const files = join(packages, 'server-filesystem/dist/index.js');
const relay = join(import.meta.dirname, 'mcp-relay.ts');
const place = mkdtempSync(join(tmpdir(), 'mcp-'));
const checks = new Checks();

/** What reached a server since the last time, as the relay has written it down. */
function reader(log: string, method: string): () => readonly NonNullable<Message['params']>[] {
  const all = () =>
    readFileSync(log, 'utf8')
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => JSON.parse(line) as Message)
      .flatMap((message) => (message.method === method ? [message.params ?? {}] : []));
  let read = all().length;
  return () => {
    const fresh = all().slice(read);
    read += fresh.length;
    return fresh;
  };
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  server.close();
  return typeof address === 'object' ? (address?.port ?? 0) : 0;
}

/** The server of everything over streamable HTTP, behind a relay. */
async function overHttp(log: string): Promise<{ readonly url: URL; readonly child: ChildProcess }> {
  const port = `${await freePort()}`;
  const variables = join(place, 'http.env');
  writeFileSync(variables, `PORT=${port}\n`);
  const server = [process.execPath, `--env-file=${variables}`, everything, 'streamableHttp'];
  const args = ['--import', 'tsx', relay, log, 'http', port, ...server];
  const child = spawn(process.execPath, args, { stdio: ['pipe', 'pipe', 'inherit'] });
  const [own] = (await once(child.stdout, 'data')) as [Buffer];
  return { url: new URL(`http://127.0.0.1:${own.toString().trim()}/mcp`), child };
}

const stdio = (log: string, ...server: readonly string[]) => ({
  command: process.execPath,
  args: ['--import', 'tsx', relay, log, 'stdio', process.execPath, ...server],
  stderr: 'ignore',
});

async function connected(Client: Made<Client>, transport: unknown): Promise<Client> {
  const client = new Client(...([{ name: 'verify', version: '1' }, {}] as never[]));
  await client.connect(transport);
  return client;
}

/** The first six run, the next three are refused, two are planned, and one is unknown. */
const calls: readonly Call[] = [
  { tool: 'echo', input: { message: 'hello' } },
  { tool: 'get-sum', input: { a: 2, b: 3 } },
  { tool: 'get-structured-content', input: { location: 'Chicago' } },
  { tool: 'get-tiny-image', input: {} },
  { tool: 'get-resource-reference', input: { resourceType: 'Blob', resourceId: 2 } },
  { tool: 'get-annotated-message', input: { messageType: 'error' } },
  { tool: 'echo', input: { message: 7 } },
  { tool: 'get-sum', input: { a: 2 } },
  { tool: 'get-structured-content', input: { location: 'Oslo' } },
  { tool: 'gzip-file-as-resource', input: { outputType: 'resource' } },
  { tool: 'toggle-simulated-logging', input: {} },
  { tool: 'get-env2', input: {} },
];

async function everyTool(title: string, client: Client, log: string): Promise<void> {
  const is = (claim: string, actual: unknown, expected: unknown) =>
    checks.equal(`${title}: ${claim}`, actual, expected);
  const received = reader(log, 'tools/call');
  const cancelled = reader(log, 'notifications/cancelled');
  const listed = (await client.listTools()) as {
    readonly tools: readonly { readonly name: string; readonly inputSchema: unknown }[];
  };
  const tools = await mcpTools(client, { trusted: true, timeoutMs: 10_000 });
  is(
    'all tools',
    Object.keys(tools),
    listed.tools.map(({ name }) => name),
  );

  received();
  const { tree, model } = await searchOver(tools, [calls]);
  const observed = tree.root.children.map(({ state }) => state?.turns.at(-1)?.content);
  is('how many', observed.length, calls.length);
  is('a text', observed[0], shown('Echo: hello'));
  is('a sum', observed[1], shown('The sum of 2 and 3 is 5.'));
  const weather = '{"temperature":36,"conditions":"Light rain / drizzle","humidity":82}';
  is('structured content', observed[2], shown(weather));
  checks.holds(`${title}: an image`, observed[3], '\n[image/png, ');
  checks.holds(`${title}: text around it`, observed[3], 'The image above is the MCP logo.');
  checks.holds(`${title}: bytes of a resource`, observed[4], '[text/plain at demo://resource/');
  checks.holds(`${title}: a message`, observed[5], 'Error');
  for (const refused of observed.slice(6, 9)) {
    checks.holds(`${title}: a refusal`, refused, 'Its input is invalid.');
  }
  for (const planned of observed.slice(9, 11)) {
    checks.holds(`${title}: not run in a branch`, planned, 'Planned');
  }
  checks.holds(`${title}: an unknown tool`, observed[11], 'There is no such tool.');
  const made = received().map(({ name, arguments: input }) => JSON.stringify([name, input]));
  // What the schema has a default for is filled in.
  const sent = calls.slice(0, 6).map(({ tool, input }) => {
    const filled =
      tool === 'get-annotated-message' ? { includeImage: false, messageType: 'error' } : input;
    return JSON.stringify([tool, sorted(filled)]);
  });
  is('what reached the server', made.map(sortedCall).toSorted(), sent.toSorted());
  for (const { name, inputSchema } of listed.tools) {
    const definition = model.requests[0]?.tools?.find((tool) => tool.name === name);
    is(`the schema of ${name}`, (definition as ToolDefinition).input, inputSchema);
  }

  await untrustedTools(title, client, received);
  is('nothing that has ended is cancelled', cancelled(), []);
  const slow = await mcpTools(client, { trusted: true, timeoutMs: 300 });
  const long = { tool: 'trigger-long-running-operation', input: { duration: 30, steps: 1 } };
  const [late] = await seenOf(slow, [long]);
  checks.holds(`${title}: it is late`, late, 'It took longer than 300 ms');
  await new Promise((resolve) => setTimeout(resolve, 300));
  is('the server is told to stop', cancelled().length, 1);
  await client.close();
}

/** What is not trusted. */
async function untrustedTools(
  title: string,
  client: Client,
  received: ReturnType<typeof reader>,
): Promise<void> {
  const untrusted = await mcpTools(client);
  const effects = new Set(Object.values(untrusted).map(({ effect }) => effect));
  checks.equal(`${title}: nothing is believed`, effects, new Set(['irreversible']));
  await searchOver(untrusted, [calls.slice(0, 4)]);
  checks.equal(`${title}: nothing runs`, received(), []);
  const path = [
    [{ tool: 'echo', input: { message: 'once' } }],
    [{ tool: 'answer', input: { answer: 'x' } }],
  ];
  const planned = await searchOver(untrusted, path);
  checks.equal(`${title}: nor on a path`, received(), []);
  const journal = memoryJournal();
  const told = await planned.environment.commit(planned.tree, { journal, approve: () => true });
  checks.equal(
    `${title}: a commit runs it`,
    [told.status, told.done.map(({ output }) => output)],
    ['committed', ['Echo: once']],
  );
  checks.equal(`${title}: once`, received(), [{ name: 'echo', arguments: { message: 'once' } }]);
}

function sorted(value: unknown): unknown {
  return Object.fromEntries(
    Object.entries(value as object).toSorted(([a], [b]) => (a < b ? -1 : 1)),
  );
}

function sortedCall(text: string): string {
  const [name, input] = JSON.parse(text) as [string, object];
  return JSON.stringify([name, sorted(input)]);
}

/** Files of a folder, as they stand there. */
const filesIn = (folder: string) =>
  Object.fromEntries(
    readdirSync(folder).map((name) => [name, readFileSync(join(folder, name), 'utf8')]),
  );

/** A server that can do harm: a folder tells what was done. */
async function folderTools(): Promise<void> {
  const root = join(place, 'folder');
  mkdirSync(root);
  writeFileSync(join(root, 'a.txt'), 'one');
  const log = join(place, 'files.log');
  const transport = new bridge.StdioClientTransport(...([stdio(log, files, root)] as never[]));
  const client = await connected(bridge.Client, transport);
  const before = filesIn(root);
  const path = join(root, 'b.txt');
  const write = { tool: 'write_file', input: { path, content: 'two' } };
  const move = { tool: 'move_file', input: { source: path, destination: join(root, 'c.txt') } };
  const trusted = await mcpTools(client, { trusted: true });
  const effects = Object.values(trusted).map(({ effect }) => effect);
  checks.equal('files: ten are read', effects.filter((effect) => effect === 'read').length, 10);
  const observed = await seenOf(trusted, [
    { tool: 'read_text_file', input: { path: join(root, 'a.txt') } },
    { tool: 'read_text_file', input: { path: join(root, 'none.txt') } },
    { tool: 'read_text_file', input: { path: '/etc/passwd' } },
    write,
    { tool: 'create_directory', input: { path: join(root, 'd') } },
  ]);
  checks.holds('files: a file', observed[0], 'one');
  checks.holds('files: an error of the server', observed[1], '<error>\n');
  checks.holds('files: says which', observed[1], 'ENOENT');
  checks.holds('files: outside of the folder', observed[2], 'Access denied');
  checks.holds('files: planned', observed[3], 'Planned');
  checks.holds('files: planned too', observed[4], 'Planned');
  checks.equal('files: the folder is as it was', filesIn(root), before);

  const rows = [[write], [move], [{ tool: 'answer', input: { answer: 'moved' } }]];
  const { environment, tree } = await searchOver(trusted, rows);
  checks.equal('files: as it was', filesIn(root), before);
  const journal = memoryJournal();
  const committed = await environment.commit(tree, { journal, approve: () => true });
  checks.equal('files: committed', committed.status, 'committed');
  checks.equal('files: written and moved', filesIn(root), { 'a.txt': 'one', 'c.txt': 'two' });

  // With an undo that is told, a change is tried and taken back.
  rmSync(join(root, 'c.txt'));
  const undone = await mcpTools(client, {
    effects: {
      write_file: {
        effect: 'reversible',
        undo: ({ path }: { readonly path: string }) => rmSync(path, { force: true }),
      },
      list_directory: 'read',
    },
  });
  const look = { tool: 'list_directory', input: { path: root } };
  const tried = await searchOver(undone, [[write], [look]], { journal: memoryJournal() });
  await tried.environment.close();
  const seen = tried.tree.root.children[0]?.children[0]?.state?.turns.at(-1)?.content;
  checks.holds('files: a branch sees its change', seen, '[FILE] b.txt');
  checks.equal('files: and it is taken back', filesIn(root), before);
  await client.close();
}

/** A server of our own on the real SDK: its list has pages, changes, and tells lies. */
async function pagedTools(): Promise<void> {
  const { Server, Client, InMemoryTransport } = bridge;
  const info = { name: 'paged', version: '1' };
  const capabilities = { tools: { listChanged: true } };
  const server = new Server(...([info, { capabilities }] as never[]));
  const inputSchema = { type: 'object', properties: { n: { type: 'number' } }, required: ['n'] };
  let names = ['one', 'two', 'three', 'four', 'five'];
  let isEndless = false;
  server.setRequestHandler(bridge.ListToolsRequestSchema, ({ params }) => {
    const from = Number(params?.cursor ?? 0);
    if (isEndless) return { tools: [{ name: `t${from}`, inputSchema }], nextCursor: `${from + 1}` };
    const tools = names.slice(from, from + 2).map((name) => ({
      ...{ name, inputSchema },
      ...(name === 'one' && { annotations: { readOnlyHint: true, destructiveHint: true } }),
      ...(name === 'five' && { outputSchema: inputSchema, annotations: { readOnlyHint: true } }),
    }));
    return { tools, ...(from + 2 < names.length && { nextCursor: `${from + 2}` }) };
  });
  const asked: string[] = [];
  server.setRequestHandler(bridge.CallToolRequestSchema, ({ params }) => {
    const name = params?.name ?? '';
    asked.push(name);
    if (!names.includes(name)) throw new Error(`There is no ${name} any more.`);
    return { content: [{ type: 'text', text: name }] };
  });
  const [here, there] = InMemoryTransport.createLinkedPair();
  await server.connect(there);
  const client = await connected(Client, here);
  const tools = await mcpTools(client, { trusted: true });
  checks.equal('paged: all pages', Object.keys(tools), names);
  checks.equal('paged: hints are passed on', tools['one']?.hints, {
    readOnlyHint: true,
    destructiveHint: true,
  });
  const input = { n: 1 };
  const call = (tool: string) => ({ tool, input });
  const observed = await seenOf(tools, [call('one'), call('five'), call('three')]);
  checks.equal('paged: it runs', observed[0], shown('one'));
  checks.holds('paged: a lie about the output', observed[1], 'output schema');
  checks.holds('paged: no hint', observed[2], 'Planned');
  checks.equal('paged: what ran', asked.splice(0).toSorted(), ['five', 'one']);

  names = ['two', 'six'];
  await server.sendToolListChanged();
  const [gone] = await seenOf(tools, [call('one')]);
  checks.holds('paged: a tool that is gone', gone, 'There is no one any more.');
  checks.equal('paged: asked again', Object.keys(await mcpTools(client)), names);
  isEndless = true;
  await checks.refuses('paged: no end', () => mcpTools(client), 'more than 100 pages');
  await client.close();
}

const { url, child } = await overHttp(join(place, 'http.log'));
try {
  const logs = ['stdio-1.log', 'stdio-2.log'].map((name) => join(place, name));
  const { Client, v2 } = bridge;
  const [one = '', two = ''] = logs;
  const server = [everything, 'stdio'];
  const stdio1 = new bridge.StdioClientTransport(...([stdio(one, ...server)] as never[]));
  await everyTool('stdio, client 1', await connected(Client, stdio1), one);
  const stdio2 = new bridge.Stdio2(...([stdio(two, ...server)] as never[]));
  await everyTool('stdio, client 2', await connected(v2.Client, stdio2), two);
  const log = join(place, 'http.log');
  const http1 = new bridge.StreamableHTTPClientTransport(...([url] as never[]));
  await everyTool('HTTP, client 1', await connected(Client, http1), log);
  const http2 = new v2.StreamableHTTPClientTransport(...([url] as never[]));
  await everyTool('HTTP, client 2', await connected(v2.Client, http2), log);
  await folderTools();
  await pagedTools();
} finally {
  const ended = once(child, 'exit');
  child.stdin?.end();
  await ended;
  rmSync(place, { recursive: true });
}
checks.end('MCP');
