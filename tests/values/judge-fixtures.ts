import type { Notation } from '../../src/contracts/environment.ts';
import type { EvaluateRequest } from '../../src/contracts/evaluator.ts';
import type { Completion, GenerateRequest } from '../../src/contracts/language-model.ts';
import type { SearchNode } from '../../src/contracts/node.ts';
import { plainContext, type ScriptedModel, scriptedModel } from '../../src/testing/index.ts';
import { environmentOf } from '../support/environment-of.ts';
import { noSpend, rootNode } from '../support/nodes.ts';

/** States and actions are texts. */
export const notation: Notation<string, string> = {
  prompt: (state) => [{ role: 'user', content: `Work: ${state}.` }],
  format: (action) => `do ${action}`,
  parse: (text) => ({ action: text.replace(/^do /, '') }),
};

export const request: EvaluateRequest<string, string> = {
  environment: environmentOf(notation),
  context: plainContext(),
  remaining: noSpend,
};

/** What a model was last told. */
export function told({ messages }: Pick<GenerateRequest, 'messages'>): string {
  return messages.at(-1)?.content ?? '';
}

/** A model that gives its answers in turn, whatever it is asked. */
export function answering(...answers: readonly (string | Completion)[]): ScriptedModel {
  return scriptedModel({
    capabilities: { n: true, temperature: true },
    answer: (_request, index) => answers[index % answers.length] ?? '',
  });
}

/** A completion of tokens, each with what could have been written in its place and its probability. */
export function tokens(...places: readonly (readonly (readonly [string, number])[])[]): Completion {
  const logprobs = places.map((place) => {
    const top = place.map(([token, p]) => ({ token, logprob: Math.log(p) }));
    return { token: place[0]?.[0] ?? '', logprob: top[0]?.logprob ?? 0, top };
  });
  return { text: logprobs.map(({ token }) => token).join(''), logprobs };
}

/** A model that tells log-probabilities. */
export function telling(completion: Completion | ((asked: string) => Completion)): ScriptedModel {
  return scriptedModel({
    capabilities: { n: true, temperature: true, logprobs: true },
    answer: (asked) => (typeof completion === 'function' ? completion(told(asked)) : completion),
  });
}

/** The proposed children of a root. */
export function proposals(
  state: string,
  ...actions: readonly string[]
): readonly SearchNode<string, string>[] {
  return rootNode<string, string>(state, actions).children;
}
