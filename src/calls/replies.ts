import { expectArray, expectation, expectObject, expectText } from '../base/expect.ts';
import { isFailure } from '../base/failure.ts';
import type { Decision, Decisions } from '../contracts/decision-model.ts';
import type { Embeddings } from '../contracts/embedding-model.ts';
import type { Generation, Usage } from '../contracts/language-model.ts';
import { faultOfCounts } from './usage.ts';

/** A generation that holds so many completions, and whose usage can be. */
export function soundGeneration(
  model: string,
  reply: Generation,
  { count, tell }: { readonly count: number; readonly tell: (fault: string) => void },
): Generation {
  expectCompletions(model, reply);
  const { completions, usage, fromCache = false } = reply;
  if (completions.length !== count) {
    throw new Error(`${model} gave ${completions.length} of ${count} completions.`);
  }
  // A text that nobody was paid for comes from a cache, and is said to.
  const isFree = !fromCache && completions.some(({ text }) => text !== '') && isNothing(usage);
  const fault = isFree ? 'no token for a text' : faultOfCounts(usage);
  if (fault === undefined) return reply;
  tell(fault);
  return { ...reply, usage: {} };
}

/** Throws unless a model replied with completions. */
export function expectCompletions(model: string, reply: Generation): void {
  expectObject(`reply of ${model}`, reply);
  expectArray(`completions of ${model}`, reply.completions);
  for (const [place, completion] of reply.completions.entries()) {
    const nameOf = (field: string) => `completions[${place}]${field} of ${model}`;
    expectObject(nameOf(''), completion);
    const { text, toolCalls, logprobs } = completion;
    expectText(nameOf('.text'), text);
    if (toolCalls !== undefined) expectArray(nameOf('.toolCalls'), toolCalls);
    if (logprobs !== undefined) expectArray(nameOf('.logprobs'), logprobs);
  }
}

/** What is told of the vectors of so many texts. */
export function soundEmbeddings(model: string, reply: Embeddings, count: number): Embeddings {
  expectObject(`reply of ${model}`, reply);
  const { embeddings } = reply;
  expectArray(`embeddings of ${model}`, embeddings);
  if (embeddings.length !== count) {
    throw new Error(`${model} gave ${embeddings.length} vectors for ${count} texts.`);
  }
  const odd = embeddings.findIndex(
    (vector) => !Array.isArray(vector) || !vector.every(Number.isFinite),
  );
  if (odd < 0) return reply;
  throw expectation(`embeddings[${odd}] of ${model}`, 'an array of numbers', embeddings[odd]);
}

/** Decisions that hold one on each question. */
export function soundDecisions(
  model: string,
  reply: Decisions,
  questions: readonly string[],
): Decisions {
  expectObject(`reply of ${model}`, reply);
  const { answers } = reply;
  expectObject(`answers of ${model}`, answers);
  for (const name of questions) {
    if (!Object.hasOwn(answers, name)) throw new Error(`${model} gave no decision on \`${name}\`.`);
    const decision = answers[name] as Decision;
    expectObject(`answers.${name} of ${model}`, decision);
    if (isFailure(decision) || decision.type !== 'choice') continue;
    expectObject(`answers.${name}.probabilities of ${model}`, decision.probabilities);
  }
  return reply;
}

function isNothing(usage: Usage | undefined): boolean {
  return usage?.inputTokens === 0 && usage.outputTokens === 0;
}
