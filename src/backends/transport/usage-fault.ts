import { counted } from '../../base/counted.ts';
import { type Answer, type Asked, worstCaseOf } from '../../calls/middleware/wrap.ts';
import { faultOfCounts } from '../../calls/usage.ts';
import type { Completion, Generation } from '../../contracts/language-model.ts';
import type { StepScores } from '../../contracts/reward-model.ts';

/**
 * The most tokens of a request that nobody here sees: templates and tools of the provider, thoughts beyond the
 * limit. The longest contexts of 2026 hold about as many.
 */
const unseen = 2 ** 20;

/**
 * Why the usage that an answer tells cannot be; `undefined` where it can. More than was reserved can be: servers
 * write beyond a limit, and read more than they were sent.
 */
export function faultOfUsage(asked: Asked, answer: Answer): string | undefined {
  const { usage } = answer;
  if (usage === undefined) return undefined;
  const odd = faultOfCounts(usage);
  if (odd !== undefined) return odd;
  const { inputTokens, outputTokens } = usage;
  const answers = answersIn(answer);
  if (inputTokens === 0 && answers > 0) return 'no token was read';
  const written = asked.kind === 'generate' ? answers : 0;
  if (outputTokens !== undefined && outputTokens < written) {
    return `${outputTokens} tokens were written for ${counted(written, 'answer')}`;
  }
  const most = mostTokens(asked, answer);
  if ((inputTokens ?? 0) > most) return `${inputTokens} tokens were read`;
  return (outputTokens ?? 0) > most ? `${outputTokens} tokens were written` : undefined;
}

/** How many things came that took a token. */
function answersIn(answer: Answer): number {
  const { completions, scores, embeddings, answers } = answer as Partial<
    Generation & StepScores
  > & {
    readonly embeddings?: readonly unknown[];
    readonly answers?: object;
  };
  if (completions !== undefined) return completions.filter((one) => bytesOf(one) > 0).length;
  return (
    scores?.filter((score) => Array.isArray(score)).length ??
    embeddings?.length ??
    Object.keys(answers ?? {}).length
  );
}

/** No token is shorter than a byte. */
function mostTokens(asked: Asked, answer: Answer): number {
  const { completions = [] } = answer as Partial<Generation>;
  const written = completions.reduce((sum, completion) => sum + bytesOf(completion), 0);
  return written + requestsFor(asked) * (worstCaseOf(asked, undefined).tokens + unseen);
}

/** The most requests that a call may take: one a sample, a question, or a step. */
function requestsFor(asked: Asked): number {
  switch (asked.kind) {
    case 'generate':
      return asked.request.samples ?? 1;
    case 'score':
      return asked.request.solutions.reduce((sum, { steps }) => sum + steps.length + 1, 1);
    case 'decide':
      return Object.keys(asked.request.questions).length + 1;
    case 'embed':
      return asked.request.length + 1;
  }
}

function bytesOf({ text, reasoning = '', toolCalls = [] }: Completion): number {
  const calls = toolCalls.map(({ name, input }) => name + JSON.stringify(input));
  return Buffer.byteLength([text, reasoning, ...calls].join(''));
}
