import { counted } from '../base/counted.ts';
import type { Budget, Spend } from '../contracts/spend.ts';
import type { BatchProgress, GenerateProgress } from '../runs/index.ts';
import type { SearchEvent } from '../search/events.ts';
import { StatusLine } from './output.ts';

/** Works with a line on the terminal that tells how far it is, and takes it away at the end. */
export async function withStatus<Result>(
  work: (status: StatusLine) => Promise<Result>,
): Promise<Result> {
  const status = new StatusLine();
  try {
    return await work(status);
  } finally {
    status.clear();
  }
}

/** Where searches share what was bought, what they are charged is more. */
type SharedProgress = GenerateProgress & { readonly bought?: Pick<Spend, 'usd'> };

/** Shows how far a run over many searches is. */
export function shownOn(status: StatusLine): (progress: SharedProgress) => void {
  const started = performance.now();
  let first: SharedProgress | undefined;
  return (progress) => {
    first ??= progress;
    const since = { first, ms: performance.now() - started };
    status.show(() => describeProgress(progress, since));
  };
}

/** The progress of a search, its cost so far, and the time it will take at that rate. */
export function describeSearchProgress(
  { best, spend }: Pick<Extract<SearchEvent, { type: 'simulation-end' }>, 'best' | 'spend'>,
  budget: Budget,
): string {
  const value = best.terminal ? (best.reward ?? best.value) : best.value;
  const limits = Object.entries(budget) as [keyof Spend, number][];
  const share = Math.max(0, ...limits.map(([unit, limit]) => spend[unit] / limit));
  return [
    counted(spend.simulations, 'simulation'),
    counted(spend.calls, 'call'),
    ...(spend.usd > 0 ? [`$${spend.usd.toFixed(4)}`] : []),
    `${(spend.ms / 1000).toFixed(1)} s`,
    // What little was spent tells nothing of the rest.
    ...(share > 0.02 ? [`at most ${duration((spend.ms * (1 - share)) / share)} left`] : []),
    ...(best.depth > 0
      ? [`best so far ${value.toFixed(3)} after ${counted(best.depth, 'step')}`]
      : []),
  ].join(' · ');
}

/** How far it is, how fast, and how long it will take at that rate. */
export function describeProgress(
  { total, done, failed, running, waiting, spend, bought }: SharedProgress,
  { first, ms }: { readonly first: GenerateProgress; readonly ms: number },
): string {
  const settled = done + failed;
  const since = settled - first.done - first.failed;
  const perMs = since / ms;
  const left = perMs > 0 ? (total - settled) / perMs : undefined;
  const width = 16;
  const filled = Math.floor((settled / Math.max(1, total)) * width);
  return [
    `${'█'.repeat(filled)}${'░'.repeat(width - filled)} ${settled}/${total}`,
    ...(failed > 0 ? [`${failed} failed`] : []),
    `${running} under way`,
    ...describeWaiting(waiting),
    `${(perMs * 60_000).toFixed(1)}/min`,
    counted(spend.calls, 'call'),
    ...(spend.usd > 0 ? [dollarsOf(spend, bought)] : []),
    ...(left === undefined ? [] : [`${duration(left)} left`]),
  ].join(' · ');
}

function dollarsOf({ usd }: Pick<Spend, 'usd'>, bought: Pick<Spend, 'usd'> | undefined): string {
  const charged = `$${usd.toFixed(2)}`;
  return bought === undefined ? charged : `charged ${charged}, bought $${bought.usd.toFixed(2)}`;
}

function describeWaiting({ requests, batches }: BatchProgress = nothingWaits): readonly string[] {
  if (batches === 0) return [];
  return [`${counted(requests, 'request')} in ${batches === 1 ? 'a batch' : `${batches} batches`}`];
}

const nothingWaits: BatchProgress = { requests: 0, batches: 0 };

function duration(ms: number): string {
  if (ms < 60_000) return `${Math.ceil(ms / 1000)} s`;
  const minutes = Math.ceil(ms / 60_000);
  return minutes < 60 ? `${minutes} min` : `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
}
