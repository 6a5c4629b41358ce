import { answerInClaim, longest } from './answer-claim.ts';
import { inProse } from './answer-in-prose.ts';
import { type AnswerLanguage, languages } from './answer-languages.ts';
import { isValued } from './answer-value.ts';

/** An answer, and the offset of the text after it. */
export interface Found {
  readonly answer: string;
  readonly end: number;
}

interface Claim extends Found {
  readonly isDenied: boolean;
}

/** The last answer that a sentence or a label states, such as *The answer is 42.* or *Answer: 42*. */
export function stated(text: string): Found | undefined {
  const denied = new Set<string>();
  const all = statements(text);
  // Each part of a question has its own answer.
  const labels = all.map(({ index }) =>
    /(?:^|[\s(])[a-h]\)(?=\s{0,3}$)/.exec(text.slice(Math.max(0, index - 8), index))?.[0]?.trim(),
  );
  if (new Set(labels.filter(Boolean)).size > 1) return undefined;
  for (const { index, match, language } of all) {
    const claim = read(text, { index, match, language });
    if (claim === undefined || denied.has(claim.answer)) continue;
    if (!claim.isDenied) return claim;
    denied.add(claim.answer);
  }
  return inverted(text);
}

interface Statement {
  readonly index: number;
  readonly match: RegExpExecArray;
  readonly language: AnswerLanguage;
}

/** More statements than anybody retracts. */
const mostStatements = 64;

/** All statements, last one first. */
function statements(text: string): readonly Statement[] {
  return languages
    .flatMap((language) =>
      [...text.matchAll(language.statement)].map((match) => ({
        index: match.index,
        match,
        language,
      })),
    )
    .sort((left, right) => right.index - left.index)
    .slice(0, mostStatements);
}

/** The subjects of answers to a part of the question. */
const partial =
  /\b(?:parts?|steps?|sub-?(?:question|problem)s?|first|second|third|previous|intermediate|teil|erste[nrs]?|première?|étape)\b/i;

/** *6, which we still have to halve* */
const onTheWay = /\bstill\s(?:have|has|need|needs)\sto\b/i;

/** Whether a statement is about a smaller question, or begins a longer solution on the same line. */
function isPartOfStep(text: string, { index, match: [whole] }: Statement): boolean {
  const from = index + (/^\s*/.exec(whole)?.[0].length ?? 0);
  const line = text.slice(text.lastIndexOf('\n', from - 1) + 1).split('\n', 1)[0] ?? '';
  return /^\s*sub-?question\b/i.test(line) || /^\s*solution:.*[.!?]\s+\S/i.test(line);
}

function read(text: string, { index, match, language }: Statement): Claim | undefined {
  const { about = '', not } = match.groups ?? {};
  if (isPartOfStep(text, { index, match, language })) return undefined;
  if (language.supposed.test(text.slice(Math.max(0, index - 60), index))) return undefined;
  if (partial.test(about) || /^,?\s+for\s+(?!\p{Lu}+\b)\p{Lu}/u.test(about)) return undefined;
  const start = index + match[0].length;
  const { sentence, end } = sentenceAt(text.slice(start, start + 2 * longest));
  if (/[?？][^\p{L}\p{N}]*$|吗\P{L}*$/u.test(sentence) || onTheWay.test(sentence)) return undefined;
  const denies = not !== undefined || /^(?:not|nicht|pas)\s/i.test(sentence);
  if (denies) {
    const more = /^;[^\n.]{0,80}/.exec(text.slice(start + end - 1))?.[0] ?? '';
    return insteadOf(sentence + more, language, start + end);
  }
  if (isEither(sentence)) return undefined;
  // In prose an exclamation mark ends a sentence more often than it is a factorial.
  const isBroken = /^\s{0,3}(?:no|wait|sorry|actually)\b/i.test(
    text.slice(start + end, start + end + 20),
  );
  const whole = sentence.replace(isBroken ? /(?:\.{3}|…)$/ : /(?<=\d)!$/, '');
  const answer = answerInClaim(withoutStrayBracket(whole), language);
  const named = answer === undefined ? undefined : inProse(answer);
  return named === undefined ? undefined : { answer: named, end: start + end, isDenied: false };
}

