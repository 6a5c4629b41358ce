import type { Problem, ShownEnvironment } from './problem.ts';

/** The longest step, in tokens. */
const longestStep = 512;

/** A problem in the user's own environment. Its ends are verified if the environment rewards them. */
export function ownProblem(
  environment: ShownEnvironment,
  { id, input }: { readonly id: string; readonly input: string | undefined },
): Problem {
  const isLine = input?.includes('\n') === false;
  return {
    kind: 'own',
    title: isLine ? `${environment.name}: ${input}` : environment.name,
    text: id,
    environment,
    maxTokens: longestStep,
    isTaught: false,
    verifies: false,
    answer(state) {
      const answer = environment.answer?.(state);
      if (answer === undefined) return '';
      return typeof answer === 'string' ? answer : JSON.stringify(answer);
    },
  };
}
