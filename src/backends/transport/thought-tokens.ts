import { expectInteger } from '../../base/expect.ts';

/** Options on how much a model thinks. */
export interface ThoughtOptions {
  /**
   * The maximum tokens of its thoughts, in addition to the `maxTokens` of a request: an integer from 0 up. The server
   * gets the sum of both, and the budget must cover it.
   *
   * @defaultValue 0 for models that are not known to think; for others by effort: 512 for `minimal`, 1,024 for `low`,
   * 4,096 for `medium` and if none is set, 8,192 for `high`, 16,384 for `xhigh`, 32,768 for `max`
   */
  readonly thoughtTokens?: number;
}

const byEffort: Readonly<Record<string, number>> = {
  none: 0,
  minimal: 512,
  low: 1024,
  medium: 4096,
  high: 8192,
  xhigh: 16_384,
  max: 32_768,
};

/** Names of models that think before they answer, whoever serves them. */
const thinkers =
  /(?:^|[/:])(?:claude-(?:[a-z]+-)?[5-9]|deepseek-(?:r\d|reasoner|v[4-9])|gemini-(?:2\.5|[3-9])|glm-(?:4\.[5-9]|[5-9])|gpt-(?:oss|[5-9])|grok-[4-9]|magistral|minimax-m|o\d|qwen-?3|qwq)|thinking|reasoning|reasoner/i;

/** Their variants that do not. */
const others = /instruct|coder|-chat\b|non-(?:thinking|reasoning)|embed|rerank|guard/i;

/** Whether a model is known to think before it answers, by its name. */
export function isThinker(modelId: string): boolean {
  return thinkers.test(modelId) && !others.test(modelId);
}

/**
 * The maximum tokens of a model's thoughts.
 *
 * @throws EspalierError `usage` if the number is invalid.
 */
export function thoughtTokensOf(
  { thoughtTokens }: ThoughtOptions,
  { thinks, effort = 'medium' }: { readonly thinks: boolean; readonly effort?: string | undefined },
): number {
  if (thoughtTokens !== undefined) expectInteger('thoughtTokens', thoughtTokens, { min: 0 });
  return thoughtTokens ?? (thinks ? (byEffort[effort] ?? 0) : 0);
}
