import type { Message } from '../../contracts/language-model.ts';
import type { RowProvenance, TrainingRow } from '../rows.ts';
import { histogramCounter, lengthBounds, marginBounds } from './histogram.ts';
import type { ConfigReport } from './report.ts';

/** Counts what the card tells of rows, in memory that does not grow with their number. */
export function rowStatistics(): {
  add(row: TrainingRow): void;
  report(): Pick<ConfigReport, 'labels' | 'lengths' | 'margins' | 'sources'>;
} {
  const lengths = new Map<string, ReturnType<typeof histogramCounter>>();
  const margins = histogramCounter(marginBounds);
  const labels = { positive: 0, negative: 0 };
  const sources = sourceCounter();
  const addLength = (side: string, length: number): void => {
    const counter = lengths.get(side) ?? histogramCounter(lengthBounds);
    counter.add(length);
    lengths.set(side, counter);
  };
  return {
    add(row) {
      sources.add(row);
      if (row.kind === 'preference') margins.add(row.margin);
      for (const { label } of labelled(row)) labels[label ? 'positive' : 'negative'] += 1;
      for (const [side, length] of lengthsOf(row)) addLength(side, length);
    },
    report() {
      const margin = margins.histogram();
      return {
        margins: margin.count === 0 ? undefined : margin,
        lengths: Object.fromEntries(
          [...lengths].map(([side, counter]) => [side, counter.histogram()]),
        ),
        labels: labels.positive + labels.negative === 0 ? undefined : { ...labels },
        sources: sources.report(),
      };
    },
  };
}

function labelled(row: TrainingRow): readonly { readonly label: boolean }[] {
  if (row.kind === 'stepwise') return row.steps;
  return row.kind === 'unpaired' ? [row] : [];
}

function lengthsOf(row: TrainingRow): readonly (readonly [side: string, length: number])[] {
  switch (row.kind) {
    case 'preference':
      return [
        ['chosen', lengthOf(row.chosen)],
        ['rejected', lengthOf(row.rejected)],
      ];
    case 'stepwise':
      return row.steps.map(({ text }) => ['step', text.length]);
    case 'prompt':
      return [['prompt', lengthOf(row.prompt)]];
    case 'rollout':
    case 'sft':
    case 'unpaired':
      return [['completion', lengthOf(row.completion)]];
  }
}

function sourceCounter() {
  const methods = new Set<string>();
  const models = new Set<string>();
  const stamps = new Set<string>();
  const guidance: Record<RowProvenance['guidance'], number> = {
    'oracle-guided': 0,
    rewarded: 0,
    'self-evaluated': 0,
  };
  // Rows of a tree come one after another, and say the same of it.
  let tree: string | undefined;
  return {
    add({ provenance }: TrainingRow): void {
      guidance[provenance.guidance] += 1;
      if (provenance.tree === tree) return;
      tree = provenance.tree;
      if (provenance.method !== '') methods.add(provenance.method);
      for (const model of provenance.models) models.add(model);
      for (const stamp of provenance.stamps) stamps.add(stamp);
    },
    report: () => ({
      methods: [...methods].toSorted(),
      models: [...models].toSorted(),
      guidance: { ...guidance },
      stamps: [...stamps].toSorted(),
    }),
  };
}

function lengthOf(messages: readonly Message[]): number {
  let length = 0;
  for (const { content } of messages) length += content.length;
  return length;
}
