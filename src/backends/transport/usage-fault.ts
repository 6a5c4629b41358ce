import { counted } from '../../base/counted.ts';
import type { Asked } from '../../calls/middleware/wrap.ts';
import type { Answer } from '../../calls/operations/model-operation.ts';
import { mostCost } from '../../calls/pricing.ts';
import { faultOfCounts } from '../../calls/usage.ts';

/**
 * The maximum tokens of a request that are invisible here: templates and tools of the provider, thoughts beyond the
 * limit. The longest contexts of 2026 have about as many.
 */
const unseen = 2 ** 20;

/**
 * Why the reported usage of an answer is impossible; `undefined` if it is possible. More than was reserved is possible:
 * servers write beyond a limit, and read more than they were sent.
 */
export function faultOfUsage({ operation, request }: Asked, answer: Answer): string | undefined {
  const { usage } = answer;
  if (usage === undefined) return undefined;
  const odd = faultOfCounts(usage);
  if (odd !== undefined) return odd;
  const { inputTokens, outputTokens } = usage;
  const extent = operation.extent?.(request, answer);
  if (extent === undefined) return undefined;
  const { requests, answers, bytes } = extent;
  if (inputTokens === 0 && answers > 0) return 'no token was read';
  const written = bytes === undefined ? 0 : answers;
  if (outputTokens !== undefined && outputTokens < written) {
    return `${outputTokens} tokens were written for ${counted(written, 'answer')}`;
  }
  // No token is shorter than a byte.
  const most = (bytes ?? 0) + requests * (mostCost(operation.worstCase?.(request)).tokens + unseen);
  if ((inputTokens ?? 0) > most) return `${inputTokens} tokens were read`;
  return (outputTokens ?? 0) > most ? `${outputTokens} tokens were written` : undefined;
}
