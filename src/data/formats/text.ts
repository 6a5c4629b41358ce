import { expectObject } from '../../base/expect.ts';
import type { Message } from '../../contracts/language-model.ts';
import type { PreferenceRow, RolloutRow, SftRow, TrainingRow, UnpairedRow } from '../rows.ts';
import type { FormatOptions } from './format.ts';
import { plainPrompt } from './render.ts';
import { goingOn } from './whole-turns.ts';

/** A prompt as text, and what its completions begin with. */
export interface PromptText {
  /** The prompt. It ends on a boundary that tokens do not cross. */
  readonly text: string;
  /** What each completion begins with: a space where the prompt ends within a line of the assistant, else nothing. */
  readonly lead: string;
}

/** Makes text of the conversations of rows. If one cannot be expressed, a sentence with the reason is returned. */
export interface RowTexts {
  prompt(row: TrainingRow): PromptText;
  /**
   * A completion behind its prompt.
   *
   * @param ends - Whether nothing follows it.
   */
  single(
    row: RolloutRow | SftRow | UnpairedRow,
    ends: boolean,
  ): { readonly prompt: string; readonly completion: string } | string;
  pair(
    row: PreferenceRow,
  ): { readonly prompt: string; readonly chosen: string; readonly rejected: string } | string;
}

/**
 * Makes text of the conversations of rows. The prompt ends where a word cannot go on, and the completion carries
 * the white space between them, so that a tokenizer cuts the prompt alone as it cuts both together.
 */
export function rowTexts(options: FormatOptions = {}): RowTexts {
  expectObject('options', options);
  const { render = plainPrompt, endToken = '' } = options;
  // The rows of a node come one after another and share the array.
  let known: { readonly of: readonly Message[]; readonly as: PromptText } | undefined;
  const prompt = ({ prompt: messages, tools }: TrainingRow): PromptText => {
    if (known?.of !== messages)
      known = { of: messages, as: promptText(messages, render(messages, tools)) };
    return known.as;
  };
  const rest = (row: TrainingRow, messages: readonly Message[]): string | undefined => {
    const { text } = prompt(row);
    const whole = render(joined(row.prompt, messages), row.tools);
    return whole.startsWith(text) ? whole.slice(text.length) : undefined;
  };
  const completion = (row: TrainingRow, messages: readonly Message[], ends: boolean) => {
    const refused = refusalOf(messages);
    if (refused !== undefined) return { refused };
    const [first, ...others] = messages;
    const said = others.length === 0 ? first?.content : rest(row, messages);
    if (said === undefined) {
      return { refused: 'The turns of the completion do not go on from the text of the prompt.' };
    }
    const body = said.trimStart();
    if (body === '') return { refused: 'The completion is empty.' };
    const { lead } = prompt(row);
    return { text: lead + body + (ends && !body.endsWith(endToken) ? endToken : '') };
  };
  return {
    prompt,
    single(row, ends) {
      const { text = '', refused } = completion(row, row.completion, ends);
      return refused ?? { prompt: prompt(row).text, completion: text };
    },
    pair(row) {
      const chosen = completion(row, row.chosen, row.chosenEnds);
      const rejected = completion(row, row.rejected, row.rejectedEnds);
      const refused = chosen.refused ?? rejected.refused;
      if (refused !== undefined) return refused;
      const sides = { chosen: chosen.text ?? '', rejected: rejected.text ?? '' };
      if (sides.chosen === sides.rejected) return sameSides;
      return { prompt: prompt(row).text, ...sides };
    },
  };
}

/** Why a pair of equal sides is refused. */
export const sameSides = 'Both sides are the same text.';

/** The result if it could be expressed, else the reason why not. */
export function said<From extends object, To>(
  from: From | string,
  write: (from: From) => To,
): To | string {
  return typeof from === 'string' ? from : write(from);
}

function refusalOf(messages: readonly Message[]): string | undefined {
  if (messages.length === 0) return 'The completion is empty.';
  if (messages.some(({ toolCalls = [] }) => toolCalls.length > 0)) {
    return 'The completion calls tools, which text cannot hold: use `--format trl-tools` (`formats.trlTools`).';
  }
  return messages.at(-1)?.role === 'assistant'
    ? undefined
    : 'The completion does not end with a turn of the assistant.';
}

function promptText(messages: readonly Message[], text: string): PromptText {
  const last = messages.at(-1);
  if (last?.role !== 'assistant' || last.content.trim() === '') return { text, lead: '' };
  // Blanks would be one token with the word that follows.
  const kept = text.replace(/(?<![ \t])[ \t]+$/, '');
  return { text: kept, lead: /\s$/.test(kept) ? '' : ' ' };
}

/** The whole conversation: a completion goes on from a turn that has begun. */
function joined(prompt: readonly Message[], completion: readonly Message[]): readonly Message[] {
  const begun = prompt.at(-1);
  if (begun?.role !== 'assistant' || completion[0]?.role !== 'assistant')
    return [...prompt, ...completion];
  return [...prompt.slice(0, -1), ...goingOn(begun, completion)];
}
