import { isContradicted, isSame, itemNoun } from './answer-words.ts';

const item = String.raw`(?:the\s)?(?:${itemNoun}\s)?[(\[*"#]{0,3}([A-Z]|\d{1,3}|\p{L}{2,20})(?![\p{L}\p{N}]|\s(?:or|and)\b|\/)`;
const good = '(?:best|better|right|correct|stronger|preferable|most promising)';

/** *I choose option 2*, *The better one is B*, *Proposal 3 is the best*, *A > B*. */
const statements = [
  String.raw`\bI(?:\s(?:would|will)|['’](?:d|ll))?\s(?:choose|pick|select|prefer|(?:go|opt|vote)\s(?:with|for))\s${item}`,
  String.raw`\b(?:the|my)\s(?:${good}\s)?(?:one|candidate|choice|option|proposal|step|answer|vote)\sis:?\s${item}`,
  String.raw`(?:^|[.:,\n]\s{0,3}|\b(?:so|thus|therefore|hence|think|that)\s)${item}[)\]*"]{0,3}\sis\s(?:clearly\s|the\s){0,2}${good}(?=\s?[.,!\n]|\s(?:than|because|since|as|one|choice|option|candidate|proposal|step)\b|\s?$)`,
  String.raw`^[^\p{L}\p{N}]{0,3}${item}\s?>\s?${item}[^\p{L}\p{N}]{0,3}$`,
].map((pattern) => new RegExp(pattern, 'giu'));
const supposed = /\b(?:not|n['’]t|never|if|whether|would\sbe|unless|first)\b[^.!?\n]*$/iu;

/** The answer stated by sentences, if all of them state the same and nothing retracts it. */
export function itemStated(text: string, answers: readonly string[]): string | undefined {
  const stated = new Set<string | undefined>();
  for (const statement of statements) {
    for (const { 0: whole, 1: word = '', index } of text.matchAll(statement)) {
      const answer = answers.find((each) => isSame(each, word));
      if (answer === undefined) continue;
      const before = text.slice(Math.max(0, index - 80), index);
      const isTaken =
        supposed.test(before) ||
        isContradicted(text.slice(index + whole.length).slice(0, 600), answer, []);
      stated.add(isTaken ? undefined : answer);
    }
  }
  const [answer] = stated;
  return stated.size === 1 ? answer : undefined;
}
