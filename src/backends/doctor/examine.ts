import { systemClock } from '../../base/clock.ts';
import type { Clock } from '../../contracts/clock.ts';
import type { LanguageModel } from '../../contracts/language-model.ts';
import { adviceFor } from './advice.ts';
import { checks } from './checks.ts';
import type { Examination, Finding, ServerFacts, Speed } from './examination.ts';
import { finding, Probe } from './probe.ts';
import { type ServerFactsOptions, serverFacts } from './server-facts.ts';
import { speedAt } from './speed.ts';

/** Options of {@link examine}. */
export interface ExamineOptions extends ServerFactsOptions {
  /** @defaultValue the system's */
  readonly clock?: Clock;
  /** Called with each finding as it is made. */
  readonly onFinding?: (
    finding: Finding,
    progress: Readonly<Record<'done' | 'total', number>>,
  ) => void;
  /** The total timeout, in milliseconds from 1 up. Anything not probed by then is unknown. @defaultValue 60 000 */
  readonly timeoutMs?: number;
}

/**
 * Probes a live model: whether it answers, what it supports, how fast it is, and how espalier will use it. It sends
 * about thirty short requests, at the model's usual price.
 */
export async function examine(
  model: LanguageModel,
  options: ExamineOptions = {},
): Promise<Examination> {
  const { signal = new AbortController().signal, clock = systemClock, onFinding } = options;
  const { timeoutMs = 60_000 } = options;
  const probe = new Probe(model, { clock, signal, timeoutMs });
  let server: ServerFacts | undefined;
  try {
    server = await serverFacts(model, { ...options, signal: probe.over });
    await probe.ask({ messages: [{ role: 'user', content: 'Say hello.' }] });
  } catch (error) {
    signal.throwIfAborted();
    const said = error instanceof Error ? error.message : String(error);
    const failure = probe.over.aborted
      ? `It did not answer within ${timeoutMs / 1000} s. Look at its load, or ask it for less thought.`
      : said;
    const nothing = { findings: [], speed: [], warnings: [], advice: [] };
    return {
      model: nameOf(model, server),
      reachable: false,
      failure,
      ...(server && { server }),
      ...nothing,
    };
  }
  const findings: Finding[] = [];
  for (const [title, check] of Object.entries(checks)) {
    const found = await finding(title, check, probe);
    findings.push(found);
    onFinding?.(found, { done: findings.length, total: Object.keys(checks).length });
  }
  const speed = await speedsOf(probe);
  return {
    model: nameOf(model, server),
    reachable: true,
    ...(server && { server }),
    findings,
    speed,
    warnings: probe.warnings,
    advice: adviceFor(model, findings),
  };
}

/** The name of a model. One that was not named is the first that its server lists. */
function nameOf({ provider, modelId }: LanguageModel, server: ServerFacts | undefined): string {
  const [first, ...others] = server?.models ?? [];
  if (modelId !== unnamed || first === unnamed || others.includes(unnamed)) {
    return `${provider}:${modelId}`;
  }
  return first === undefined ? provider : `${provider}:${first}`;
}

/** The `modelId` of a model that was not named. */
const unnamed = 'default';

/** How quickly it answers; only the parts for which there is time. */
async function speedsOf(probe: Probe): Promise<Examination['speed']> {
  const speeds: Speed[] = [];
  try {
    for (const concurrency of [1, 8]) speeds.push(await speedAt(concurrency, probe));
  } catch (error) {
    if (probe.signal.aborted || !probe.over.aborted) throw error;
  }
  return speeds;
}
