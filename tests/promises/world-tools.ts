import { z } from 'zod';
import type { ToolEnvironment, ToolState } from '../../src/environments/index.ts';
import type { AnyCall } from '../../src/environments/tools/state.ts';
import type { JsonValue, Random } from '../../src/index.ts';
import type { Loose } from '../support/loose.ts';
import type { Witnessing } from '../support/witness.ts';

export type State = ToolState<Loose, Loose>;
export type Action = AnyCall;
export type ToolWorld = ToolEnvironment<Loose, Loose, Loose>;

/** What goes wrong with tools by chance. */
export interface Luck {
  readonly random: Random;
  /** Of a thousand runs or undos, how many throw: before they do anything, or after. */
  readonly throwing: number;
  /** Whether mails come to something else than is predicted. */
  readonly isLying: boolean;
}

// Made once: a schema takes longer to make than to use.
const change = z.object({ key: z.string(), value: z.string() });
const keyed = z.object({ key: z.string() });
const valued = z.object({ value: z.string() });
const said = z.object({ text: z.string() });
const nothing = z.object({});
const keys = ['a', 'b', 'c'] as const;

/** Tools that change what a witness sees. */
export function toolsOf(ask: Witnessing, luck?: Luck): (tool: Loose) => Record<string, Loose> {
  const { throwing = 0, isLying = false } = luck ?? {};
  const perhaps = async (act: () => Promise<unknown>): Promise<void> => {
    const isUnlucky = luck !== undefined && luck.random.integer(1000) < throwing;
    const when = isUnlucky ? 1 + luck.random.integer(2) : 0;
    if (when === 1) throw new Error('It broke before.');
    await act();
    if (when === 2) throw new Error('It broke after.');
  };
  return (tool: Loose) => ({
    set: tool({
      input: change,
      effect: 'reversible',
      remember: (_: JsonValue, { key }: Loose) => ask({ op: 'get', key }),
      run: async (_: JsonValue, { key, value }: Loose) => {
        await perhaps(() => ask({ op: 'set', key, value }));
        return value;
      },
      undo: (_: JsonValue, { key }: Loose, { remembered: value }: Loose) =>
        perhaps(() => ask(value === null ? { op: 'remove', key } : { op: 'set', key, value })),
    }),
    add: tool({
      input: valued,
      effect: 'reversible',
      run: async (_: JsonValue, { value }: Loose, { id }: Loose) => {
        await perhaps(() => ask({ op: 'set', key: `items/${id}`, value }));
        return 'added';
      },
      undo: (...[, , , { id }]: Loose[]) =>
        perhaps(() => ask({ op: 'remove', key: `items/${id}` })),
    }),
    get: tool({
      input: keyed,
      effect: 'read',
      run: (_: JsonValue, { key }: Loose) => ask({ op: 'get', key }),
    }),
    list: tool({
      input: nothing,
      effect: 'read',
      run: () => ask({ op: 'list', prefix: 'items/' }),
    }),
    note: tool({
      input: valued,
      effect: 'pure',
      run: (notes: string[], { value }: Loose) => ({
        state: [...notes, value],
        output: notes.length,
      }),
    }),
    mail: tool({
      input: said,
      effect: 'irreversible',
      predict: (notes: string[], { text }: Loose) => ({
        output: isLying ? 'lies' : `sent ${text}`,
        state: [...notes, text],
      }),
      run: async (_: JsonValue, { text }: Loose, { id }: Loose) => {
        await perhaps(() => ask({ op: 'send', id, text }));
        return `sent ${text}`;
      },
    }),
    call: tool({
      input: said,
      effect: 'irreversible',
      run: async (_: JsonValue, { text }: Loose, { id }: Loose) => {
        await perhaps(() => ask({ op: 'send', id, text }));
        return 'called';
      },
    }),
  });
}

/** Some call of these tools. */
export function actionFrom(random: Random): Action {
  const value = `v${random.integer(4)}`;
  const key = keys[random.integer(keys.length)] ?? 'a';
  const text = `m${random.integer(3)}`;
  const all: readonly Action[] = [
    { tool: 'set', input: { key, value } },
    { tool: 'set', input: { key, value } },
    { tool: 'add', input: { value } },
    { tool: 'get', input: { key } },
    { tool: 'list', input: {} },
    { tool: 'note', input: { value } },
    { tool: 'mail', input: { text } },
    { tool: 'call', input: { text } },
  ];
  return all[random.integer(all.length)] as Action;
}

/** Puts something into a world before anybody searches. */
export async function furnish(ask: Witnessing): Promise<void> {
  for (const key of keys.slice(0, 2)) await ask({ op: 'set', key, value: `old ${key}` });
}

/** What calls do to a world that was furnished, done once and by hand. */
export async function byHand(
  ask: Witnessing,
  calls: readonly Pick<Action, 'tool' | 'input'>[],
): Promise<JsonValue> {
  await furnish(ask);
  for (const [place, { tool, input }] of calls.entries()) {
    const { key = '', value = '', text = '' } = input as Record<string, string>;
    if (tool === 'set') await ask({ op: 'set', key, value });
    else if (tool === 'add') await ask({ op: 'set', key: `items/${place}`, value });
    else if (tool === 'mail' || tool === 'call') await ask({ op: 'send', id: String(place), text });
  }
  return ask({ op: 'dump' });
}
