/**
 * Tools of the AI SDK, all three majors, and of real MCP servers, executed through searches. The packages come from the
 * registry, into a folder of their own; where it cannot be reached, this is skipped.
 */
import { spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../..', import.meta.url));
const folder = join(root, '.tmp/agents');
const node = `node-${process.platform}-${process.arch}`;

/** What is installed beside each other, what exports it, and what it is tried with. */
interface Suite {
  readonly name: string;
  readonly packages: readonly string[];
  readonly bridge: string;
  readonly program: string;
  readonly types?: string;
}

function aiSdk(major: number, ...packages: readonly string[]): Suite {
  const bridge = `import * as utils from '@ai-sdk/provider-utils';
import * as ai from 'ai';
import * as z from 'zod';
import * as z3 from 'zod/v3';
export { ai, utils, z, z3 };
`;
  // A tool keeps the type of its input.
  const types = `import { aiSdkTools } from 'espalier/agents';
import type { Tool } from 'espalier/environments';
import { tool } from 'ai';
import * as z from 'zod';

const look = tool({
  inputSchema: z.object({ city: z.string() }),
  execute: async ({ city }, { toolCallId, abortSignal }) => [city, toolCallId, abortSignal?.aborted],
});
const tools = aiSdkTools({ look }, { effects: { look: 'read' }, major: ${major} });
type Equal<One, Other> =
  (<T>() => T extends One ? 1 : 2) extends <T>() => T extends Other ? 1 : 2 ? true : false;
const isSame: Equal<typeof tools.look, Tool<{ city: string }>> = true;
// @ts-expect-error: an effect is told of each
aiSdkTools({ look }, { effects: {} });
export { isSame };
`;
  const program = 'ai-sdk.ts';
  return { name: `ai-${major}`, packages: [`ai@${major}`, ...packages], bridge, program, types };
}

const suites: readonly Suite[] = [
  aiSdk(5, 'zod@4'),
  aiSdk(6, 'zod@4'),
  // It needs Node 22.
  aiSdk(7, 'zod@4', `${node}@22`),
  {
    name: 'mcp',
    packages: ['sdk@1', 'client@2', 'server-everything', 'server-filesystem'].map(
      (name) => `@modelcontextprotocol/${name}`,
    ),
    bridge: `export * as v2 from '@modelcontextprotocol/client';
export { StdioClientTransport as Stdio2 } from '@modelcontextprotocol/client/stdio';
export { Client } from '@modelcontextprotocol/sdk/client/index.js';
export { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
export { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
export { InMemoryTransport } from '@modelcontextprotocol/sdk/inMemory.js';
export { Server } from '@modelcontextprotocol/sdk/server/index.js';
export { CallToolRequestSchema, ListToolsRequestSchema } from '@modelcontextprotocol/sdk/types.js';
`,
    program: 'mcp.ts',
  },
];

/** Runs a program. Returns what it wrote, or `undefined` where it failed. */
function run(command: string, args: readonly string[], cwd = root): string | undefined {
  const { status, stdout, stderr } = spawnSync(command, args, {
    ...{ cwd, encoding: 'utf8', timeout: 300_000 },
  });
  if (status !== 0) process.stdout.write(`${stdout}${stderr}`);
  return status === 0 ? stdout : undefined;
}

/** Installs a suite. Returns whether it could. */
function installed({ name, packages, bridge, types }: Suite): boolean {
  const place = join(folder, name);
  mkdirSync(place, { recursive: true });
  writeFileSync(join(place, 'package.json'), '{ "private": true, "type": "module" }\n');
  writeFileSync(join(place, 'bridge.js'), bridge);
  if (types !== undefined) writeFileSync(join(place, 'types.ts'), types);
  // `npm run` hands the settings of this project on, and one suite brings a Node of its own.
  const free = ['--engine-strict=false', '--ignore-scripts', '--fetch-retries=1'];
  const quiet = ['--loglevel=error', '--no-audit', '--no-fund', ...free];
  return run('npm', ['install', ...quiet, ...packages], place) !== undefined;
}

/** What was installed, with its version. */
function versions({ name, packages }: Suite): string {
  const told = packages.map((one) => {
    const bare = one.replace(/(?<=.)@[^@/]*$/, '');
    const path = join(folder, name, 'node_modules', bare, 'package.json');
    const { version } = JSON.parse(readFileSync(path, 'utf8')) as { readonly version: string };
    return `${bare} ${version}`;
  });
  return told.join(', ');
}

/** The types of the package as the majors see them. */
function typed(name: string): boolean {
  const place = join(folder, name);
  const compilerOptions = {
    ...{ noEmit: true, strict: true, exactOptionalPropertyTypes: true, skipLibCheck: true },
    ...{ target: 'es2023', module: 'nodenext', customConditions: ['espalier-source'] },
    ...{ allowImportingTsExtensions: true, types: ['node'] },
    typeRoots: [join(root, 'node_modules/@types')],
    paths: { 'espalier/*': [`${root}src/*/index.ts`] },
  };
  writeFileSync(
    join(place, 'tsconfig.json'),
    JSON.stringify({ compilerOptions, files: ['types.ts'] }),
  );
  return run('npx', ['tsc', '-p', join(place, 'tsconfig.json')]) !== undefined;
}

const since = performance.now();
if (suites.every(installed)) {
  for (const suite of suites) {
    const { name, program, packages, types } = suite;
    process.stdout.write(`${versions(suite)}\n`);
    const place = join(folder, name);
    const own = join(place, 'node_modules', node, 'bin/node');
    const isOwn = packages.some((one) => one.startsWith(node));
    const file = join(root, 'tests/verify', program);
    const [, major = ''] = name.split('-');
    const args = [...(major === '' ? [] : [major]), join(place, 'bridge.js')];
    const told = run(isOwn ? own : process.execPath, ['--import', 'tsx', file, ...args]);
    if (told === undefined) process.exitCode = 1;
    else process.stdout.write(told);
    if (types === undefined) continue;
    const isTyped = typed(name);
    process.stdout.write(`${name}: its types ${isTyped ? 'hold' : 'FAILED'}\n`);
    if (!isTyped) process.exitCode = 1;
  }
  const seconds = ((performance.now() - since) / 1_000).toFixed(0);
  process.stdout.write(`${seconds} s\n`);
} else {
  process.stdout.write(
    'Skipped: the packages `ai`, `@modelcontextprotocol/…` and `zod` could not be installed from the registry.\n',
  );
}
