import { expectText } from '../../base/expect.ts';
import { withoutThoughts } from '../../base/thoughts.ts';
import { answerInClaim, isAnswer, longest } from './answer-claim.ts';
import { languages } from './answer-languages.ts';
import { isQuantity, readValue } from './answer-value.ts';
import { conclusionIn } from './conclusion.ts';
import { plainAnswer, unseen } from './plain-answer.ts';
import { type Found, settled, stated } from './stated-answer.ts';

/**
 * The final answer that a text states; `undefined` if it states none.
 *
 * Looks for these, in this order, and takes the last of each kind: `<answer>…</answer>`, `\boxed{…}`, a line `#### 42`,
 * an `"answer"` in JSON, a sentence such as *The answer is 42.* or *Answer: 42*, in English, German, French or Chinese,
 * a number or `(B)` as the entire text, and a last sentence that concludes something: *Therefore, she has 42 apples.*
 * Hedges, explanations and calculations are dropped: *about 9 * 2 = 18, as shown* states 18. *Not 17, it is 18* and
 * *17. Wait, it is 18* state 18. A question, a condition (*if the answer is 5*), the way to an answer (*the answer is
 * found by adding*), bounds, two candidates, placeholders, damaged texts, reasoning and programs state none.
 */
export function extractAnswer(text: string): string | undefined {
  expectText('text', text);
  return answerOfStep(text) ?? conclusionIn(saidIn(text));
}

/**
 * {@link extractAnswer} for a step. Its conclusion is not used, because it may be intermediate, and a wrong answer
 * would end a search.
 */
export function answerOfStep(text: string): string | undefined {
  const said = saidIn(text);
  // Base models continue with a question of their own.
  const next = said.search(nextQuestion);
  return (next > 0 ? answerIn(said.slice(0, next)) : undefined) ?? answerIn(said);
}

const nextQuestion = /\n\s{0,3}(?:question|problem|q)\s?:/i;

function answerIn(text: string): string | undefined {
  for (const find of [tagged, boxed, hashed, inJson, stated, alone]) {
    const found = find(text);
    if (found !== undefined) return settled(text, found);
  }
  return undefined;
}

const endOfText =
  /<\|(?:im_end|endoftext|eot_id|end_of_text|end_of_solution|end|return)\|>|<\/s>|<eos>|<end_of_turn>/;

/** The text as a reader sees it: without thoughts, text after its end, programs and type declarations. */
function saidIn(text: string): string {
  const said = withoutThoughts(text);
  const end = endOfText.exec(said)?.index;
  return withoutPrograms(end === undefined ? said : said.slice(0, end)).replace(unseen, '');
}

const prose = /^(?:json|text|txt|plaintext|markdown|md|latex|tex|math|xml|html|output)?\s*$/i;

/** A text without fenced code, except fences that contain plain text. */
function withoutPrograms(text: string): string {
  if (!text.includes('```')) return text;
  const parts = text.split('```').map((part, place) => {
    if (place % 2 === 0) return part;
    const [kind = ''] = part.split('\n', 1);
    return prose.test(kind) ? part.slice(kind.length) : '\n';
  });
  return parts.join('');
}

/** The answer in a text from a place where only an answer belongs. */
export function answerAlone(text: string): string | undefined {
  return answerOfStep(text) ?? fielded(text, text.length)?.answer;
}

/** The content of an answer field. */
function fielded(content: string, end: number): Found | undefined {
  const [english] = languages;
  const written = content.trim();
  if (english === undefined || written === '' || written.length > longest) return undefined;
  const claim = boxed(written)?.answer ?? stated(written)?.answer;
  if (claim !== undefined) return { answer: claim, end };
  const plain = readValue(plainAnswer(written));
  const answer =
    plain.kind === 'text' || plain.kind === 'list'
      ? (answerInClaim(written, english) ?? written)
      : written;
  return isAnswer(answer) ? { answer, end } : undefined;
}

/** `<answer>18</answer>`, and other names of the tag. */
function tagged(text: string): Found | undefined {
  const tags = [...text.matchAll(/<(\/?)(answer|final|final[_-]?answer)>/gi)];
  for (let place = tags.length - 1; place > 0; place--) {
    const [open, close] = [tags[place - 1], tags[place]];
    if (open === undefined || close === undefined || open[1] === '/' || close[1] !== '/') continue;
    if (open[2]?.toLowerCase() !== close[2]?.toLowerCase()) continue;
    const content = text.slice(open.index + open[0].length, close.index);
    const found = fielded(content, close.index + close[0].length);
    if (found !== undefined) return found;
  }
  return undefined;
}

