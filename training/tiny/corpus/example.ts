import type { Message, Notation, Random } from 'espalier';

/** One line of the corpus. Only the last message, which is the assistant's, is learnt. */
export interface Example {
  readonly task: string;
  readonly messages: readonly Message[];
}

/** One line of the evaluation set: what `evaluate.py` holds an answer against. */
export interface Question extends Example {
  /** The steps that may be taken, as text. */
  readonly legal?: readonly string[];
  /** Those of them after which the goal can still be reached, on a shortest way where there is one. */
  readonly good?: readonly string[];
  /** The word of a judgement. */
  readonly label?: Label;
  /** The puzzle that a judgement is about. */
  readonly domain?: string;
  /** The one right answer. */
  readonly answer?: string;
}

/** The words of judgements. */
export type Label = 'impossible' | 'likely' | 'sure';

/** The words in the order in which `judge` names them. */
export const labels: readonly Label[] = ['sure', 'likely', 'impossible'];

/** What a state offers, as text. */
export interface Outlook {
  readonly legal: readonly string[];
  readonly good: readonly string[];
  readonly label: Label;
}

/** A state of a puzzle with what is true of it. */
export interface Position<State, Action> {
  readonly notation: Notation<State, Action>;
  readonly state: State;
  readonly outlook: Outlook;
}

/** One of several, all alike. */
export function pick<Item>(random: Random, items: readonly Item[]): Item {
  const item = items[random.integer(items.length)];
  if (item === undefined) throw new Error('Nothing to pick from.');
  return item;
}

/** The prompt of a step. */
export function stepPrompt<State, Action>({
  notation,
  state,
}: Position<State, Action>): readonly Message[] {
  return notation.prompt(state);
}

/** A prompt with its answer. */
export function answered(task: string, prompt: readonly Message[], answer: string): Example {
  return { task, messages: [...prompt, { role: 'assistant', content: answer }] };
}
