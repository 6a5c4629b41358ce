import { extractAnswer, isSameAnswer } from '../../../../src/environments/index.ts';
import { canonicalAnswer } from '../../../../src/environments/text/canonical-answer.ts';
import type { Phrasing, Phrasings } from './phrasing.ts';

/** How well the answers in phrasings are read. */
export interface Score {
  /** Answers read that are not the one stated, or where none is stated. */
  readonly wrong: readonly string[];
  /** Answers stated and not read. */
  readonly missed: readonly string[];
  /** Right answers of those read; 1 where none is read. */
  readonly precision: number;
  /** Right answers of those stated. */
  readonly recall: number;
  /** By group, as a table: phrasings, answers stated, read, read right; precision and recall. */
  readonly report: string;
}

/** Reads all phrasings. */
export function score(groups: Phrasings): Score {
  const readings = Object.entries(groups).flatMap(([group, phrasings]) =>
    phrasings.map((phrasing) => reading(group, phrasing)),
  );
  const { right, read, stated } = counts(readings);
  const lines = Object.keys(groups).map((group) =>
    line(group, counts(readings.filter((each) => each.group === group))),
  );
  return {
    wrong: readings.filter(({ isRead, isRight }) => isRead && !isRight).map(({ row }) => row),
    missed: readings.filter(({ isRead, isStated }) => !isRead && isStated).map(({ row }) => row),
    precision: read === 0 ? 1 : right / read,
    recall: right / stated,
    report: [...lines, line('all', counts(readings))].join('\n'),
  };
}

type Reading = ReturnType<typeof reading>;

function reading(group: string, [text, answer]: Phrasing) {
  const read = extractAnswer(text);
  return {
    group,
    isStated: answer !== null,
    isRead: read !== undefined,
    isRight: read !== undefined && answer !== null && isIt(read, answer),
    row: `${group}: ${JSON.stringify(text)} is ${String(answer)}, read as ${String(read)}`,
  };
}

function counts(readings: readonly Reading[]) {
  const count = (what: 'isRead' | 'isRight' | 'isStated') =>
    readings.filter((each) => each[what]).length;
  const [stated, read, right] = [count('isStated'), count('isRead'), count('isRight')];
  return { rows: readings.length, stated, read, right };
}

/** The same answer, and one that a vote counts as the same. */
function isIt(read: string, answer: string): boolean {
  return isSameAnswer(read, answer) && canonicalAnswer(read) === canonicalAnswer(answer);
}

function line(group: string, { rows, stated, read, right }: ReturnType<typeof counts>): string {
  const share = (part: number, whole: number) =>
    whole === 0 ? '     –' : `${((100 * part) / whole).toFixed(1).padStart(5)}%`;
  const numbers = [rows, stated, read, right].map((count) => String(count).padStart(5)).join(' ');
  return `${group.padEnd(28)}${numbers}  precision ${share(right, read)}  recall ${share(right, stated)}`;
}
