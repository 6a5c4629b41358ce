/**
 * A text with control characters, except line breaks and tabs, and halves of surrogate pairs written as codes, as JSON
 * writes them: text from models, tools and servers must not control a terminal.
 */
export function visible(text: string): string {
  return text.replace(
    /(?![\n\t])[\p{Cc}\p{Cs}\p{Zl}\p{Zp}\p{Bidi_Control}]/gu,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}