/** `17 or 18`, `18 (17 if …)`, `(A) 12 (B) 14`: more than one candidate. */
function isEither(sentence: string): boolean {
  return (
    /^[^=]*\d[\s*$]*(?:or|oder|ou)[\s*$]+\d(?!.*\b(?:minutes|hours|%))/iu.test(sentence) ||
    /^[\s*(]*(?:option\s)?[A-J][\s*)]+(?:or|oder|ou)[\s*(]+[A-J]\b/iu.test(sentence) ||
    /\([^()]*\d[^()]*\b(?:if|unless|without|wenn|si)\b/iu.test(sentence) ||
    /\([A-J]\)\s*[^\s,.(][^(]*\([A-J]\)\s*[^\s,.]/.test(sentence)
  );
}

/** Removes the closing bracket of a bracket that opened before the sentence. */
function withoutStrayBracket(text: string): string {
  const [opening, closing] = [/[([]/g, /[)\]]/g].map((marks) => (text.match(marks) ?? []).length);
  return closing === (opening ?? 0) + 1 ? text.replace(/[\s.,;*_]*\)[\s.,;*_]*$/, '') : text;
}

/** The right answer after a denied one, or the answer itself if it is not denied. */
function insteadOf(sentence: string, language: AnswerLanguage, end: number): Claim | undefined {
  const turns = [...sentence.matchAll(language.instead)];
  for (const turn of turns.reverse()) {
    const answer = answerInClaim(sentence.slice(turn.index + turn[0].length), language);
    if (answer !== undefined && isValued(answer) && !answer.includes(',')) {
      return { answer, end, isDenied: false };
    }
  }
  const denied = answerInClaim(sentence.replace(/^(?:not|nicht|pas)\s/i, ''), language);
  return denied === undefined ? undefined : { answer: denied, end, isDenied: true };
}

/** The first sentence of a text, on its first non-empty line. A formula may be on separate lines. */
function sentenceAt(text: string): { readonly sentence: string; readonly end: number } {
  const [lead = ''] = /^[\s*_]*(?:(?:\$\$|\\\[)\s*)?/.exec(text) ?? [];
  const [line = ''] = /^[^\n]*/.exec(text.slice(lead.length)) ?? [];
  const [first = ''] = line.split(
    /(?<=[。！？；])|(?<=[.?!;])(?=\s)(?!(?<=\d!)\s?[=×*+/-])(?<!\b(?:[A-Z]|St|Mt|Mr|Mrs|Dr|vs|approx|ca)\.)/i,
  );
  const opens = /\$\$|\\\[/.exec(lead)?.[0];
  const isOpen = opens !== undefined && !/\$\$|\\\]/.test(first);
  const sentence = opens === undefined || isOpen ? first : opens + first;
  return { sentence, end: lead.length + first.length };
}

/** *Hence 18 is the answer.* */
const invertedStatement =
  /\b(?:get|have|obtain)\s([-−]?[$€£]?\d[\d.,/]{0,30}%?)\sas\s(?:the|our|my)\s(?:(?:final|correct|right)\s)?answer\b(?=\s?(?:[.!,*]|$))|(?:^|[.,:=]\s|\n|\b(?:so|hence|thus|therefore),?\s)([-−]?[$€£]?\d[\d.,/]{0,30}%?|\([A-J]\)|[A-J])\sis\s(?:the|our|my)\s(?:(?:final|correct|right)\s)?answer\b(?=\s?(?:[.!,*]|$))/gi;

function inverted(text: string): Found | undefined {
  const last = [...text.matchAll(invertedStatement)].at(-1);
  const [whole = '', got, is = ''] = last ?? [];
  const answer = got ?? is;
  if (last === undefined) return undefined;
  const before = text.slice(Math.max(0, last.index - 60), last.index);
  if (languages.some(({ supposed }) => supposed.test(before))) return undefined;
  return { answer, end: last.index + whole.length };
}

const doubt =
  /(?:^|[.!?…;,\n—–)])\s{0,3}(?:(?:oh|hmm+|ah|but|um)[\s,.!…]{1,6})?(?:wait\b|hold on\b|nope\b|no\b(?=\s{0,3}[,.!—–]|\s(?:wait|that|it)\b)|actually\b(?!\s{0,3}[.!])|oops\b|scratch that|correction\b|(?:that|this|it)(?:['’]s|\s(?:is|was|seems|looks))\s(?:not (?:right|correct)|wrong|incorrect|a mistake)|(?:that|this|it)\s(?:doesn['’]t|does not|can['’]t)\s(?:look|seem|sound|be)\b|however\b[^.!?]{0,100}\b(?:wrong|incorrect|mistake)\b|let me (?:re(?!port)|double[- ]check|check|try again)|(?:that|this|it) (?:can['’]t|cannot) be|I (?:made a|forgot|misread|was wrong)|moment\b|nein\b|das ist falsch|attendez|non\b,|c['’]est faux|等等|不对|错了)/i;
const correction =
  /(?:\b(?:it|that|this)(?:['’]s|\s(?:is|should be|must be|would be|has to be|equals))|\bcorrection:|\bactually,?|\bno,|\bsondern|\bes ist|\bc['’]est|应该是|应为)\s{0,3}(?=(\S[^\n!?;]{0,60}))/gi;
const approval = /\b(?:yes|correct|confirmed|checks out|is right|indeed|holds)\b/i;
const disapproval = /\b(?:not|isn['’]t|in)\s?(?:correct|right|hold)|\bwrong\b|\bmistake\b/i;

/** An answer in view of the text after it: itself, its correction, or nothing if it is retracted. */
export function settled(text: string, { answer, end }: Found): string | undefined {
  const rest = text.slice(end, end + 3 * longest);
  const start = doubt.exec(rest)?.index;
  if (start === undefined) return answer;
  const doubts = rest.slice(start);
  const [english] = languages;
  if (english === undefined) return undefined;
  for (const [, words = ''] of [...doubts.matchAll(correction)].reverse()) {
    const [sentence = ''] = words.split(/(?<=[.。])(?=\s|$)/);
    const corrected = answerInClaim(sentence, english);
    if (corrected !== undefined && isValued(corrected)) return corrected;
  }
  return approval.test(doubts) && !disapproval.test(doubts) ? answer : undefined;
}
