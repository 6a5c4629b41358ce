import type { Message } from '../../contracts/language-model.ts';
import { distinctCounter } from '../distinct-count.ts';
import { hashOf } from '../hash-table.ts';
import { type PairPlace, pairDepths } from '../pair-depths.ts';
import type { PreferenceRow, RowProvenance, TrainingRow } from '../rows.ts';
import { histogramCounter, lengthBounds, marginBounds } from './histogram.ts';
import type { ConfigReport } from './report.ts';

/** Collects the counts of rows for the card, in memory that does not grow with their number. */
export function rowStatistics(): {
  add(row: TrainingRow): void;
  report(): Pick<
    ConfigReport,
    'depths' | 'distinct' | 'idle' | 'labels' | 'lengths' | 'margins' | 'sources'
  >;
} {
  const lengths = new Map<string, ReturnType<typeof histogramCounter>>();
  const distinct = new Map<string, ReturnType<typeof distinctCounter>>();
  const depths = pairDepths();
  const margins = histogramCounter(marginBounds);
  const labels = { positive: 0, negative: 0 };
  const sources = sourceCounter();
  const addText = (side: string, length: number, hash: number): void => {
    const counter = lengths.get(side) ?? histogramCounter(lengthBounds);
    const different = distinct.get(side) ?? distinctCounter();
    lengths.set(side, counter);
    distinct.set(side, different);
    counter.add(length);
    different.add(hash);
  };
  return {
    add(row) {
      sources.add(row);
      if (row.kind === 'preference') {
        margins.add(row.margin);
        depths.add(placeOf(row));
      }
      for (const { label } of labelled(row)) labels[label ? 'positive' : 'negative'] += 1;
      for (const [side, text] of textsOf(row)) {
        if (typeof text === 'string') addText(side, text.length, hashOf(text));
        else addText(side, lengthOf(text), hashOfAll(text));
      }
    },
    report() {
      const margin = margins.histogram();
      return {
        margins: margin.count === 0 ? undefined : margin,
        lengths: Object.fromEntries(
          [...lengths].map(([side, counter]) => [side, counter.histogram()]),
        ),
        distinct: Object.fromEntries(
          [...distinct].map(([side, counter]) => [side, counter.count()]),
        ),
        depths: depths.report(),
        idle: depths.idle(),
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

function textsOf(
  row: TrainingRow,
): readonly (readonly [side: string, text: readonly Message[] | string])[] {
  switch (row.kind) {
    case 'preference':
      return [
        ['chosen', row.chosen],
        ['rejected', row.rejected],
      ];
    case 'stepwise':
      return row.steps.map(({ text }) => ['step', text]);
    case 'prompt':
      return [['prompt', row.prompt]];
    case 'rollout':
    case 'sft':
    case 'unpaired':
      return [['completion', row.completion]];
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

function placeOf(row: PreferenceRow): PairPlace {
  const { provenance, chosenEnds, rejectedEnds, chosenRight, rejectedRight, margin } = row;
  const isLast = chosenEnds && rejectedEnds;
  return { depth: provenance.depth, isLast, chosenRight, rejectedRight, margin };
}

/** Rows of one tree share their completions, so that most are hashed once for several rows. */
const known = new WeakMap<object, number>();

function hashOfAll(messages: readonly Message[]): number {
  const own = known.get(messages);
  if (own !== undefined) return own;
  const made = hashOf(JSON.stringify(messages));
  known.set(messages, made);
  return made;
}
