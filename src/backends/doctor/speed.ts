import type { Speed } from './examination.ts';
import type { Probe } from './probe.ts';

const messages = [{ role: 'user', content: 'Describe a garden in spring.' }] as const;

/** The speed of a model with `concurrency` requests in flight, each of at most 64 tokens. */
export async function speedAt(concurrency: number, probe: Probe): Promise<Speed> {
  const startedAt = probe.clock.now();
  const answers = await Promise.all(
    Array.from({ length: concurrency }, async (_, index) => {
      const request = probe.heated({ messages, maxTokens: 64, offset: index });
      const { usage } = await probe.ask(request);
      return { ms: probe.clock.now() - startedAt, tokens: usage.outputTokens };
    }),
  );
  const seconds = (probe.clock.now() - startedAt) / 1000;
  const times = answers.map(({ ms }) => ms).toSorted((a, b) => a - b);
  const middle = times.length / 2;
  const latencyMs = ((times[Math.ceil(middle) - 1] ?? 0) + (times[Math.floor(middle)] ?? 0)) / 2;
  const tokens = answers.reduce<number | undefined>(
    (sum, answer) =>
      sum === undefined || answer.tokens === undefined ? undefined : sum + answer.tokens,
    0,
  );
  return {
    concurrency,
    latencyMs,
    ...(tokens !== undefined && seconds > 0 && { tokensPerSecond: tokens / seconds }),
  };
}
