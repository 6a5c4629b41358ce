import type { Usage } from '../../spec/language-model.ts';

const fields: readonly (keyof Usage)[] = [
  'inputTokens',
  'outputTokens',
  'cachedTokens',
  'cacheWriteTokens',
  'reasoningTokens',
];

/** What several requests used together. What one of them did not tell is unknown of all. */
export function sumOfUsage(usages: readonly Usage[]): Usage {
  // No request at all is known to have used nothing.
  if (usages.length === 0) return { inputTokens: 0, outputTokens: 0 };
  const sum: Partial<Record<keyof Usage, number>> = {};
  for (const field of fields) {
    const told = usages.flatMap(({ [field]: used }) => (used === undefined ? [] : [used]));
    if (told.length === usages.length) sum[field] = told.reduce((total, used) => total + used, 0);
  }
  return sum;
}
