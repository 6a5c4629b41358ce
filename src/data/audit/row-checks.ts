import {
  identityOf,
  type ReadRow,
  type RowContent,
  type RowTurn,
  textOf,
} from '../formats/reading.ts';
import type { AuditLimits, RowFault } from './report.ts';
import { toolFaults } from './tool-checks.ts';

/** Looks at one row. Pure. */
export type RowCheck = (row: ReadRow, limits: AuditLimits) => readonly RowFault[];

const none: readonly RowFault[] = [];

function found(code: RowFault['code'], excerpt: unknown): readonly RowFault[] {
  return [{ code, excerpt }];
}

/** Both sides say the same, white space aside. */
const equalSides: RowCheck = ({ chosen, rejected }) => {
  if (chosen === undefined || rejected === undefined) return none;
  const isEqual =
    typeof chosen === 'string' || typeof rejected === 'string'
      ? textOf(chosen).trim() === textOf(rejected).trim()
      : identityOf(chosen.map(trimmed)) === identityOf(rejected.map(trimmed));
  return isEqual ? found('equal-sides', textOf(chosen)) : none;
};

function trimmed(turn: RowTurn): RowTurn {
  return typeof turn.content === 'string' ? { ...turn, content: turn.content.trim() } : turn;
}

/** A side, a completion or a step says nothing. */
const emptySides: RowCheck = ({ chosen, rejected, steps = [] }) => {
  const sides = [chosen, rejected].filter((side) => side !== undefined);
  const blanks = [...sides.map(textOf), ...steps].filter(
    (text) => typeof text === 'string' && text.trim() === '',
  );
  return blanks.length === 0 ? none : found('empty-side', blanks[0]);
};

/** The prompt is there and says nothing. */
const blankPrompt: RowCheck = ({ prompt }) =>
  prompt !== undefined && textOf(prompt).trim() === ''
    ? found('missing-prompt', textOf(prompt))
    : none;

/** Both sides must go on from the same prompt, where it stands in them. */
const samePrompts: RowCheck = ({ kind, implicit, prompt, chosen, rejected }) => {
  if (kind !== 'preference' || chosen === undefined || rejected === undefined) return none;
  if (implicit) {
    const shared = sharedStart(chosen, rejected);
    return found(shared === '' ? 'prompt-differs' : 'implicit-prompt', shared || textOf(chosen));
  }
  if (prompt === undefined) return none;
  const repeats = [chosen, rejected].map((side) => startsWithPrompt(side, prompt));
  if (repeats.every(Boolean)) return found('prompt-repeated', textOf(prompt));
  const isMixed = typeof prompt === 'string' && typeof chosen !== 'string' && chosen.length > 1;
  return repeats.some(Boolean) || isMixed ? found('prompt-differs', textOf(prompt)) : none;
};

function sharedStart(chosen: RowContent, rejected: RowContent): string {
  if (typeof chosen === 'string' && typeof rejected === 'string') {
    let length = 0;
    while (length < chosen.length && chosen[length] === rejected[length]) length++;
    return chosen.slice(0, length).trim();
  }
  if (typeof chosen === 'string' || typeof rejected === 'string') return '';
  const [first] = chosen;
  const isShared = identityOf(first && [first]) === identityOf(rejected[0] && [rejected[0]]);
  return isShared && first !== undefined ? textOf([first]) : '';
}

function startsWithPrompt(side: RowContent, prompt: RowContent): boolean {
  if (typeof side === 'string') {
    return typeof prompt === 'string' && prompt.trim() !== '' && side.startsWith(prompt);
  }
  if (typeof prompt === 'string') return side.length > 1 && textOf(side.slice(0, 1)) === prompt;
  return (
    side.length > prompt.length && identityOf(side.slice(0, prompt.length)) === identityOf(prompt)
  );
}

/** What the file says of how much better the chosen side is: its margin, else its scores, unless scores say the opposite. */
export function marginOf({ columns }: Pick<ReadRow, 'columns'>): number | undefined {
  let least = numberIn(columns, 'margin');
  for (const name of Object.keys(columns)) {
    if (!scoreOfChosen.test(name)) continue;
    const [better, worse] = [name, name.replace('chosen', 'rejected')].map((each) =>
      numberIn(columns, each),
    );
    if (better === undefined || worse === undefined) continue;
    const margin = better - worse;
    if (least === undefined || (margin < 0 && margin < least)) least = margin;
  }
  return least;
}

/** What scores of the chosen side are called; those of the other say `rejected` in its place. */
const scoreOfChosen =
  /^(?:(?:q|scores?|ratings?|values?|rewards?)[_-]chosen|chosen[_-](?:q|scores?|ratings?|values?|rewards?))$/;

function numberIn(columns: ReadRow['columns'], name: string): number | undefined {
  const value = columns[name];
  return typeof value === 'number' && Number.isFinite(value) ? value : undefined;
}

/** The chosen side is better, and by as much as was asked. */
const margins: RowCheck = (row, { minMargin }) => {
  const margin = row.kind === 'preference' ? marginOf(row) : undefined;
  if (margin === undefined) return none;
  if (margin < 0) return found('negative-margin', margin);
  return minMargin !== undefined && margin < minMargin ? found('low-margin', margin) : none;
};

