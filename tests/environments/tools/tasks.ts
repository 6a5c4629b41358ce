/** Tasks with tools, and witnesses of what the tools did outside of states. */
import * as z from 'zod';
import {
  type Tool,
  type ToolAction,
  type ToolEnvironment,
  toolEnvironment,
} from '../../../src/environments/index.ts';
import type { JsonValue, Workspace } from '../../../src/index.ts';

/** Counts to a goal with a pure tool that takes a default. */
export const counter = (): ToolEnvironment<
  { n: number },
  ToolAction<{ add: Tool<{ by?: number | undefined }>; fail: Tool<Record<string, never>> }>,
  string
> =>
  toolEnvironment(
    { n: 0 },
    {
      name: 'counter',
      task: 'Count to 3.',
      tools: (tool) => ({
        add: tool({
          description: 'Adds.',
          input: z.object({ by: z.int().min(1).max(2).default(1) }),
          effect: 'pure',
          run: ({ n }, { by }) => ({ state: { n: n + by }, output: n + by }),
        }),
        fail: tool({
          input: z.object({}),
          effect: 'pure',
          run: (): { state: { n: number } } => {
            throw new Error('It never works.');
          },
        }),
      }),
      done: ({ n }) => (n === 3 ? 0.5 : n > 3),
    },
  );

/** A shop outside: prices are read, orders are predicted, mails are not. */
export function shop(): {
  readonly environment: ToolEnvironment<
    { budget: number; ordered: readonly string[] },
    ToolAction<
      {
        price: Tool<{ item: string }>;
        order: Tool<{ item: string }>;
        mail: Tool<{ to: string }>;
      },
      { bought: string[] }
    >,
    { bought: string[] }
  >;
  readonly log: string[];
} {
  const log: string[] = [];
  const environment = toolEnvironment(
    { budget: 10, ordered: [] as readonly string[] },
    {
      name: 'shop',
      task: [
        { role: 'system', content: 'You buy for an office.' },
        { role: 'user', content: 'Buy tea.' },
      ],
      answer: z.object({ bought: z.array(z.string()) }),
      tools: (tool) => ({
        price: tool({
          input: z.object({ item: z.string() }),
          effect: 'read',
          run(_db, { item }) {
            log.push(`price ${item}`);
            return { item, price: item.length };
          },
        }),
        order: tool({
          input: z.object({ item: z.string() }),
          effect: 'irreversible',
          run: (_db, { item }) => void log.push(`order ${item}`),
          predict({ budget, ordered }, { item }) {
            const state = { budget: budget - item.length, ordered: [...ordered, item] };
            return { state, output: `ordered ${item}` };
          },
        }),
        mail: tool({
          input: z.object({ to: z.string() }),
          effect: 'irreversible',
          run: (_db, { to }) => void log.push(`mail ${to}`),
        }),
      }),
      permit: (call, { budget }) =>
        call.tool !== 'order' || call.input.item.length <= budget || 'That is too dear.',
    },
  );
  return { environment, log };
}

/** Files in memory, which count how often they are opened and written. */
export interface Files extends Workspace {
  readonly all: Map<string, string>;
}

/** Writes files in a workspace that is brought back by doing all again. */
export function files({ drift = false }: { readonly drift?: boolean } = {}): {
  readonly environment: ToolEnvironment<
    null,
    ToolAction<{ write: Tool<{ path: 'a' | 'b'; text: string }>; read: Tool<{ path: string }> }>,
    string
  >;
  readonly counts: { opened: number; writes: number; closed: number };
} {
  const counts = { opened: 0, writes: 0, closed: 0 };
  const open = (): Files => {
    counts.opened += 1;
    const all = new Map<string, string>();
    const mark = drift ? counts.opened : 0;
    return {
      all,
      reset: () => all.clear(),
      fingerprint: () => JSON.stringify([[...all].sort(), mark]),
      close() {
        counts.closed += 1;
      },
    };
  };
  const environment = toolEnvironment(open, {
    name: 'files',
    task: 'Write 2 to b, and 1 to a.',
    instances: 2,
    tools: (tool) => ({
      write: tool({
        input: z.object({ path: z.enum(['a', 'b']), text: z.string() }),
        effect: 'reversible',
        run({ all }, { path, text }) {
          counts.writes += 1;
          all.set(path, text);
          if (text === 'bad') throw new Error('The disk is full.');
          return `${text.length} bytes`;
        },
      }),
      read: tool({
        input: z.object({ path: z.string() }),
        effect: 'read',
        run({ all }, { path }) {
          const text = all.get(path);
          if (text === undefined) throw new Error(`There is no file ${path}.`);
          return text;
        },
      }),
    }),
    done: ({ all }) => all.get('a') === '1' && all.get('b') === '2',
  });
  return { environment, counts };
}

/** A world that is only looked at, with a text as its answer. */
export const lookUp = (): ToolEnvironment<
  null,
  ToolAction<{ temperature: Tool<{ city: 'Oslo' | 'Lima' }> }>,
  string
> =>
  toolEnvironment(null, {
    name: 'look-up',
    task: 'Which is warmer, Oslo or Lima?',
    tools: (tool) => ({
      temperature: tool({
        input: z.object({ city: z.enum(['Oslo', 'Lima']) }),
        effect: 'read',
        run: (_db, { city }): JsonValue => ({ celsius: city === 'Oslo' ? 4 : 22 }),
      }),
    }),
  });
