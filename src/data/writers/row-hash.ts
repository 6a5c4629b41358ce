import { hashOf } from '../hash-table.ts';
import type { TrainingRow } from '../rows.ts';

/** Rows of one tree share their prompts and completions, so that most are hashed once for several rows. */
const known = new WeakMap<object, number>();

/** A hash of what messages, or anything else that is never changed, hold. */
export function hashOfAll(value: object): number {
  const own = known.get(value);
  if (own !== undefined) return own;
  const made = hashOf(JSON.stringify(value));
  known.set(value, made);
  return made;
}

/** A hash of what is learnt from a row, by which equal ones are known; `undefined` for one of a group, which must stay whole. */
export function hashOfRow(row: TrainingRow): number | undefined {
  const said = saidIn(row);
  if (said === undefined) return undefined;
  let key = `${hashOfAll(row.prompt)}`;
  for (const part of said) key += typeof part === 'object' ? ` ${hashOfAll(part)}` : ` ${part}`;
  return hashOf(row.tools === undefined ? key : `${key} tools ${hashOfAll(row.tools)}`);
}

/** The hash of the row that says the opposite: of a pair with its sides changed, of a completion with the other label. */
export function hashOfOpposite(row: TrainingRow): number | undefined {
  if (row.kind === 'unpaired') return hashOfRow({ ...row, label: !row.label });
  if (row.kind !== 'preference') return undefined;
  return hashOfRow({ ...row, chosen: row.rejected, rejected: row.chosen });
}

function saidIn(row: TrainingRow): readonly (boolean | object)[] | undefined {
  switch (row.kind) {
    case 'preference':
      return [row.chosen, row.rejected];
    case 'sft':
      return [row.completion];
    case 'unpaired':
      return [row.completion, row.label];
    case 'stepwise':
      return [row.steps, row.alternatives];
    case 'prompt':
      return [];
    case 'rollout':
      return undefined;
  }
}
