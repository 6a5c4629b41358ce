import type { Problem, ShownEnvironment } from './problem.ts';

/** No step is longer, in tokens. */
const longestStep = 512;

/** A problem in an environment of the user's own. Its ends are verified where the environment rewards them. */
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
