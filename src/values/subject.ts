import type { EvaluateRequest } from '../contracts/evaluator.ts';
import type { MaybePromise } from '../contracts/json.ts';
import type { Message } from '../contracts/language-model.ts';
import type { SearchNode } from '../contracts/node.ts';
import type { PromptPart } from '../contracts/prompt-part.ts';
import { notationOf } from '../prompting/notation.ts';
import { withParts } from '../prompting/prompt-parts.ts';

/** How a node looks to a judge. */
export interface View<State, Action> {
  /** What is judged. */
  readonly about: 'action' | 'state';
  /** What is told behind the state. */
  readonly promptParts: readonly PromptPart<State, Action>[];
}

/** What is judged, as text. */
export interface Subject {
  /** The state, or that in which the step is proposed, with what is told behind it. */
  readonly messages: readonly Message[];
  /** The step, where it is not the state that is judged. */
  readonly step: string | undefined;
}

/** What is judged at a node; `undefined` where there is no state to look at. The start has no step. */
export function subjectOf<State, Action>(
  { about, promptParts }: View<State, Action>,
  node: SearchNode<State, Action>,
  request: EvaluateRequest<State, Action>,
): MaybePromise<Subject | undefined> {
  const isStep = about === 'action' && node.kind !== 'root';
  const place = isStep ? node.parent : node;
  if (place.kind === 'proposed') return undefined;
  const notation = notationOf(request);
  const messages = notation.prompt(place.state);
  const step = isStep ? notation.format(node.action) : undefined;
  // With nothing else to be told the question is asked at once.
  if (promptParts.length === 0) return { messages, step };
  return withParts(messages, promptParts, { ...request, node: place }).then((told) => ({
    messages: told,
    step,
  }));
}

/** A prompt with a request behind its last message. An answer that was begun is left as it stands. */
export function askBehind(messages: readonly Message[], request: string): readonly Message[] {
  const last = messages.at(-1);
  return last?.role === 'user'
    ? [...messages.slice(0, -1), { role: 'user', content: `${last.content}\n\n${request}` }]
    : [...messages, { role: 'user', content: request }];
}
