/** What was found in a page. */
export interface Found {
  readonly svgs: number;
  readonly points: number;
  readonly bins: number;
  readonly problems: number;
  readonly cells: number;
  /** Elements and attributes that no page has of itself. */
  readonly foreign: number;
  /** The first word of the verdict. */
  readonly answer: string;
  readonly overlaps: readonly string[];
  readonly outside: readonly string[];
  readonly serious: readonly string[];
  /** By how many pixels the table of results is wider than what is seen of it. */
  readonly hidden: number;
}

/** Runs in the browser, as text: it may use nothing from here. */
export const look = `async () => {
  const all = (selector) => [...document.querySelectorAll(selector)];
  const overlaps = [];
  for (const svg of all('svg.plot')) {
    const labels = [...svg.querySelectorAll('text')].filter((one) => one.textContent.trim() !== '');
    const boxes = labels.map((one) => ({ text: one.textContent, ...one.getBoundingClientRect().toJSON() }));
    for (const [at, a] of boxes.entries()) {
      for (const b of boxes.slice(at + 1)) {
        const across = Math.min(a.right, b.right) - Math.max(a.left, b.left);
        const down = Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top);
        // The boxes of lines of text reach beyond their letters.
        if (across > 0.5 && down > 0.35 * Math.min(a.height, b.height)) overlaps.push(a.text + ' / ' + b.text);
      }
    }
  }
  const outside = all('svg.plot text, p, h1, h2, li, dd, figcaption')
    .filter((one) => one.closest('.scroll') === null && !(one.closest('details')?.open === false))
    .filter((one) => {
      const { left, right, width } = one.getBoundingClientRect();
      return width > 0 && (left < -0.5 || right > document.documentElement.clientWidth + 0.5);
    })
    .map((one) => one.textContent.slice(0, 60));
  if (document.documentElement.scrollWidth > document.documentElement.clientWidth) outside.push('the page scrolls sideways');
  const { violations } = await window.axe.run(document, { resultTypes: ['violations'] });
  const column = document.querySelector('.problems > rect')?.getBBox();
  // A row is 15 high, but for the pixel between two.
  const cellArea = (column?.width ?? 1) * 14;
  const area = all('.cells > rect').map((one) => one.getBBox()).reduce((sum, box) => sum + box.width * box.height, 0);
  return {
    svgs: all('svg').length,
    points: all('.point > *').length,
    bins: all('.bin > *').length,
    problems: all('.problems > rect').length,
    cells: Math.round(area / cellArea),
    foreign: all('script, img, iframe, object, embed, link, a, form, base').length +
      all('*').filter((one) => [...one.attributes].some(({ name }) => name.startsWith('on') || name === 'href')).length +
      (document.querySelectorAll('style').length - 1),
    answer: document.querySelector('.verdict strong')?.textContent.split(/[ ,]/)[0] ?? '',
    overlaps, outside,
    hidden: Math.max(0, ...all('.scroll[aria-label="All methods at all budgets"]').map((one) => one.scrollWidth - one.clientWidth)),
    serious: violations.filter(({ impact }) => impact === 'serious' || impact === 'critical')
      .map(({ id, help, nodes }) => id + ': ' + help + ' (' + nodes.length + ', such as ' + nodes[0].html.slice(0, 160) + ')'),
  };
}`;
