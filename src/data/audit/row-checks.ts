import { counted } from '../../base/counted.ts';
import { nearestName } from '../../base/nearest-name.ts';
import { identityOf, type ReadRow, type RowTurn, textOf } from '../formats/reading.ts';
import { answerFaults } from './answer-checks.ts';
import { callFaults } from './call-checks.ts';
import { endsWithToken } from './end-tokens.ts';
import { hostedFaults } from './hosted-checks.ts';
import { imageFaults } from './image-checks.ts';
import type { AuditLimits, RowFault } from './report.ts';
import { promptFaults } from './same-prompts.ts';
import { emptySides, wordFaults } from './text-checks.ts';
import { toolFaults } from './tool-checks.ts';
import { contentFaults, roleFaults } from './turn-checks.ts';

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
  if (isEqual) return found('equal-sides', textOf(chosen));
  const [one, other] = [textOf(chosen), textOf(rejected)];
  const isAlike = one.length === other.length && one.toLowerCase() === other.toLowerCase();
  return isAlike ? found('alike-sides', one) : none;
};

function trimmed(turn: RowTurn): RowTurn {
  return typeof turn.content === 'string' ? { ...turn, content: turn.content.trim() } : turn;
}

/** What has one side of a pair is no prompt that answers are still to be found for. */
const bothSides: RowCheck = ({ kind, columns }) => {
  const lacking = ['chosen', 'rejected'].filter((name) => !(name in columns));
  const [missing = ''] = lacking;
  if (kind !== 'prompt' || lacking.length !== 1) return none;
  const meant = nearestName(missing, Object.keys(columns), 2);
  return found('missing-column', meant === undefined ? missing : `${missing}: is it \`${meant}\`?`);
};

/** The prompt is there and says nothing. */
const blankPrompt: RowCheck = ({ prompt }) =>
  prompt !== undefined && textOf(prompt).trim() === ''
    ? found('missing-prompt', textOf(prompt))
    : none;

/**
 * How much better the chosen side is according to the file: its margin, else its scores, unless scores say the
 * opposite.
 */
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
    : found('label-count', `${counted(steps.length, 'step')}, ${counted(labels.length, 'label')}`);
};

/** Labels are booleans, or ratings. */
const labelTypes: RowCheck = ({ labels = [], rated }) => {
  const isLabel = (label: unknown) =>
    rated ? label === -1 || label === 0 || label === 1 : typeof label === 'boolean';
  const wrong = labels.find((label) => label !== undefined && !isLabel(label));
  return wrong === undefined ? none : found('label-type', wrong);
};

/** Only one side ends the answer. */
const endAsymmetry: RowCheck = ({ chosen, rejected, columns }) => {
  if (chosen === undefined || rejected === undefined) return none;
  const { chosen_ends: own, rejected_ends: other } = columns;
  const told = typeof own === 'boolean' && typeof other === 'boolean';
  const ends = told ? [own, other] : [chosen, rejected].map(endsWithToken);
  return ends[0] === ends[1] ? none : found('eos-asymmetry', textOf(chosen).slice(-40));
};

/** All that is looked at in each row by itself. */
export const rowChecks: readonly RowCheck[] = [
  equalSides,
  bothSides,
  emptySides,
  blankPrompt,
  promptFaults,
  margins,
  boundarySpace,
  separators,
  labelCounts,
  labelTypes,
  endAsymmetry,
  toolFaults,
  callFaults,
  roleFaults,
  wordFaults,
  hostedFaults,
  answerFaults,
  imageFaults,
  contentFaults,
];
