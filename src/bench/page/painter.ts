import type * as Plot from '@observablehq/plot';

/** Draws plots without a browser. */
export interface Painter {
  readonly plot: typeof Plot;
  /** A plot as SVG. The label says in one sentence what it shows, to those who cannot see it. */
  draw(label: string, options: Plot.PlotOptions): string;
}

/** The size of a plot in units of its own; pages scale it. */
export const size = {
  width: 440,
  height: 300,
  marginLeft: 48,
  marginRight: 16,
  marginBottom: 44,
  marginTop: 26,
};

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
      const svg = plot.plot({ ...size, style, ...options, document }) as Drawn;
      // Its style sheet is that of the page; labels of its parts are for nobody where the whole is one image.
      svg.querySelector('style')?.remove();
      for (const part of svg.querySelectorAll('[aria-label]')) part.removeAttribute('aria-label');
      for (const part of svg.querySelectorAll('[aria-hidden]')) part.removeAttribute('aria-hidden');
      svg.setAttribute('role', 'img');
      svg.setAttribute('aria-label', label);
      svg.setAttribute('class', 'plot');
      return svg.outerHTML;
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
