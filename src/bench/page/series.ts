import { shortened } from '../figures.ts';
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

/** The meaning of each mark. */
export function legend(painter: Painter, series: readonly Series[]): string {
  const items = series.map((one) => `<li>${named(painter, one, shortened(one.method, 60))}</li>`);
  return `<ul class="legend">${items.join('')}</ul>`;
}

/** Text beside the mark of a method. */
export function named(painter: Painter, one: Series, text: string): string {
  return `${sample(painter, one)}${escaped(text)}`;
}

/** The mark of a method on its line. */
function sample({ plot, draw }: Painter, { colour, symbol, dashes }: Series): string {
  return draw(null, {
    ...{ width: 34, height: 16, marginTop: 0, marginRight: 0, marginBottom: 0, marginLeft: 0 },
    ...{ axis: null, x: { domain: [0, 2] }, y: { domain: [0, 2] } },
    marks: [
      plot.line([0, 2], { x: (x: number) => x, y: 1, stroke: colour, strokeDasharray: dashes }),
      plot.dot([1], { x: 1, y: 1, symbol, fill: colour, r: 5 }),
    ],
  });
}
