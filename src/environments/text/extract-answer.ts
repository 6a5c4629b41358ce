/** No answer that a search could compare is longer. */
const longest = 200;

/**
 * The final answer that a text states, as it is written there; `undefined` where it states none.
 *
 * In this order, and of each kind the last one: `\boxed{…}`, a line `#### 42`, an `"answer"` in JSON, a
 * sentence such as *The answer is 42.* or *Answer: 42*, and `(B)` as all of the text. A question, a
 * condition (*if the answer is 5*) and the way to an answer (*the answer is found by adding*) state none.
 */
export function extractAnswer(text: string): string | undefined {
  for (const extract of [lastBoxed, hashed, inJson, stated, choice]) {
    const answer = extract(text)?.trim();
    if (answer !== undefined && answer !== '' && answer.length <= longest) return answer;
  }
  return undefined;
}

/** What stands in the last `\boxed{…}` that is closed. */
export function lastBoxed(text: string): string | undefined {
  for (let from = text.length; from >= 0; ) {
    const start = text.lastIndexOf('\\boxed', from);
    if (start < 0) return undefined;
    const content = braced(text, start + '\\boxed'.length);
    if (content !== undefined && content.trim() !== '') return content;
    from = start - 1;
  }
  return undefined;
}

/** What stands in the braces that open at `start`, behind spaces. Braces with a backslash do not count. */
function braced(text: string, start: number): string | undefined {
  const open = start + (/^\s*/.exec(text.slice(start, start + longest))?.[0].length ?? 0);
  if (text[open] !== '{') return undefined;
  let depth = 0;
  // A longer content is no answer; so many boxes cannot take long either.
  const end = Math.min(text.length, open + 2 * longest);
  for (let place = open; place < end; place++) {
    if (text[place] === '\\') place++;
    else if (text[place] === '{') depth++;
    else if (text[place] === '}' && --depth === 0) return text.slice(open + 1, place);
  }
  return undefined;
}

/** `#### 42` as in GSM8K. Behind the same marks Markdown has headings, which are words. */
function hashed(text: string): string | undefined {
  const lines = [...text.matchAll(/^[ \t]*####[ \t]+(\S.*)$/gm)].map(([, line = '']) =>
    line.trim(),
  );
  return lines.findLast((line) => /^(?:[-+(]?[$€£]?\\?[$]?[\d.]|\(?[A-J]\)?$)/.test(line));
}

/** The last member `"answer"` that is not null. */
function inJson(text: string): string | undefined {
  const members = text.matchAll(
    /"answer"\s*:\s*(?:"((?:[^"\\]|\\.){0,300})"|(-?\d[\d.eE+-]{0,50}|true|false))/g,
  );
  const last = [...members].at(-1);
  if (last === undefined) return undefined;
  // A backslash of LaTeX is often written once, as JSON does not have it.
  return last[2] ?? last[1]?.replace(/\\(["\\/])/g, '$1');
}

const statement = new RegExp(
  [
    // "The answer is", "the correct option to this question is:", "our final answer would be"
    String.raw`\b(?:the|my|our|your|his|her|their|its|this|final|correct|right|best)\s+(?:final\s+|correct\s+|right\s+|best\s+)?` +
      String.raw`(?:answer|option|choice)\b(?:[^.:?!\n]{0,80}?)\s(?:is|are|will be|would be|must be|should be)(?:\s*:|\b)`,
    // "Answer:", "**Final answer**:", "# Answer" above its line
    String.raw`(?:^|\n)[ \t>*_#]{0,12}(?:so |thus |hence )?(?:the )?(?:final |correct )?answer[*_]{0,3}(?:[ \t]*[:=]|[ \t]*\n)[*_]{0,3}`,
  ].join('|'),
  'gi',
);

function stated(text: string): string | undefined {
  const claims = [...text.matchAll(statement)].flatMap(({ 0: claim, index }) => {
    const answer = claimed(text.slice(index + claim.length, index + claim.length + 2 * longest));
    return answer === undefined || isSupposed(text, index) ? [] : [answer];
  });
  return claims.at(-1);
}

const supposition =
  /\b(?:if|whether|unless|suppose|supposing|assume|assuming|until|check|verify|confirm)(?:\s+that)?\s*$/i;

/** Whether the answer is only supposed. */
function isSupposed(text: string, index: number): boolean {
  return supposition.test(text.slice(Math.max(0, index - 40), index));
}

/** The way to an answer, or its absence, in place of the answer. */
const noAnswer =
  /^(?:not|n't|no longer|never|found|obtained|given|computed|calculated|determined|derived|known|unknown|unclear|still|yet|to|in|by|what|how|whether|going|easy|simply|just|clearly|the (?:sum|product|difference|quotient|number|result|value|total) (?:of|we))\b/i;

/** What a statement states: to the end of its sentence, without what explains it. */
function claimed(rest: string): string | undefined {
  const line = /^\s*([^\n]*)/.exec(rest)?.[1] ?? '';
  const [sentence = ''] = line.split(/(?<=[.?!;])(?=\s)(?<!\b(?:[A-Z]|St|Mt|Mr|Mrs|Dr|vs)\.)/);
  if (/\?\W*$/.test(sentence)) return undefined;
  const [claim = ''] = sentence.split(
    /,?\s+(?:because|since|which|so|but|where|when|as\s+(?:we|the|it)|and\s+(?:we|it|so|this))\b/i,
  );
  const answer = claim
    .replace(/^[\s:*_`]+/, '')
    .replace(/[\s*_`]+$/, '')
    .replace(/[.,;:]+$/, '')
    .replace(/[\s*_`]+$/, '');
  return noAnswer.test(answer) ? undefined : answer;
}

/** `(B)`, `**(B)**` or `(B) Paris` where nothing else is said. */
function choice(text: string): string | undefined {
  const [, letter] = /^[\s*_]*\(([A-J])\)[\s*_.]*$/.exec(text) ?? [];
  return letter;
}
