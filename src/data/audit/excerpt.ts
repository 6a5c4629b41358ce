/** Control and invisible characters, which a dataset must not bring onto a terminal. */
const unsafe = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/gu;

/** A text from a dataset, short and with control characters escaped. */
export function excerptOf(value: unknown, length = 80): string {
  const text = asText(value);
  const short = text.length > length ? `${text.slice(0, length - 1)}…` : text;
  return escapeControls(short);
}

/** A text without control characters: each one is written as its code. */
export function escapeControls(text: string): string {
  return text.replace(unsafe, (character) => {
    if (character === '\n') return '\\n';
    if (character === '\t') return '\\t';
    const code = character.codePointAt(0) ?? 0;
    return `\\u{${code.toString(16)}}`;
  });
}

function asText(value: unknown): string {
  if (value === undefined) return '';
  return typeof value === 'string' ? value : JSON.stringify(value);
}
