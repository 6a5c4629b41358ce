/** Rewrites of one spelling into another, applied in this order. */
const rewrites: readonly (readonly [RegExp, string])[] = [
  // A dollar sign that LaTeX would print; the others separate formulas from text.
  [/\\\$/g, '¤'],
  [/\$\$?([^$]*)\$\$?/g, ' $1 '],
  [/¤/g, '$'],
  [/\\[()[\]]/g, ' '],
  [/[−–‒]/g, '-'],
  [/⁄/g, '/'],
  [/\bUS(?=\$\s?\d)/g, ''],
  [/\\!/g, ''],
  [/\{,\}/g, ','],
  [/(\d)\\[,:;](?=\d{3}(?!\d))/g, '$1,'],
  [/\\(?:[,:; ]|quad\b)|~/g, ' '],
  [/\\(?:left|right|[bB]igg?[lr]?|displaystyle)(?![A-Za-z])/g, ''],
  [/\\[dtc]frac(?![A-Za-z])/g, '\\frac'],
  [/\\frac\s*(\d)\s*(\d)/g, '\\frac{$1}{$2}'],
  [/\\frac\s*(\d)\s*\{/g, '\\frac{$1}{'],
  [/(\\frac\s*\{[^{}]*\})\s*(\d)/g, '$1{$2}'],
  [/\\frac\s*\{\s*([-+]?[\d.,]+)\s*\}\s*\{\s*([-+]?[\d.,]+)\s*\}/g, ' $1/$2'],
  [/\\sqrt\s*(\w)/g, '\\sqrt{$1}'],
  [/\^\s*\{?\s*\\circ\s*\}?|\\degree(?![A-Za-z])/g, '°'],
  [/\\times(?![A-Za-z])/g, '×'],
  [/\\cdot(?![A-Za-z])/g, '·'],
  [/\\infty(?![A-Za-z])/g, '∞'],
  [/\\pi(?![A-Za-z])/g, 'π'],
  [/\\([%&#{}_])/g, '$1'],
  [/^\s*[A-Za-z]\s*(?:\\in(?![A-Za-z])|∈)\s*/, ''],
];

/** Invisible characters, and HTML tags for typesetting. */
export const unseen: RegExp = /[\u200b-\u200d\u2060\ufeff]|<\/?(?:b|strong|i|em|u|p|span|mark)>/gi;

/** Emoji after an answer. */
export const pictures: RegExp = /(?<=[\p{L}\p{N}.])(?:\s|\p{Extended_Pictographic}|\ufe0f)+$/u;

const wrapper =
  /\\(?:boxed|fbox|mbox|text|textbf|textit|textrm|mathrm|mathbf|mathit|operatorname)\s*\{([^{}]*)\}/g;

/** Groups of digits may be separated by narrow spaces. */
const narrowSpace = /(\d)[\u00a0\u2009\u202f](?=\d{3}(?!\d))/g;
const vulgarFraction = /(\d)(?=[¼-¾⅐-⅞])/g;
const superscript = /[⁰¹²³⁴-⁹⁻]+/g;

/**
 * An answer without its typography: LaTeX wrappers, spaces and bracket sizes, unusual minus signs, quotes, a full stop
 * at the end.
 */
export function plainAnswer(text: string): string {
  let plain = text
    .replace(unseen, '')
    .replace(narrowSpace, '$1,')
    .replace(vulgarFraction, '$1 ')
    .replace(superscript, (digits) => `^{${digits}}`)
    .normalize('NFKC');
  plain = unwrap(plain);
  for (const [pattern, replacement] of rewrites) plain = plain.replace(pattern, replacement);
  return trimmed(plain.replace(/\s+/g, ' '));
}

/** Unwraps `\text{…}` and similar commands, from the inside out. */
function unwrap(text: string): string {
  let [before, after] = [text, text.replace(wrapper, ' $1')];
  // Each pass removes one level; nobody nests deeper on purpose.
  for (let level = 0; level < 4 && after !== before; level++) {
    [before, after] = [after, after.replace(wrapper, ' $1')];
  }
  return after;
}

/** Without surrounding marks: spaces, quotes, emphasis, a full stop. An exclamation mark may be a factorial. */
function trimmed(text: string): string {
  return text
    .replace(/^[\s"'“‘`*]+/, '')
    .replace(/[\s"'”’`*.,;:]+$/, '')
    .replace(pictures, '')
    .replace(/(?<=\p{L}\p{L})!+$/u, '');
}
