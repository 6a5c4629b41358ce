import { counted } from '../base/counted.ts';
import type { SearchNode } from '../contracts/node.ts';
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

/** Shows how far a search is, as its simulations and its calls end. */
export function searchShownOn(status: StatusLine, budget: Budget): (event: SearchEvent) => void {
  const started = performance.now();
  let spend: Spend = { simulations: 0, nodes: 0, calls: 0, tokens: 0, usd: 0, ms: 0 };
  let best: SearchNode | undefined;
  return (event) => {
    if (event.type === 'simulation-end') {
      ({ best, spend } = event);
    } else if (event.type === 'call-end') {
      const { calls, tokens, usd } = event.call.spend;
      spend = {
        ...spend,
        calls: spend.calls + calls,
        tokens: spend.tokens + tokens,
        usd: spend.usd + usd,
        ms: performance.now() - started,
      };
    } else {
      return;
    }
    status.show(() => describeSearchProgress({ best, spend }, budget));
  };
}

/** The progress of a search, its cost so far, and the time it will take at that rate. */
export function describeSearchProgress(
  { best, spend }: { readonly best: SearchNode | undefined; readonly spend: Spend },
  budget: Budget,
): string {
  const limits = Object.entries(budget) as [keyof Spend, number][];
  const share = Math.max(0, ...limits.map(([unit, limit]) => spend[unit] / limit));
  return [
    counted(spend.simulations, 'simulation'),
    counted(spend.calls, 'call'),
    ...(spend.usd > 0 ? [`$${spend.usd.toFixed(4)}`] : []),
    `${(spend.ms / 1000).toFixed(1)} s`,
    // What little was spent tells nothing of the rest.
    ...(share > 0.02 ? [`at most ${duration((spend.ms * (1 - share)) / share)} left`] : []),
    ...(best !== undefined && best.depth > 0 ? [describeBest(best)] : []),
  ].join(' · ');
}

function describeBest({ terminal, reward, value, depth }: SearchNode): string {
  const worth = terminal ? (reward ?? value) : value;
  return `best so far ${worth.toFixed(3)} after ${counted(depth, 'step')}`;
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
  const width = 10;
  const filled = Math.floor((settled / Math.max(1, total)) * width);
  return [
    `${'█'.repeat(filled)}${'░'.repeat(width - filled)} ${settled}/${total}`,
    // A narrow terminal shows only the beginning.
    ...(left === undefined ? [] : [`${duration(left)} left`]),
    ...(failed > 0 ? [`${failed} failed`] : []),
    `${running} under way`,
    ...describeWaiting(waiting),
    `${(perMs * 60_000).toFixed(1)}/min`,
    counted(spend.calls, 'call'),
    ...(spend.usd > 0 ? [dollarsOf(spend, bought)] : []),
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

/** The time left of equal parts at their rate so far, as the end of a line; empty while none is done. */
export function timeLeft(startedAt: number): (done: number, total: number) => string {
  return (done, total) => {
    const left = ((performance.now() - startedAt) * (total - done)) / done;
    return Number.isFinite(left) && left > 0 ? ` · ${duration(left)} left` : '';
  };
}

function duration(ms: number): string {
  if (ms < 60_000) return `${Math.ceil(ms / 1000)} s`;
  const minutes = Math.ceil(ms / 60_000);
  return minutes < 60 ? `${minutes} min` : `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
}
