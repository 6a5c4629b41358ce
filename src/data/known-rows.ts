import { isPlainObject } from '../base/json.ts';
import type { ReadRow, RowContent } from './formats/reading.ts';
import { HashTable, hashOf } from './hash-table.ts';
import { mixed } from './shingles.ts';

/** What a row does to those before it. */
export type Repetition = 'contradiction' | 'duplicate' | 'label-conflict';

/** Of each part of a row a hash; 0 where it has none. */
export type RowHashes = Readonly<
  Record<'chosen' | 'context' | 'prompt' | 'rejected' | 'steps' | 'tools', number>
>;

/** Hashes of what a row says: space around a text says nothing. */
export function hashesOf(row: ReadRow): RowHashes {
  const { prompt, chosen, rejected, steps, context, columns } = row;
  return {
    prompt: hashOfContent(prompt),
    chosen: hashOfContent(chosen),
    rejected: hashOfContent(rejected),
    steps: steps === undefined ? 0 : hashOf(JSON.stringify(steps.map(trimmed))),
    context: hashOfAny(context),
    tools: hashOfAny(columns['tools']),
  };
}

/** Tells which rows repeat or contradict one before them. Rows are kept as hashes only. */
export class KnownRows {
  readonly #seen = new HashTable();
  /** Of each labelled beginning of a solution 1 if it is labelled right, else 0. */
  readonly #labelled = new HashTable();

  /** Looks at the next row. */
  add(row: ReadRow, hashes: RowHashes = hashesOf(row)): Repetition | undefined {
    const { kind, labels } = row;
    const { prompt, context, tools, steps, chosen, rejected } = hashes;
    const asked = joined(joined(prompt, context), joined(tools, steps));
    if (kind === 'prompt') return this.#addPrompt(asked, answerOf(row));
    const opposite =
      kind === 'preference'
        ? keyOf(asked, joined(rejected, chosen), labels)
        : kind === 'unpaired'
          ? keyOf(
              asked,
              joined(chosen, rejected),
              labels?.map((label) => label !== true),
            )
          : undefined;
    // What contradicts a row is left out of a dataset, and so is known to none behind it.
    if (opposite !== undefined && this.#seen.get(opposite) !== undefined) return 'contradiction';
    if (!this.#seen.add(keyOf(asked, joined(chosen, rejected), labels))) return 'duplicate';
    return this.#relabels(row, prompt) ? 'label-conflict' : undefined;
  }

  /** One prompt has one right answer. */
  #addPrompt(asked: number, answer: unknown): Repetition | undefined {
    const isNew = this.#seen.add(asked);
    const isOther = this.#seen.add(joined(asked, hashOfAny(answer)));
    if (isNew) return undefined;
    return isOther ? 'contradiction' : 'duplicate';
  }

  /** Alternatives, as rated steps are, are no beginnings of each other. */
  #relabels({ steps = [], labels = [] }: ReadRow, prompt: number): boolean {
    let key = prompt;
    for (const [place, step] of steps.entries()) {
      const label = labels[place];
      if (typeof step !== 'string' || typeof label !== 'boolean') return false;
      key = joined(key, hashOf(step.trim()));
      const known = this.#labelled.get(key);
      if (known === undefined) this.#labelled.set(key, Number(label));
      else if (known !== Number(label)) return true;
    }
    return false;
  }
}

/** The right answer of a prompt, where trainers look for it. */
export function answerOf({ columns }: Pick<ReadRow, 'columns'>): unknown {
  const { reward_model: model } = columns;
  return isPlainObject(model) ? model['ground_truth'] : columns['answer'];
}

function hashOfContent(content: RowContent | undefined): number {
  if (content === undefined || typeof content === 'string') return hashOfAny(content);
  const turns = content.map((turn) => ({ ...turn, content: trimmed(turn.content) }));
  return hashOfText(JSON.stringify(turns));
}

function hashOfAny(value: unknown): number {
  if (value === undefined || value === null) return 0;
  return hashOfText(typeof value === 'string' ? value.trim() : JSON.stringify(value));
}

/** Rows that come one after another share most of their texts, of which comparing two is faster than hashing one. */
const lately: { readonly text: string; readonly hash: number }[] = [];

function hashOfText(text: string): number {
  const { length } = text;
  const middle = length >> 1;
  const place =
    (length ^ (text.charCodeAt(middle) << 3) ^ (text.charCodeAt(middle + (length >> 2)) << 5)) &
    127;
  const known = lately[place];
  if (known?.text === text) return known.hash;
  const made = { text, hash: hashOf(text) };
  lately[place] = made;
  return made.hash;
}

function trimmed(value: unknown): unknown {
  return typeof value === 'string' ? value.trim() : value;
}

function keyOf(asked: number, said: number, labels: readonly unknown[] = []): number {
  let key = joined(asked, said);
  for (const label of labels) key = joined(key, signOf(label));
  return key;
}

function signOf(label: unknown): number {
  return typeof label === 'boolean' ? Number(label) + 1 : hashOfAny(label);
}

/** 52 bits of a hash of two such hashes, in this order. */
function joined(one: number, other: number): number {
  const [oneHigh, otherHigh] = [one / 2 ** 32, other / 2 ** 32];
  const high = mixed(mixed(mixed(mixed(0x9e3779b9 ^ one) ^ oneHigh) ^ other) ^ otherHigh);
  const low = mixed(mixed(mixed(mixed(0x85ebca77 ^ one) ^ oneHigh) ^ other) ^ otherHigh);
  return (high >>> 12) * 2 ** 32 + low;
}
