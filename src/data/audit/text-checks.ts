import { type ReadRow, type RowContent, textOf } from '../formats/reading.ts';
import { isBlank, textsIn } from './contents.ts';
import type { RowFault } from './report.ts';

const none: readonly RowFault[] = [];

/** What each fault of a text needs, so that most texts are known to be sound by one look. */
const suspicious = /[<{[&ÂÃâ]/;

/** Checks the texts of a row for faults other than those of their characters. */
export function wordFaults(row: ReadRow): readonly RowFault[] {
  const { prompt, chosen, rejected } = row;
  const faults: RowFault[] = [];
  for (const side of [prompt, chosen, rejected]) {
    if (side === undefined) continue;
    for (const text of typeof side === 'string' ? [side] : side.flatMap(textsIn)) {
      if (suspicious.test(text)) faults.push(...markFaults(text, side));
    }
  }
  for (const side of [chosen, rejected]) {
    if (side !== undefined) faults.push(...sideFaults(side, row));
  }
  faults.push(...placeholders(row), ...refusals(row));
  return faults.length < 2 ? faults : [...new Map(faults.map((one) => [one.code, one])).values()];
}

const templateToken =
  /<\|(?:im_start|im_end|eot_id|start_header_id|end_header_id|begin_of_text)\|>|<(?:start|end)_of_turn>|\[\/?INST\]|<<SYS>>/;
const doubledToken = /^\s*(<s>|<bos>|<\|begin_of_text\|>|<｜begin▁of▁sentence｜>)\s*\1/;
/** Texts of UTF-8 that were read as Windows-1252 or Latin-1; none of these sequences occurs in any language. */
const mojibake =
  /Ã[\u0080-\u00a9\u00ab-\u00ba\u00bc-\u00bf„Ÿœ]|â(?:€[\u0080-\u009f™œ“˜¦]|\u0080[\u0080-\u00bf])|Â[°£©®§±]/;
const escapedTwice = /&amp;(?:amp|lt|gt|quot|#\d+);/;

function markFaults(text: string, side: RowContent): readonly RowFault[] {
  const checks: readonly (readonly [RowFault['code'], RegExp | undefined])[] = [
    // Of a text, the template is a part.
    ['template-token', typeof side === 'string' ? undefined : templateToken],
    ['doubled-token', doubledToken],
    ['mojibake', mojibake],
    ['double-escape', escapedTwice],
  ];
  return checks.flatMap(([code, sign]) => {
    const at = sign === undefined ? -1 : text.search(sign);
    return at < 0 ? [] : [{ code, excerpt: text.slice(Math.max(0, at - 20)) }];
  });
}

/** Names of missing values, in several languages. */
const missingValues: readonly string[] = [
  'None',
  'nan',
  'NaN',
  'null',
  'undefined',
  '[object Object]',
];
const writtenTurns = /^\s*\[?\s*\{\s*["'](?:role|from|content|value)["']\s*:/;

function sideFaults(side: RowContent, row: ReadRow): readonly RowFault[] {
  const text = lastText(side);
  const faults: RowFault[] = [];
  if (text.length < 20 && missingValues.includes(text.trim())) {
    faults.push({ code: 'no-value', excerpt: text });
  }
  // A file of Parquet holds the columns of hosted tuning as JSON.
  const isWritten = typeof side === 'string' && !('preferred_output' in row.columns);
  if (isWritten && writtenTurns.test(side)) {
    faults.push({ code: 'text-conversation', excerpt: side });
  }
  if (hasOpenThought(text, row)) faults.push({ code: 'unclosed-thought', excerpt: text });
  if (loops(text)) faults.push({ code: 'repetition', excerpt: text.slice(-80) });
  return faults;
}

/** Steps may end anywhere; all other learnt texts close what they open. */
function hasOpenThought(text: string, { columns }: ReadRow): boolean {
  const open = text.lastIndexOf('<think>');
  const isWhole = columns['chosen_ends'] !== false && columns['rejected_ends'] !== false;
  return (
    open >= 0 && isWhole && !text.includes('</think>', open) && !/`$/.test(text.slice(0, open))
  );
}

/** The longest part that is looked for, and how often and how far it must repeat, in characters. */
const loop = { part: 100, times: 8, length: 200 };

/** Whether a text ends in words that come over and over. */
function loops(text: string): boolean {
  if (text.length < 2 * loop.length) return false;
  const end = text.slice(-2 * loop.part);
  const before = end.lastIndexOf(end.slice(-loop.part), loop.part - 1);
  const period = loop.part - before;
  if (before < 0 || period < 3) return false;
  const length = Math.max(loop.length, loop.times * period);
  if (text.length < length + period) return false;
  const repeated = text.slice(-length);
  return /\p{L}/u.test(repeated) && repeated === text.slice(-length - period, -period);
}

const placeholder =
  /\{\{\s*[A-Za-z_]\w{2,}\s*\}\}|(?<![\w\\$}{])\{(?:question|input|prompt|instruction|context|answer|query|response|document|user|name|topic)\}/;

function placeholders({ prompt, chosen, implicit }: ReadRow): readonly RowFault[] {
  const asked = implicit === true ? chosen : prompt;
  if (asked === undefined) return none;
  const texts =
    typeof asked === 'string'
      ? [asked]
      : asked.filter(({ role }) => role === 'user' || role === 'human').flatMap(textsIn);
  const found = texts.find((text) => text.includes('{') && placeholder.test(text));
  return found === undefined ? none : [{ code: 'unfilled-placeholder', excerpt: found }];
}

/** A whole answer that refuses, and offers something else at most. */
const refusal = new RegExp(
  [
    /^(?:(?:(?:I['’]m|I am) (?:so |very |really )?|)sorry,?\s+(?:but\s+)?|I apologi[sz]e,?\s+(?:but\s+)?|unfortunately,?\s+)?/,
    /(?:as an AI[\w ]*,\s*)?/,
    /I (?:can(?:['’]t|not)|am unable to|am not able to|['’]m unable to|won['’]t(?: be able to)?|must decline to) /,
    /(?:(?:help|assist)(?: you)?(?: with (?:that|this|your)(?: \w+)?)?|comply with (?:that|this|your) request|fulfill? (?:that|this|your) request|do (?:that|this)|answer(?: (?:that|this)(?: question)?)?|provide (?:that|this|the) (?:information|answer))/,
    /(?:[.!]|$)(?:\s+(?:is there|let me know|please|if you|can I)[^.!?]*[.!?]?)?\s*$/,
  ]
    .map(({ source }) => source)
    .join(''),
  'i',
);

/** An agent that is offered tools may have to refuse. */
function refusals({ chosen, rejected, columns }: ReadRow): readonly RowFault[] {
  if (chosen === undefined || rejected === undefined || 'tools' in columns) return none;
  const [better, worse] = [chosen, rejected].map((side) => lastText(side).trim());
  if (better === undefined || worse === undefined || better.length > 300) return none;
  return refusal.test(better) && !refusal.test(worse)
    ? [{ code: 'refusal', excerpt: better }]
    : none;
}

function lastText(side: RowContent): string {
  return typeof side === 'string' ? side : textOf(side.slice(-1));
}

/** A side, a completion, a step or a turn of the model says nothing. */
export function emptySides({ chosen, rejected, steps = [] }: ReadRow): readonly RowFault[] {
  const sides = [chosen, rejected].filter((side) => side !== undefined);
  const turns = sides
    .flatMap((side) => (typeof side === 'string' ? [] : side))
    .filter(({ role, calls }) => calls.length === 0 && (role === 'assistant' || role === 'gpt'))
    .map(({ content }) => (Array.isArray(content) && content.length === 0 ? '' : content));
  const empty = [...sides.map(textOf), ...turns, ...steps].find(
    (text) => typeof text === 'string' && isBlank(text),
  );
  return empty === undefined ? none : [{ code: 'empty-side', excerpt: empty }];
}
