import * as z from 'zod';
import { withoutCredentials } from '../../base/address.ts';
import { expectation } from '../../base/expect.ts';
import { expectOptions } from '../../base/expect-options.ts';
import { sentenceOf } from '../../base/failure.ts';
import type { Environment } from '../../contracts/environment.ts';
import type { JsonValue } from '../../contracts/json.ts';
import type { Seen, World } from '../../contracts/world.ts';
import { fromWorld, type WorldOptions } from './from-world.ts';
import type { Live } from './live.ts';
import { httpWire, programWire, type Wire } from './remote-wire.ts';
import type { WorldState } from './world-state.ts';

/** Options of {@link remoteEnvironment}. */
export type RemoteOptions<Action, Observation = JsonValue> = Omit<
  WorldOptions<Action, Observation>,
  'instances'
> & {
  /** The maximum number of instances at a time; a program is started once for each. @defaultValue 1 */
  readonly instances?: number;
  /** The task, sent to each instance before it begins. @defaultValue null */
  readonly task?: JsonValue;
} & (
    | {
        /** A program, run without a shell, that communicates over standard input and output. */
        readonly command: readonly string[];
        /** The working folder of the program. @defaultValue that of this process */
        readonly cwd?: string;
      }
    | {
        /** The address of an HTTP server. */
        readonly url: string;
        /** Sends requests, for servers that need headers. @defaultValue the platform's */
        readonly fetch?: typeof fetch;
      }
  );

/**
 * A world in another process or on another machine as an environment, such as a Gym-style one in Python.
 *
 * Each request is a line of JSON, `{"id", "method", "params"}`, answered by a line, `{"id", "result"}` or `{"id",
 * "error": {"message"}}`; over HTTP it is posted. A line has at most 16 MB. The protocol is in
 * `docs/guides/remote-environments.md`; `python/espalier_environment.py` in this package implements the Python side.
 *
 * A server's output is data. If it times out, exits or breaks the protocol, the step fails and the server is closed.
 *
 * @typeParam Observation - The server's observation: JSON that is not inspected.
 */
export function remoteEnvironment<Action = any, Observation = JsonValue>(
  options: RemoteOptions<Action, Observation>,
): Live<Environment<WorldState<Action, Observation>, Action>> {
  const known = 'name snapshots timeoutMs restores notation answer instances task';
  expectOptions('remoteEnvironment', options, `${known} url fetch command cwd`);
  const { instances = 1, task = null, ...rest } = options;
  if ('url' in rest) {
    expectOptions('remoteEnvironment', options, `${known} url fetch`);
    const { url, fetch: ask = fetch, ...others } = rest;
    expectAddress(url);
    const open = (signal: AbortSignal) =>
      remoteWorld<Action, Observation>(httpWire(url, ask), task, signal);
    return fromWorld(open, { ...others, instances });
  }
  expectOptions('remoteEnvironment', options, `${known} command cwd`);
  const { command, cwd, ...others } = rest;
  if (!Array.isArray(command) || command.length === 0) {
    throw expectation(
      'command',
      'a program and its arguments, such as `["python3", "world.py"]`',
      command,
    );
  }
  const open = (signal: AbortSignal) =>
    remoteWorld<Action, Observation>(programWire(command, cwd), task, signal);
  return fromWorld(open, { ...others, instances });
}

function expectAddress(url: string): void {
  const { protocol = '', username, password, hash } = URL.canParse(url) ? new URL(url) : {};
  const shown = typeof url === 'string' ? withoutCredentials(url) : url;
  if (!/^https?:$/.test(protocol)) throw expectation('url', 'an address of HTTP', shown);
  // The part after a `#` is never sent: it would be the rest of a password.
  if (!username && !password && hash?.includes('@') !== true) return;
  throw expectation(
    'url',
    'an address without a user and a password, which `fetch` can send as headers',
    shown,
  );
}

const hello = z.looseObject({ forks: z.boolean().default(false) });
const handled = z.looseObject({ handle: z.string() });
const sight = z.object({
  observation: z.json(),
  reward: z.number().nullish(),
  cost: z.number().nullish(),
  terminal: z.boolean().nullish(),
  fingerprint: z.string().nullish(),
});
const begun = z.looseObject({ handle: z.string(), seen: sight });

/** A world at a server, with its handle. */
async function remoteWorld<Action, Observation>(
  wire: Wire,
  task: JsonValue,
  signal: AbortSignal,
): Promise<World<Action, Observation>> {
  const ask = async <Result>(
    schema: z.ZodType<Result>,
    method: string,
    params: { readonly [name: string]: JsonValue },
  ): Promise<Result> => {
    const read = schema.safeParse(await wire.ask(method, params));
    if (read.success) return read.data;
    throw new Error(
      `The server's answer to \`${method}\` was not as expected: ${sentenceOf(z.prettifyError(read.error))}`,
    );
  };
  const forks = await greeted();
  let handle: string | undefined;
  let fingerprint: string | undefined;
  const see = (told: z.infer<typeof sight>): Seen<Observation> => {
    fingerprint = told.fingerprint ?? undefined;
    const { observation, reward, cost, terminal } = told;
    return {
      observation: observation as Observation,
      ...(reward != null && { reward }),
      ...(cost != null && { cost }),
      ...(terminal === true && { terminal }),
    };
  };
  const own = (): { readonly handle: string } => ({ handle: handle ?? '' });
  return {
    async reset() {
      if (handle !== undefined) await ask(z.unknown(), 'close', own());
      const start = await ask(begun, 'reset', { task });
      handle = start.handle;
      return see(start.seen);
    },
    act: async (action) => see(await ask(sight, 'step', { ...own(), action: action as JsonValue })),
    /** Present only if the server reports a fingerprint. */
    get fingerprint(): () => string {
      const told = fingerprint;
      return (told === undefined ? undefined : () => told) as () => string;
    },
    ...(forks && {
      async snapshot(): Promise<JsonValue> {
        const { handle: from } = await ask(handled, 'fork', own());
        return { from, fingerprint: fingerprint ?? null };
      },
      async restore(kept: JsonValue) {
        const snapshot = kept as { readonly from: string; readonly fingerprint: string | null };
        await ask(z.unknown(), 'restore', { ...own(), from: snapshot.from });
        fingerprint = snapshot.fingerprint ?? undefined;
      },
      async forget(kept: JsonValue) {
        await ask(z.unknown(), 'close', { handle: (kept as { readonly from: string }).from });
      },
    }),
    async close() {
      // A server over HTTP outlives its worlds.
      if (handle !== undefined) void wire.ask('close', own(), true).catch(() => {});
      await wire.close();
    },
  };

  async function greeted(): Promise<boolean> {
    const close = () => void wire.close();
    signal.addEventListener('abort', close, { once: true });
    try {
      return (await ask(hello, 'hello', { version: 1, task })).forks;
    } catch (error) {
      await wire.close();
      throw error;
    } finally {
      signal.removeEventListener('abort', close);
    }
  }
}
