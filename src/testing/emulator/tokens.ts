/**
 * A token is a special token such as `<|end|>`, or up to four letters or digits together with the space
 * before them, or any other single character. A text cut after a token has the tokens before the cut.
 */
const token = /<\|\w{1,24}\|>| ?[\p{L}\p{N}]{1,4}|./gsu;

/** The tokens of a text. Joined, they are the text. */
export function tokensOf(text: string): readonly string[] {
  return text.match(token) ?? [];
}

/** The number of tokens of a text: three in `Add five.`, which are `Add`, ` five` and `.`. */
export function countTokens(text: string): number {
  return tokensOf(text).length;
}
