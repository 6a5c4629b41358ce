import { visible } from '../../base/visible.ts';
import { codeSpans } from '../sections.ts';

const entities: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

/** Text of others as HTML that shows it, in text and in quoted attributes. */
export function escaped(text: string): string {
  return visible(text).replaceAll(/[&<>"']/g, (character) => entities[character] ?? '');
}

/** A sentence of ours, in which names of options stand as code. */
export function prose(text: string): string {
  return codeSpans(text)
    .map(({ isCode, part }) => (isCode ? `<code>${escaped(part)}</code>` : escaped(part)))
    .join('');
}

/** A section with a heading; nothing if there is nothing to say. */
export function section(title: string, ...parts: readonly string[]): string {
  const body = parts.filter((part) => part !== '').join('\n');
  return body === '' ? '' : `<section>\n<h2>${escaped(title)}</h2>\n${body}\n</section>`;
}

/** A paragraph of text. */
export function paragraph(text: string): string {
  return `<p>${escaped(text)}</p>`;
}

/** A drawing with what it shows. */
export function figure(drawing: string, caption: string): string {
  return `<figure>${drawing}<figcaption>${caption}</figcaption></figure>`;
}
