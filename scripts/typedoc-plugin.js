// The first page has the name of the project above the README, whose own heading would stand there a second time.
import { Converter } from 'typedoc';

export function load(app) {
  app.converter.on(Converter.EVENT_RESOLVE_END, ({ project }) => {
    const [first] = project.readme ?? [];
    if (first?.kind === 'text') first.text = first.text.replace(/^\s*# .*\n+/, '');
  });
}
