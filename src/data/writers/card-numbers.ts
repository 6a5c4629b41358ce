import type { Histogram } from './histogram.ts';
import type { ConfigReport } from './report.ts';

/** The counts of the rows of a configuration, as lines of its card. */
export function numbersOf(config: ConfigReport): readonly string[] {
  const { labels, margins, lengths, distinct } = config;
  const different = Object.entries(distinct).map(([side, count]) => `${side} ${count}`);
  return [
    ...(labels === undefined
      ? []
      : ['', `Labels: ${labels.positive} positive, ${labels.negative} negative.`]),
    ...(different.length === 0 ? [] : ['', `Different texts: ${different.join(', ')}.`]),
    ...depthTable(config),
    ...histogramBlock('margin', margins),
    ...Object.entries(lengths).flatMap(([side, histogram]) =>
      histogramBlock(`${side}, characters`, histogram),
    ),
  ];
}

/** Where pairs diverge, and whether a right end is at or below each side. */
function depthTable({ depths, idle }: ConfigReport): readonly string[] {
  if (depths.length === 0) return [];
  return [
    '',
    'Pairs by depth, 0 being the first step; a side is right where a right end stands at or below it:',
    '',
    '| depth | pairs | last steps | right : wrong | right : right | wrong : wrong | unknown | mean margin |',
    '|---:|---:|---:|---:|---:|---:|---:|---:|',
    ...depths.map(({ meanMargin, ...of }) => {
      const { depth, pairs, last, rightWrong, rightRight, wrongWrong, unknown } = of;
      const counts = [depth, pairs, last, rightWrong, rightRight, wrongWrong, unknown];
      return `| ${[...counts, short(meanMargin ?? 0)].join(' | ')} |`;
    }),
    ...(idle === undefined
      ? []
      : [
          '',
          `**Most of these pairs teach little about the steps that lose runs**: of ${idle.pairs}, ${idle.last} diverge at the last step and ${idle.wrongWrong} others have two wrong sides.`,
        ]),
  ];
}

function histogramBlock(label: string, histogram: Histogram | undefined): readonly string[] {
  if (histogram === undefined || histogram.count === 0) return [];
  const { bins, mean } = histogram;
  const most = Math.max(...bins.map((bin) => bin.count));
  const ranges = bins.map(({ from, to }) =>
    to === Number.POSITIVE_INFINITY ? `${short(from)} and more` : `${short(from)} to ${short(to)}`,
  );
  const width = Math.max(...ranges.map((range) => range.length));
  const digits = String(most).length;
  return [
    '',
    '```text',
    `${label}, mean ${short(mean)}`,
    ...bins.map((bin, place) =>
      [
        (ranges[place] ?? '').padEnd(width),
        String(bin.count).padStart(digits),
        '#'.repeat(Math.ceil((bin.count / most) * 40)),
      ]
        .join('  ')
        .trimEnd(),
    ),
    '```',
  ];
}

/** A number with three digits that count. */
export function short(value: number): string {
  return String(Number(value.toPrecision(3)));
}
