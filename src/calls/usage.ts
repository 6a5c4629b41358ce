import type { Generation, ModelCall, Usage } from '../contracts/language-model.ts';

const fields: readonly (keyof Usage)[] = [
  'inputTokens',
  'outputTokens',
  'cachedTokens',
  'cacheWriteTokens',
  'reasoningTokens',
];

/** What several requests used together. What one of them did not tell is unknown of all; of none, all is. */
export function sumOfUsages(usages: readonly Usage[]): Usage {
  const sum: Partial<Record<keyof Usage, number>> = {};
  if (usages.length === 0) return sum;
  for (const field of fields) {
    const told = usages.flatMap(({ [field]: used }) => (used === undefined ? [] : [used]));
    // One that is no count is not to be made good by others.
    const isSound = told.every(isCount);
    if (told.length === usages.length) {
      sum[field] = isSound ? told.reduce((total, used) => total + used, 0) : Number.NaN;
    }
  }
  return sum;
}

/** What is wrong with the counts of a usage, whatever they count; `undefined` where nothing is. */
export function faultOfCounts(usage: Usage): string | undefined {
  const odd = fields.find((field) => usage[field] !== undefined && !isCount(usage[field]));
  if (odd !== undefined) return `\`${odd}\` is ${usage[odd]}`;
  const { inputTokens = Infinity, outputTokens = Infinity } = usage;
  const { cachedTokens = 0, cacheWriteTokens = 0, reasoningTokens = 0 } = usage;
  const cached = cachedTokens + cacheWriteTokens;
  if (cached > inputTokens) return `${cached} of ${inputTokens} tokens read are from a cache`;
  if (reasoningTokens <= outputTokens) return undefined;
  return `${reasoningTokens} of ${outputTokens} tokens written are thoughts`;
}

/** A generation whose usage can be: a text that nobody was paid for comes from a cache, and is said to. */
export function withKnownUsage(generation: Generation, tell: (fault: string) => void): Generation {
  const { completions, usage, fromCache = false } = generation;
  const { inputTokens, outputTokens } = usage;
  const isNothing = inputTokens === 0 && outputTokens === 0;
  if (!isNothing || fromCache || completions.every(({ text }) => text === '')) return generation;
  tell('no token for a text');
  return { ...generation, usage: {} };
}

/** Counts the usages that cannot be, and tells of the first, the second, the fourth, and so on. */
export class ImpossibleUsages {
  readonly #model: string;
  #count = 0;

  constructor(model: string) {
    this.#model = model;
  }

  /** Tells whoever makes a call what is wrong with what it is said to have used. */
  tell(fault: string, call: ModelCall): void {
    this.#count++;
    if (!Number.isInteger(Math.log2(this.#count))) return;
    const message = `${this.#model} told a usage that cannot be (${fault}): it counts as unknown, and the call is charged as reserved; ${this.#count} so far.`;
    call.warn?.({ model: this.#model, about: 'usage', message });
  }
}

function isCount(value: number | undefined): boolean {
  return Number.isSafeInteger(value) && (value ?? 0) >= 0;
}
