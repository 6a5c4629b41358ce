import { visible } from '../../base/visible.ts';
import type { BenchPoint } from '../report.ts';
import { escaped } from './html.ts';
import type { Painter } from './painter.ts';

/** How a method looks in all plots: told apart by colour and by mark. */
export interface Series {
  readonly method: string;
  /** A colour of the style sheet. */
  readonly colour: string;
  readonly symbol: (typeof symbols)[number] | 'circle';
  /** The dashes of its line. */
  readonly dashes: string;
}

/** How many colours the style sheet has beside that of the baseline. */
const colours = 6;

const symbols = ['square', 'triangle', 'diamond', 'star', 'wye', 'cross', 'hexagon'] as const;

/** How the methods of some points look; the one that others are compared with is a grey circle on dashes. */
export function seriesOf(points: readonly BenchPoint[], baseline?: string): readonly Series[] {
  const methods = [...new Set(points.map(({ method }) => method))];
  const others = methods.filter((method) => method !== baseline);
  return methods.map((method) => {
    if (method === baseline) {
      return { method, colour: 'var(--baseline)', symbol: 'circle', dashes: '5 3' };
    }
    const place = others.indexOf(method);
    const symbol = symbols[place % symbols.length] ?? 'circle';
    return { method, colour: `var(--series-${place % colours})`, symbol, dashes: 'none' };
  });
}

/** What each mark stands for. */
export function legend(painter: Painter, series: readonly Series[]): string {
  const items = series.map((one) => `<li>${sample(painter, one)}${escaped(one.method)}</li>`);
  return `<ul class="legend">${items.join('')}</ul>`;
}

/** The mark of a method on its line. */
export function sample(
  { plot, draw }: Painter,
  { method, colour, symbol, dashes }: Series,
): string {
  return draw(visible(method), {
    ...{
      width: 34,
      height: 16,
      margin: 0,
      axis: null,
      x: { domain: [0, 2] },
      y: { domain: [0, 2] },
    },
    marks: [
      plot.line([0, 2], { x: (x: number) => x, y: 1, stroke: colour, strokeDasharray: dashes }),
      plot.dot([1], { x: 1, y: 1, symbol, fill: colour, r: 5 }),
    ],
  }).replace(/ role="img" aria-label="[^"]*"/, ' aria-hidden="true"');
}
