import type { Notation } from '../contracts/environment.ts';
import type { Message } from '../contracts/language-model.ts';
import type { ChildNode, SearchNode } from '../contracts/node.ts';

/** The part of a notation needed to show a solution. */
export type SolutionNotation<State, Action> = Pick<Notation<State, Action>, 'format' | 'prompt'>;

/**
 * The question of a tree, for reward models and for their training rows: the system message followed by the last user
 * message of the root's prompt. The system message is included because it may contain the task itself.
 */
export function questionAt<State, Action>(
  notation: SolutionNotation<State, Action>,
  root: SearchNode<State, Action>,
): string {
  // The root always has a state.
  const messages = notation.prompt(root.state as State);
  const question = messages.findLast(({ role }) => role === 'user') ?? messages.at(-1);
  const system = messages.filter((message) => message.role === 'system' && message !== question);
  const parts = [...system, ...(question === undefined ? [] : [question])];
  return parts
    .map(({ content }) => content)
    .filter((content) => content !== '')
    .join('\n\n');
}

/**
 * A step as reward models see it: the action followed by the response of the world, such as the result of a tool, if
 * prompts grow as a conversation. The response at an end is not shown, because no later action can depend on it.
 */
export function stepText<State, Action>(
  notation: SolutionNotation<State, Action>,
  node: ChildNode<State, Action>,
): string {
  const said = notation.format(node.action);
  if (node.kind !== 'realised' || node.terminal) return said;
  const answers = answersTo(notation, node.parent, node.state);
  return [said, ...answers.map(({ content }) => `Observation: ${content}`)].join('\n');
}

/** The question and the steps to a node, as reward models see them. */
export function solutionTo<State, Action>(
  notation: SolutionNotation<State, Action>,
  node: SearchNode<State, Action>,
): { readonly prompt: string; readonly steps: readonly string[] } {
  const steps: string[] = [];
  let place = node;
  while (place.kind !== 'root') {
    steps.push(stepText(notation, place));
    place = place.parent;
  }
  return { prompt: questionAt(notation, place), steps: steps.reverse() };
}

/** The messages after the turn of the action, in a conversation that begins with the previous prompt. */
function answersTo<State, Action>(
  notation: SolutionNotation<State, Action>,
  parent: SearchNode<State, Action>,
  state: State,
): readonly Message[] {
  const after = notation.prompt(state);
  if (after.length < 3) return [];
  const before = notation.prompt(parent.state as State);
  const isConversation =
    before.at(-1)?.role !== 'assistant' &&
    after[before.length]?.role === 'assistant' &&
    before.every(({ content }, place) => content === after[place]?.content);
  if (!isConversation) return [];
  return after.slice(before.length + 1).filter(({ role }) => role !== 'assistant');
}
