import { type ReadRow, type RowContent, textOf } from '../formats/reading.ts';
import type { RowFault } from './report.ts';
import type { CountTokens } from './tokenizer.ts';
import { offeredIn } from './tool-checks.ts';

/** The tokens that a chat template writes around a turn, approximately. */
const turnTokens = 4;

/** How long a row is, in tokens. */
export interface RowTokens {
  /** The prompt, with the tools that are offered; `undefined` if it is part of the completion. */
  readonly prompt: number | undefined;
  /** The completion; 0 if there is none. */
  readonly chosen: number;
  /** The other side; 0 if there is none. */
  readonly rejected: number;
}

/** Counts the tokens of a row. */
export function tokensOf(row: ReadRow, count: CountTokens): RowTokens {
  const { prompt, context, chosen, rejected, steps = [], columns } = row;
  const of = (content: RowContent | undefined) =>
    content === undefined
      ? 0
      : count(textOf(content)) + (typeof content === 'string' ? 0 : turnTokens * content.length);
  const tools = offeredIn(columns) ?? [];
  const around =
    (typeof context === 'string' ? count(context) : 0) +
    (tools.length === 0 ? 0 : count(JSON.stringify(tools)));
  const said = steps.filter((step) => typeof step === 'string');
  return {
    prompt: prompt === undefined ? undefined : of(prompt) + around,
    chosen: chosen === undefined ? count(said.join('\n')) : of(chosen),
    rejected: of(rejected),
  };
}

/** Trainers drop rows whose prompt alone fills the context, and cut off the ends of others. */
export function lengthFaults(
  { prompt = 0, chosen, rejected }: RowTokens,
  maxLength: number,
): readonly RowFault[] {
  const whole = prompt + Math.max(chosen, rejected);
  if (prompt >= maxLength) return [{ code: 'prompt-too-long', excerpt: `${prompt} tokens` }];
  return whole > maxLength ? [{ code: 'row-too-long', excerpt: `${whole} tokens` }] : [];
}
