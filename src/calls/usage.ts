import { describeValue } from '../base/expect.ts';
import type { ModelCall, Usage } from '../contracts/language-model.ts';

const counts = [
  ...(['inputTokens', 'outputTokens', 'cachedTokens', 'cacheWriteTokens'] as const),
  'reasoningTokens',
] as const;
const fields = [...counts, 'usd'] as const;

/**
 * The usage of several requests together. A field that one of them does not report is unknown for all; without
 * requests, all fields are unknown. A service tier that not all share is reported in the parts.
 */
export function sumOfUsages(usages: readonly Usage[]): Usage {
  const sum: { -readonly [Field in keyof Usage]: Usage[Field] } = {};
  if (usages.length === 0) return sum;
  for (const field of fields) {
    const told = usages.flatMap(({ [field]: used }) => (used === undefined ? [] : [used]));
    const isSound = field === 'usd' ? isAmount : isCount;
    // An invalid count must not be balanced by others: it stands for all of them, and is told as it was reported.
    const odd = told.find((used) => !isSound(used));
    if (told.length === usages.length) {
      sum[field] = odd ?? told.reduce((total, used) => total + used, 0);
    }
  }
  const requests = usages.reduce((total, usage) => total + requestsOf(usage), 0);
  if (requests > 1) sum.requests = requests;
  const asked = usages.filter((usage) => requestsOf(usage) > 0);
  const [tier, ...others] = new Set(asked.map(({ serviceTier }) => serviceTier));
  if (others.length > 0) sum.parts = usages;
  else if (tier !== undefined) sum.serviceTier = tier;
  return sum;
}

/** The number of requests; an answer that read nothing was not requested. */
function requestsOf({ requests = 1, inputTokens }: Usage): number {
  return inputTokens === 0 ? 0 : requests;
}

/** What is wrong with the counts of a usage, whatever they count; `undefined` if nothing is. */
export function faultOfCounts(usage: Usage | undefined): string | undefined {
  if (typeof usage !== 'object' || (usage as unknown) === null) return describeValue(usage);
  const odd =
    [...counts, 'requests' as const].find(
      (field) => usage[field] !== undefined && !isCount(usage[field]),
    ) ?? (usage.usd === undefined || isAmount(usage.usd) ? undefined : 'usd');
  if (odd !== undefined) return `\`${odd}\` is ${describeValue(usage[odd])}`;
  const partFault = usage.parts?.map(faultOfCounts).find((fault) => fault !== undefined);
  if (partFault !== undefined) return partFault;
  const { inputTokens = Infinity, outputTokens = Infinity } = usage;
  const { cachedTokens = 0, cacheWriteTokens = 0, reasoningTokens = 0 } = usage;
  const cached = cachedTokens + cacheWriteTokens;
  if (cached > inputTokens) return `${cached} of ${inputTokens} tokens read are from a cache`;
  if (reasoningTokens <= outputTokens) return undefined;
  return `${reasoningTokens} of ${outputTokens} tokens written are thoughts`;
}

/** An answer whose usage is unknown. */
export function withoutUsage<Given>(answer: Given): Given {
  return typeof answer === 'object' && !Array.isArray(answer) ? { ...answer, usage: {} } : answer;
}

/** Counts impossible usages, and warns of a model's first, second, fourth, and so on. */
export class ImpossibleUsages {
  readonly #counts = new Map<string, number>();

  /** Warns the caller that the reported usage is impossible. */
  tell(model: string, { fault, call }: { readonly fault: string; readonly call: ModelCall }): void {
    const count = (this.#counts.get(model) ?? 0) + 1;
    this.#counts.set(model, count);
    if (!Number.isInteger(Math.log2(count))) return;
    const message = `${model} reported an impossible usage (${fault}): it counts as unknown, and the call is charged as reserved; ${count} so far.`;
    call.warn?.({ model, about: 'usage', message });
  }
}

function isAmount(value: number): boolean {
  return Number.isFinite(value) && value >= 0;
}

function isCount(value: number | undefined): boolean {
  return Number.isSafeInteger(value) && (value ?? 0) >= 0;
}
