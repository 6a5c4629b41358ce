import type { Emulator, EmulatorOptions } from '../../src/testing/index.ts';
import { opened } from './emulator-support.ts';

export const start: number = Date.UTC(2026, 10, 22, 12);
export const hour: number = 3_600_000;

/** What is asked comes back, with the index of the sample. */
const echo: NonNullable<EmulatorOptions['answer']> = ({ messages, sample }) =>
  `${messages.at(-1)?.content} ${sample}`;

/** A server whose clock stands still until it is moved. */
export async function timed({ answer = echo, ...options }: EmulatorOptions): Promise<{
  readonly clock: { ms: number };
  readonly server: Emulator;
}> {
  const clock = { ms: start };
  const server = await opened({ answer, now: () => clock.ms, ...options });
  return { clock, server };
}