/** Where prompt and completion meet, a tokenizer must cut as it cuts the prompt alone. */
const boundarySpace: RowCheck = ({ kind, templated, prompt, chosen, rejected }) => {
  if (typeof prompt !== 'string' || kind === 'prompt') return none;
  const sides = [chosen, rejected].filter((side) => typeof side === 'string');
  if (sides.length === 0 || sides.some((side) => side.trim() === '')) return none;
  const end = prompt.slice(-1);
  const starts = sides.map((side) => /^\s*/.exec(side)?.[0] ?? '');
  const isUneven = new Set(starts).size > 1;
  const isDouble = /\s/.test(end) && starts.some((start) => start !== '');
  const isCut =
    templated !== true &&
    /[\p{L}\p{N}]/u.test(end) &&
    sides.some((side) => /^[\p{L}\p{N}]/u.test(side));
  const isFaulty = /[ \t]/.test(end) || isDouble || isUneven || isCut;
  return isFaulty
    ? found('boundary-space', `${prompt.slice(-20)}|${sides[0]?.slice(0, 20)}`)
    : none;
};

/** A trainer that joins steps would find too many of them. */
const separators: RowCheck = ({ joined, steps = [], columns }, { separator }) => {
  if (!joined) return none;
  const own = columns['delimiter'];
  const between =
    separator === '' && typeof own === 'string' && own !== '' ? own : separator || '\n';
  const step = steps.find((each) => typeof each === 'string' && each.trim().includes(between));
  return step === undefined ? none : found('separator-in-step', step);
};

/** One label for each step. */
const labelCounts: RowCheck = ({ kind, steps, labels }) => {
  if (kind !== 'stepwise' || steps === undefined || labels === undefined) return none;
  return steps.length === labels.length
    ? none
    : found('label-count', `${steps.length} steps, ${labels.length} labels`);
};

/** Labels are booleans, or ratings. */
const labelTypes: RowCheck = ({ labels = [], rated }) => {
  const isLabel = (label: unknown) =>
    rated ? label === -1 || label === 0 || label === 1 : typeof label === 'boolean';
  const wrong = labels.find((label) => label !== undefined && !isLabel(label));
  return wrong === undefined ? none : found('label-type', wrong);
};

const endTokens: readonly string[] = [
  '</s>',
  '<eos>',
  '<end_of_turn>',
  '<|end|>',
  '<|end_of_text|>',
  '<|endoftext|>',
  '<|eot_id|>',
  '<|im_end|>',
  '<|return|>',
];

/** Only one side ends the answer. */
const endAsymmetry: RowCheck = ({ chosen, rejected, columns }) => {
  if (chosen === undefined || rejected === undefined) return none;
  const { chosen_ends: own, rejected_ends: other } = columns;
  const told = typeof own === 'boolean' && typeof other === 'boolean';
  const ends = told ? [own, other] : [chosen, rejected].map(endsWithToken);
  return ends[0] === ends[1] ? none : found('eos-asymmetry', textOf(chosen).slice(-40));
};

function endsWithToken(side: RowContent): boolean {
  const text = textOf(side).trimEnd();
  return endTokens.some((token) => text.endsWith(token));
}

const knownRoles: readonly string[] = ['assistant', 'developer', 'system', 'tool', 'user'];

/** Roles that trainers know, in an order that they take. */
const roles: RowCheck = (row) => {
  const { alternates, prompt, chosen, rejected } = row;
  if (alternates) return alternating(row);
  const wrong = [prompt, chosen, rejected].flatMap(turnsOf).find(isUnknown);
  return wrong === undefined ? outOfTurn(row) : found('invalid-role', wrong.role);
};

function turnsOf(content: RowContent | undefined): readonly RowTurn[] {
  return content === undefined || typeof content === 'string' ? [] : content;
}

function isUnknown({ role }: RowTurn): boolean {
  return !knownRoles.includes(role);
}

/** What is learnt is what the assistant says: it ends each side, and begins one that does not repeat its prompt. */
function outOfTurn({ implicit, prompt, chosen, rejected }: ReadRow): readonly RowFault[] {
  for (const side of [chosen, rejected].map(turnsOf)) {
    const [first, last] = [side[0], side.at(-1)];
    if (first === undefined || last === undefined) continue;
    if (!answering.includes(last.role)) return found('invalid-role', `${last.role} ends a side`);
    // Beside a prompt that is text, a whole conversation has been told as one that differs.
    const isWhole = implicit || typeof prompt === 'string' || repeats(side, prompt);
    if (!isWhole && first.role === 'user') return found('invalid-role', 'user begins a side');
  }
  return none;
}

function repeats(side: readonly RowTurn[], prompt: RowContent | undefined): boolean {
  return prompt !== undefined && startsWithPrompt(side, prompt);
}

/** As LLaMA-Factory wants it. */
function alternating({ prompt, chosen, rejected, kind }: ReadRow): readonly RowFault[] {
  const conversations = [prompt, chosen, rejected].map(turnsOf).filter(({ length }) => length > 0);
  const sides = kind === 'preference' ? conversations.slice(1) : [];
  const [said = []] = conversations;
  const turns = said[0]?.role === 'system' ? said.slice(1) : said;
  const wrong =
    turns.find(({ role }, place) => !(place % 2 === 0 ? asking : answering).includes(role)) ??
    sides.flat().find(({ role }) => !answering.includes(role));
  if (wrong !== undefined) return found('invalid-role', wrong.role);
  // A pair goes on from a question; anything else ends with an answer.
  const isWhole = turns.length % 2 === (kind === 'preference' ? 1 : 0);
  return isWhole ? none : found('invalid-role', `${turns.length} turns`);
}

const asking: readonly string[] = ['human', 'observation', 'tool', 'user'];
const answering: readonly string[] = ['assistant', 'function_call', 'gpt'];

/** All that is looked at in each row by itself. */
export const rowChecks: readonly RowCheck[] = [
  equalSides,
  emptySides,
  blankPrompt,
  samePrompts,
  margins,
  boundarySpace,
  separators,
  labelCounts,
  labelTypes,
  endAsymmetry,
  toolFaults,
  roles,
];
