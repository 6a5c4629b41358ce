import { notationFor, type ReasoningState, reasoning } from '../environments/index.ts';
import type { Problem } from './problem.ts';

/** The longest step of reasoning, in tokens. */
const longestStep = 512;

/** A question that a model answers step by step. The answer is not verified: the model judges it. */
export function questionProblem(question: string): Problem {
  const environment = reasoning({ question });
  return {
    kind: 'question',
    title: `Question: ${question}`,
    text: question,
    environment: environment,
    notationFor: (capabilities) => notationFor(environment, capabilities),
    maxTokens: longestStep,
    isTaught: false,
    verifies: false,
    answer: (state) => (state as ReasoningState).answer ?? '',
  };
}
