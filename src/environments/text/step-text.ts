import type { Parsed } from '../../contracts/environment.ts';
import type { Failed, Failure } from '../../contracts/failure.ts';

// White space in labels is bounded, so that matching takes linear time.
const stepName = String.raw`(?:(?:[Ss]tep|STEP|[Ss]chritt|[ÉéEe]tape)\s{1,9}\d{1,3}|步骤\s?\d{1,3}|第\s?\d{1,3}\s?步)`;
/** Without a colon it is only a label if a line ends or a sentence begins: `Step 2 gives 7` is about a step. */
const labelEnd = String.raw`(?:\s{0,9}[:.)：]|\s{1,3}[-–—](?=\s)|(?=\s{0,9}(?:\n|$))|(?=\s{1,3}[\p{Lu}\p{Lo}\d$\\]))`;
const labelStart = String.raw`(?:#{1,6}\s{1,9})?`;
const label = new RegExp(
  String.raw`^${labelStart}(?:\*\*\s{0,9}${stepName}\s{0,9}[:.)：]?\s{0,9}\*\*\s{0,9}[:.)：]?|${stepName}${labelEnd})`,
  'u',
);
/** `**Step 3: Title**`: the emphasis continues after the label, so the label is kept. */
const openLabel = new RegExp(
  String.raw`^${labelStart}\*\*\s{0,9}${stepName}${labelEnd}\s{0,9}(?=[^*\n]+\*\*)`,
  'u',
);
const nextLabel = new RegExp(
  String.raw`\n[ \t]*(?=${labelStart}(?:\*\*)?${stepName}(?:\*\*(?:\s|[:.)：])|${labelEnd}))`,
  'u',
);
/** Before a digit, a dash may be a minus sign. */
const bullet = /^[-*•]\s+(?=[\p{L}$\\])/u;
const numbering = /^(\d{1,3})[.)]\s+(?=[\p{L}$\\])/u;
/** More labels and markers in a row than anybody writes. */
const mostMarks = 16;
const answerHeading =
  /^(?:#{1,6}\s+)?(?:\*\*)?(?:(?:the )?(?:final )?answer|antwort|réponse(?: finale)?|(?:最终)?答案)(?:\*\*)?\s?[:：]?(?:\*\*)?$/i;

/**
 * The first step in a text of a model: up to the delimiter or the label of the next step, without its own label (`Step
 * 3:`, also in German, French or Chinese) or list marker. A marker that may be part of the step is kept: `- 4` is a
 * number, and `2. ` is a marker only if the second step was requested. A heading above the answer stays with the
 * answer.
 *
 * @param number - The number of the requested step, from 1 up.
 */
export function readStep(text: string, delimiter: string, number: number): Parsed<string> {
  const body = text.replaceAll('\r\n', '\n').replace(/^.*<\/think>/s, '');
  if (/^\s*<think>/.test(body)) {
    return failed('parse', 'Expected a step, got thoughts that do not end.');
  }
  let heading = '';
  for (const part of body.split(delimiter)) {
    const step = withoutMarks(part, number);
    if (step === undefined) {
      return failed('parse', 'Expected a step, got one label behind another.');
    }
    if (step === '') continue;
    if (!answerHeading.test(step)) {
      return isText(step) ? { action: heading + step } : unreadable(step);
    }
    heading = 'Answer: ';
  }
  return heading === ''
    ? failed('empty', 'Expected a step, got no text.')
    : failed('parse', 'Expected a step, got a heading and nothing below it.');
}

/** Joins texts between delimiters into one step, on separate lines or on one. */
export function joinParts(text: string, delimiter: string): string {
  const parts = text.split(delimiter).map((part) => part.trim());
  return parts.filter((part) => part !== '').join(lineBreak(delimiter));
}

/** The separator of lines within a step: a line break, unless that separates steps. */
export function lineBreak(delimiter: string): string {
  return delimiter.trim() === '' && !delimiter.includes('\n\n') ? ' ' : '\n';
}

/**
 * Removes marks until nothing changes, so that a step that is read again stays the same; `undefined` if there are too
 * many.
 */
function withoutMarks(part: string, number: number): string | undefined {
  let step = part.trim();
  for (let round = 0; round < mostMarks; round++) {
    const before = step;
    step = step
      .replace(openLabel, '**')
      .replace(label, '')
      .replace(bullet, '')
      .replace(numbering, (marker, written) => (Number(written) === number ? '' : marker))
      .trim();
    const end = nextLabel.exec(step)?.index;
    if (end !== undefined) step = step.slice(0, end).trim();
    if (step === before) return step;
  }
  return undefined;
}

function isText(step: string): boolean {
  return /[\p{L}\p{N}]/u.test(step);
}

function unreadable(step: string): Failed {
  return failed('parse', `Expected a step in words, got \`${step.slice(0, 60)}\`.`);
}

function failed(kind: Failure['kind'], message: string): Failed {
  return { failure: { kind, message } };
}
