import { withDeadline } from '../base/deadline.ts';
import { EspalierError } from '../base/errors.ts';
import {
  describeValue,
  expectation,
  expectBoolean,
  expectInteger,
  expectMethods,
  expectObject,
  gotten,
} from '../base/expect.ts';
import { expectOptions } from '../base/expect-options.ts';
import { isError, messageOf, sentenceOf } from '../base/failure.ts';
import { isPlainObject } from '../base/json.ts';
import type { JsonValue } from '../contracts/json.ts';
import type { ActCall } from '../contracts/world.ts';
import type { ListedTools, Tool } from '../environments/tools/tool.ts';
import { adapted, readSchema, type ToldEffect, toldBytes } from './adapted.ts';

/** A client of an MCP server, version 1 or 2 of its SDK, structurally typed. */
export interface McpClient<Params = any, Other = any> {
  /** Lists the tools of the server, one page at a time. */
  listTools(params?: Params, ...others: Other[]): Promise<unknown>;
  /** Calls a tool. */
  callTool(params: Params, ...others: Other[]): Promise<unknown>;
}

/** Options of {@link mcpTools}. */
export interface McpToolsOptions<Prefix extends string = string> {
  /**
   * Whether to trust the server's hints: tools with `readOnlyHint` then have the effect `read`.
   *
   * @defaultValue `false`
   */
  readonly trusted?: boolean;
  /** The effects of tools, by their names at the server. @defaultValue irreversible, unless known to be `read` */
  readonly effects?: Readonly<Record<string, ToldEffect>>;
  /**
   * A prefix for their names, so that names of several servers do not collide, and action types distinguish their
   * calls: letters, digits, `_` and `-`.
   *
   * @defaultValue nothing
   */
  readonly prefix?: Prefix;
  /** The timeout of one call, or of one page of the list, in milliseconds. @defaultValue 30 000 */
  readonly timeoutMs?: number;
}

interface McpTool {
  readonly name: string;
  readonly description?: unknown;
  readonly inputSchema?: unknown;
  readonly annotations?: unknown;
}

/** The longest name of a tool that models accept. */
const longestName = 64;

/** More pages than any server has. */
const mostPages = 100;

/**
 * Converts the tools of an MCP server for a `toolEnvironment`.
 *
 * Hints count only if the server is trusted; other tools are irreversible. All hints are passed on as `hints`. The list
 * is a snapshot: call this again when the server reports a change. Characters of names that models refuse become `_`; if
 * two names become the same, one gets a number, such as `a_b_2`.
 *
 * @throws EspalierError `usage` if an effect names an unknown tool, two tools have the same name at the server, or the list is endless or
 * times out.
 */
export async function mcpTools<const Prefix extends string = ''>(
  client: McpClient,
  options: McpToolsOptions<Prefix> = {},
): Promise<ListedTools<Prefix>> {
  expectMethods('client', client, ['listTools', 'callTool']);
  expectOptions('mcpTools', options, 'trusted effects prefix timeoutMs');
  const { trusted = false, effects = {}, prefix = '', timeoutMs = 30_000 } = options;
  expectBoolean('trusted', trusted);
  expectObject('effects', effects);
  if (!/^[\w-]*$/.test(prefix)) {
    throw expectation('prefix', 'letters, digits, `_` and `-`', prefix);
  }
  expectInteger('timeoutMs', timeoutMs, { min: 1 });
  const tools = await listed(client, timeoutMs);
  const missing = Object.keys(effects).find((name) => tools.every((tool) => tool.name !== name));
  if (missing !== undefined) {
    const names = tools.map(({ name }) => name).join(', ');
    throw expectation('effects', `tools that the server has (${names})`, missing);
  }
  const made = new Map<string, Tool>();
  const names = namesOf(tools.map((tool) => `${prefix}${tool.name}`));
  for (const [index, tool] of tools.entries()) {
    const name = names[index] ?? '';
    if (made.has(name)) throw expectation('tools', `no two tools named \`${name}\``, tool.name);
    const told = Object.hasOwn(effects, tool.name) ? effects[tool.name] : undefined;
    const from = { ...foreign(client, tool), timeoutMs };
    made.set(name, adapted(name, told ?? effectOf(tool, trusted), from));
  }
  return Object.fromEntries(made);
}

/** Names that a model accepts. Two that would become the same are numbered: `a.b` beside `a_b` becomes `a_b_2`. */
function namesOf(told: readonly string[]): readonly string[] {
  const taken = new Set(told);
  return told.map((own) => {
    const base = own.replace(/[^\w-]/g, '_').slice(0, longestName);
    let name = base;
    for (let number = 2; name !== own && taken.has(name); number++) {
      const suffix = `_${number}`;
      name = `${base.slice(0, longestName - suffix.length)}${suffix}`;
    }
    taken.add(name);
    return name;
  });
}

async function listed(client: McpClient, timeoutMs: number): Promise<readonly McpTool[]> {
  const tools: McpTool[] = [];
  let cursor: unknown;
  for (let page = 0; page < mostPages; page++) {
    const answer = await pageOf(client, cursor, timeoutMs);
    const { tools: found, nextCursor } = Object(answer) as Readonly<Record<string, unknown>>;
    if (!Array.isArray(found)) {
      const wanted = '`listTools` with `{ tools }`, a list of tools that each have a name';
      throw wrongAnswer(client, wanted, found === undefined ? answer : found);
    }
    const nameless = found.findIndex((tool) => !isNamed(tool));
    if (nameless !== -1) {
      const wanted = `\`listTools\` with a \`name\` in \`tools[${nameless}]\``;
      throw wrongAnswer(client, wanted, found[nameless]);
    }
    tools.push(...found);
    // Some servers return an empty cursor with the last page.
    if (nextCursor === undefined || nextCursor === null || nextCursor === '') return tools;
    if (nextCursor === cursor) throw endless('gives the same cursor twice');
    cursor = nextCursor;
  }
  throw endless(`lists its tools on more than ${mostPages} pages`);
}

