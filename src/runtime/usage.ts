import type { Usage } from '../spec/language-model.ts';

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

function isCount(value: number | undefined): boolean {
  return Number.isSafeInteger(value) && (value ?? 0) >= 0;
}
