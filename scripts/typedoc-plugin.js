// The first page has the name of the project above the README, whose own heading would stand there a second time.
// Tables get a box to scroll in. Headings that open and close a part of a page lose their link to themselves: a control
// within another one cannot be reached by a screen reader.
import { Converter, PageEvent } from 'typedoc';

export function load(app) {
  app.converter.on(Converter.EVENT_RESOLVE_END, ({ project }) => {
    const [first] = project.readme ?? [];
    if (first?.kind === 'text') first.text = first.text.replace(/^\s*# .*\n+/, '');
  });
  app.renderer.on(PageEvent.END, (page) => {
    page.contents = page.contents
      ?.replaceAll('<table>', '<div class="scrolls"><table>')
      .replaceAll('</table>', '</table></div>')
      .replaceAll(
        /<a [^>]*class="tsd-anchor-icon">(?:(?!<\/a>).)*<\/a>(?=<\/h\d><\/summary>)/g,
        '',
      );
  });
}
