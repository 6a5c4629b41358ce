import type { LanguageModel } from '../contracts/language-model.ts';
import type { SearchNode } from '../contracts/node.ts';
import { withState } from '../policies/with-state.ts';
import type { Problem } from './problem.ts';

/**
 * The same problem with policy and evaluator behind a model: one call per request for proposals and one per value. So a
 * search is charged, journaled and delayed as with a real model.
 *
 * The policy proposes the same actions, with the answer as completion. The evaluator parses the value from the answer;
 * an answer that is not a number fails.
 */
export function throughModel<State, Action>(
  problem: Problem<State, Action>,
  options: {
    readonly model: LanguageModel;
    /** Which part asks the model. @defaultValue `'both'` */
    readonly asks?: 'policy' | 'evaluator' | 'both';
    /** The maximum tokens of an answer. @defaultValue 16 */
    readonly maxTokens?: number;
  },
): Problem<State, Action> {
  const { environment, policy, evaluator } = problem;
  const { model, asks = 'both', maxTokens = 16 } = options;
  const ask = (task: string, node: SearchNode<State, Action>) => {
    const state = withState(node).state;
    const content = `${task} ${environment.key?.(state) ?? JSON.stringify(state)}`;
    return { messages: [{ role: 'user' as const, content }], maxTokens };
  };
  return {
    environment,
    policy:
      asks === 'evaluator'
        ? policy
        : {
            async propose(node, request) {
              const { context, offset } = request;
              const { completions } = await context.generate(model, {
                ...ask('propose', node),
                offset,
              });
              const [completion] = completions;
              const proposals = await policy.propose(node, request);
              return proposals.map((proposal) =>
                completion === undefined ? proposal : { ...proposal, completion },
              );
            },
          },
    evaluator:
      asks === 'policy'
        ? evaluator
        : {
            needs: 'realised',
            evaluate: (nodes, { context }) =>
              Promise.all(
                nodes.map(async (node) => {
                  const { completions } = await context.generate(model, ask('value', node));
                  const text = completions[0]?.text ?? '';
                  const value = Number(text);
                  if (text !== '' && Number.isFinite(value)) return { value };
                  const message = `Expected a number, got \`${text}\`.`;
                  return { failure: { kind: 'parse', message } };
                }),
              ),
          },
  };
}

/**
 * An answer for a `scriptedModel` behind {@link throughModel}: a number in [0, 1) determined by the question.
 */
export function hashedAnswer(request: {
  readonly messages: readonly { readonly content: string }[];
}): string {
  let hash = 0x811c9dc5;
  for (const letter of request.messages.at(-1)?.content ?? '') {
    hash = Math.imul(hash ^ letter.charCodeAt(0), 0x01000193);
  }
  hash = Math.imul(hash ^ (hash >>> 15), 0x85ebca6b);
  return ((hash >>> 0) / 0x100000000).toFixed(6);
}