/** The error for a server that broke the protocol. It is named as its client knows it, if it does. */
function wrongAnswer(client: McpClient, wanted: string, got: unknown): EspalierError {
  const { getServerVersion: ask } = client as { readonly getServerVersion?: () => unknown };
  const { name } = Object(typeof ask === 'function' ? ask.call(client) : undefined);
  const server = typeof name === 'string' ? `the server ${describeValue(name)}` : 'the server';
  const fields = Object.keys(Object(got)).slice(0, 8).map(describeValue).join(', ');
  const told = fields === '' ? 'got an object without fields.' : `got an object with ${fields}.`;
  const message = `Expected ${server} to answer ${wanted}, ${isPlainObject(got) ? told : gotten(got)}`;
  return new EspalierError('usage', message);
}

function endless(how: string): EspalierError {
  const message = `The server ${how}, so the list has no end. Ask its operator.`;
  return new EspalierError('usage', message);
}

async function pageOf(client: McpClient, cursor: unknown, timeoutMs: number): Promise<unknown> {
  const { signal } = new AbortController();
  let during: AbortSignal | undefined;
  const message = `The server did not list its tools within ${timeoutMs} ms. See whether it runs, or give it a longer \`timeoutMs\`.`;
  try {
    return await withDeadline(signal, timeoutMs, async (limited) => {
      during = limited;
      return client.listTools(cursor === undefined ? undefined : { cursor }, { signal: limited });
    });
  } catch (error) {
    const reason = isError(error) && error.message !== '' ? sentenceOf(messageOf(error)) : '';
    const why = reason === '' ? `, and threw ${describeValue(error)}.` : `: ${reason}`;
    const told =
      during?.aborted === true
        ? message
        : `The server did not list its tools${why} See whether it runs.`;
    throw new EspalierError('usage', told, { cause: error });
  }
}

function isNamed(tool: unknown): tool is McpTool {
  return isPlainObject(tool) && typeof tool['name'] === 'string' && tool['name'] !== '';
}

function effectOf({ annotations }: McpTool, trusted: boolean): ToldEffect {
  const isRead = isPlainObject(annotations) && annotations['readOnlyHint'] === true;
  return trusted && isRead ? 'read' : 'irreversible';
}

function foreign(client: McpClient, tool: McpTool): Parameters<typeof adapted>[2] {
  const { name, description, inputSchema, annotations } = tool;
  const told = isPlainObject(inputSchema) ? { ...inputSchema, type: 'object' } : undefined;
  return {
    ...readSchema(told),
    description: typeof description === 'string' ? description : undefined,
    hints: isPlainObject(annotations)
      ? (annotations as Readonly<Record<string, JsonValue>>)
      : undefined,
    run: async (input, call) => {
      const result = await asked(client, { name, arguments: input }, call);
      const got = isPlainObject(result) ? fromOtherVersions(name, result) : {};
      const { content } = got;
      if (Array.isArray(content) && content.every(isPlainObject)) return outputOf(got);
      const wanted = `the call of \`${name}\` with \`{ content }\`, a list of parts`;
      throw wrongAnswer(client, wanted, content === undefined ? result : content);
    },
  };
}

/** Version 1 of the SDK takes a result schema as the second of three arguments. */
function asked(client: McpClient, params: object, { signal }: ActCall): Promise<unknown> {
  const options = { signal };
  return client.callTool.length > 1
    ? client.callTool(params, options)
    : client.callTool(params, undefined, options);
}

/**
 * A result with its `content`, if other fields stand for it. A client of version 1 adds an empty one to any answer, and
 * the first protocol had `toolResult` instead.
 *
 * @throws if the server has only started a task.
 */
function fromOtherVersions(
  name: string,
  result: Readonly<Record<string, unknown>>,
): Readonly<Record<string, unknown>> {
  const { content = [], structuredContent, isError, task, toolResult } = result;
  const isEmpty = Array.isArray(content) && content.length === 0;
  if (!isEmpty || structuredContent !== undefined || isError === true) {
    return { ...result, content };
  }
  if (isPlainObject(task)) {
    const { taskId, status } = task;
    const message = `The server has started a task for the call of \`${name}\` (${describeValue(taskId)}, status ${describeValue(status)}) instead of answering it, so its outcome is not known yet. Ask the server about the task, or use a client that waits for it.`;
    throw new Error(message);
  }
  return toolResult === undefined ? result : { content, structuredContent: toolResult };
}

function outputOf(result: Readonly<Record<string, unknown>>): unknown {
  const { content, structuredContent, isError } = result;
  const parts = Array.isArray(content) ? content.map(partText) : [];
  if (isError === true) throw new Error(parts.join('\n') || 'The server says that it failed.');
  return structuredContent ?? parts.join('\n');
}

function partText(part: unknown): string {
  const { type, text, mimeType, data, resource } = part as Readonly<Record<string, unknown>>;
  if (type === 'text') return String(text);
  if (type === 'image' || type === 'audio') return toldBytes(String(mimeType ?? type), data);
  const inner = resource as Readonly<Record<string, unknown>> | undefined;
  if (typeof inner?.['text'] === 'string') return inner['text'];
  const { blob, uri, mimeType: kind = 'resource' } = inner ?? {};
  return blob === undefined ? JSON.stringify(part) : toldBytes(`${kind} at ${uri}`, blob);
}
