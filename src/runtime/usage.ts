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
    if (told.length === usages.length) sum[field] = told.reduce((total, used) => total + used, 0);
  }
  return sum;
}
