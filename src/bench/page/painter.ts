import type * as Plot from '@observablehq/plot';
import { escaped } from './html.ts';

/** Draws plots without a browser. */
export interface Painter {
  readonly plot: typeof Plot;
  /** A plot as SVG. The label says in one sentence what it shows, to those who cannot see it; ornaments have none. */
  draw(label: string | null, options: Plot.PlotOptions): string;
}

/** Between the frame of a plot and its ends. */
const margins = { marginTop: 26, marginRight: 16, marginBottom: 44, marginLeft: 48 };

/** The sizes of plots in units of their own; pages scale them. */
export const sizes: Readonly<Record<'large' | 'small', { width: number; height: number }>> = {
  large: { width: 440, height: 300 },
  small: { width: 310, height: 240 },
};

/** How wide the part of a plot is in which marks are. */
export function innerWidth(size: keyof typeof sizes): number {
  return sizes[size].width - margins.marginLeft - margins.marginRight - 2 * inset;
}

/** Between the marks and the ends of a horizontal axis. */
export const inset = 12;

/** A share on an axis. */
export function shareTick(share: number): string {
  return `${Math.round(100 * share)} %`;
}

/** Loads what draws: only who wants a page waits for it. */
export async function painter(): Promise<Painter> {
  const [plot, { parseHTML }] = await Promise.all([
    import('@observablehq/plot'),
    import('linkedom'),
  ]);
  const { document } = parseHTML('<!doctype html><html><body></body></html>');
  return {
    plot,
    draw(label, options) {
      const style = { fontSize: '12px', fontFamily: 'inherit' };
      const svg = plot.plot({ ...sizes.large, ...margins, style, ...options, document }) as Drawn;
      // It uses the style sheet of the page. Labels of its parts are useless, because the whole is one image.
      svg.querySelector('style')?.remove();
      for (const part of svg.querySelectorAll('[aria-label]')) part.removeAttribute('aria-label');
      for (const part of svg.querySelectorAll('[aria-hidden]')) part.removeAttribute('aria-hidden');
      svg.setAttribute('class', 'plot');
      const role =
        label === null ? 'aria-hidden="true"' : `role="img" aria-label="${escaped(label)}"`;
      return svg.outerHTML.replace(/^<svg/, () => `<svg ${role}`);
    },
  };
}

/** What is used of an element: the compiler knows no browser here. */
interface Drawn {
  readonly outerHTML: string;
  querySelector(selector: string): Drawn | null;
  querySelectorAll(selector: string): Iterable<Drawn>;
  setAttribute(name: string, value: string): void;
  removeAttribute(name: string): void;
  remove(): void;
}
