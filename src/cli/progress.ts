import { counted } from '../base/counted.ts';
import type { BatchProgress, GenerateProgress } from '../runs/index.ts';

/** How far it is, how fast, and how long it will take at that rate. */
export function describeProgress(
  { total, done, failed, running, waiting, spend }: GenerateProgress,
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
    ...(spend.usd > 0 ? [`$${spend.usd.toFixed(2)}`] : []),
    ...(left === undefined ? [] : [`${duration(left)} left`]),
  ].join(' · ');
}

function describeWaiting({ requests, batches }: BatchProgress = nothingWaits): readonly string[] {
  if (batches === 0) return [];
  return [`${counted(requests, 'request')} in ${batches === 1 ? 'a batch' : `${batches} batches`}`];
}

const nothingWaits: BatchProgress = { requests: 0, batches: 0 };

function duration(ms: number): string {
  const minutes = Math.ceil(ms / 60_000);
  return minutes < 60 ? `${minutes} min` : `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
}
