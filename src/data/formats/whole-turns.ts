import type { Message } from '../../contracts/language-model.ts';
import type { TrainingRow } from '../rows.ts';

type Sides = Readonly<Record<string, readonly Message[]>>;

/** A prompt that ends with a whole turn, and its completions. */
export interface WholeTurns {
  readonly prompt: readonly Message[];
  readonly sides: Sides;
}

/**
 * A row for a form in which every turn is a whole one. Where the prompt ends with the beginning of the assistant's
 * turn, such as `Step 1:`, completions that lead from the root to an end take it over: together they are that turn.
 * Others cannot be said, and why comes back as a sentence.
 *
 * @param sides - The completions of the row, by column.
 */
export function wholeTurns(row: TrainingRow, sides: Sides): WholeTurns | string {
  const { prompt } = row;
  const begun = prompt.at(-1);
  if (begun?.role !== 'assistant') return { prompt, sides };
  if (row.provenance.depth > 0 || !isWhole(row)) {
    return 'A step goes on within the turn of the assistant that its prompt begins, and this form has whole turns only. Whole paths can be said, and steps that were asked for one by one: `--notation restated` shows them so.';
  }
  return {
    prompt: prompt.slice(0, -1),
    sides: Object.fromEntries(
      Object.entries(sides).map(([column, turns]) => [column, goingOn(begun, turns)]),
    ),
  };
}

/** Whether nothing follows the content of the row. */
function isWhole(row: TrainingRow): boolean {
  if (row.kind === 'preference') return row.chosenEnds && row.rejectedEnds;
  return row.kind === 'sft' || row.kind === 'unpaired' ? row.ends : true;
}

/** The turns behind one that has begun. */
export function goingOn(begun: Message, turns: readonly Message[]): readonly Message[] {
  const [first, ...others] = turns;
  if (first?.role !== 'assistant') return turns;
  const between = /\s$/.test(begun.content) || begun.content === '' ? '' : ' ';
  const content = begun.content + between + first.content.trimStart();
  return [{ ...first, content }, ...others];
}