/** The content of the last closed `\boxed{…}`. */
export function lastBoxed(text: string): string | undefined {
  return boxesIn(text).next().value?.content;
}

interface Box {
  readonly content: string;
  readonly start: number;
  readonly end: number;
}

/** More boxes than anybody writes. */
const mostBoxes = 256;

/** The closed, non-empty boxes, last one first. */
function* boxesIn(text: string): Generator<Box, undefined> {
  let count = 0;
  for (const { 0: name, index } of [...text.matchAll(/\\(?:boxed|fbox)/g)].reverse()) {
    const box = braced(text, index + name.length);
    if (box === undefined || box.content.trim() === '') continue;
    yield { ...box, start: index };
    count += 1;
    if (count === mostBoxes) return undefined;
  }
  return undefined;
}

const joint = /^[\s$]*(?:,|,?\s*(?:and|or|und|oder|et|ou|和|或))[\s$]*$/;

/** The last box with an answer, together with those that `and` joins to it. */
function boxed(text: string): Found | undefined {
  const answers: string[] = [];
  let [start, end] = [0, 0];
  for (const box of boxesIn(text)) {
    const answer = boxContent(box.content.trim());
    const between = text.slice(box.end, start);
    if (answers.length === 0) end = box.end;
    else if (answers.length === 16 || between.length > 16 || !joint.test(between)) break;
    if (answer === undefined && answers.length > 0) break;
    if (answer === undefined) continue;
    answers.unshift(answer);
    start = box.start;
  }
  return answers.length === 0 ? undefined : { answer: answers.join(', '), end };
}

function boxContent(written: string): string | undefined {
  const [english] = languages;
  const isChain = written.includes('=') && readValue(plainAnswer(written)).kind === 'text';
  const result = english !== undefined && isChain ? answerInClaim(written, english) : undefined;
  const answer = result ?? written;
  return isAnswer(answer) ? answer : undefined;
}

/** The content of the braces that open at `start`, after spaces. Escaped braces do not count. */
function braced(
  text: string,
  start: number,
): { readonly content: string; readonly end: number } | undefined {
  const open = start + (/^\s*/.exec(text.slice(start, start + longest))?.[0].length ?? 0);
  if (text[open] !== '{') return undefined;
  let depth = 0;
  // Longer content is not an answer, and the limit keeps many boxes from taking long.
  const end = Math.min(text.length, open + 2 * longest);
  for (let place = open; place < end; place++) {
    if (text[place] === '\\') place++;
    else if (text[place] === '{') depth++;
    else if (text[place] === '}' && --depth === 0) {
      return { content: text.slice(open + 1, place), end: place + 1 };
    }
  }
  return undefined;
}

/** `#### 42` as in GSM8K. In Markdown, headings have the same marks, but contain words. */
function hashed(text: string): Found | undefined {
  const lines = [...text.matchAll(/^[ \t]*####[ \t]+(\S.*)$/gm)];
  const last = lines.findLast(([, line = '']) =>
    /^(?:[-+(]?[$€£]?\\?[$]?[\d.]|\(?[A-J]\)?$)/.test(line.trim()),
  );
  return last && fielded(last[1] ?? '', last.index + last[0].length);
}

const member =
  /["'](?:final[_ ]?)?answer["']\s{0,20}:\s{0,20}(?:"((?:[^"\\]|\\.){0,300})"|'((?:[^'\\]|\\.){0,300})'|(-?\d[\d.eE+-]{0,50}|true|false|\[[^[\]{}]{0,200}\]))/gi;

/** The last member `"answer"` that is not null. */
function inJson(text: string): Found | undefined {
  const last = [...text.matchAll(member)].at(-1);
  if (last === undefined) return undefined;
  const [whole, double, single, bare] = last;
  // LaTeX backslashes are often written once, which is invalid in JSON.
  const content = bare ?? (double ?? single ?? '').replace(/\\(["'\\/])/g, '$1');
  return fielded(content, last.index + whole.length);
}

/** A number followed by at most one word, or `(B)`, as the entire text. */
function alone(text: string): Found | undefined {
  if (text.length > 2 * longest) return undefined;
  const [, letter] = /^[\s*_]*\(([A-J])\)[\s*_.]*$/.exec(text) ?? [];
  if (letter !== undefined) return { answer: letter, end: text.length };
  const written = text.trim();
  const isNumber = /^[^\p{L}=]*\d[^\p{L}=]*(?:\s?\p{L}+\.?)?[\s*]*$/u.test(written);
  return isNumber && isQuantity(written) ? { answer: written, end: text.length } : undefined;
}
