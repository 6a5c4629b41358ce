import type { Notation } from '../contracts/environment.ts';
import type { Message } from '../contracts/language-model.ts';
import type { ChildNode, SearchNode } from '../contracts/node.ts';

/** What shows a solution. */
export type SolutionNotation<State, Action> = Pick<Notation<State, Action>, 'format' | 'prompt'>;

/**
 * The question of a tree as reward models are asked it, and as rows for their training say it: the last words of the
 * user in the prompt at the root, behind what the system says there. A system message may hold the task itself, and
 * whoever scores a step has to know it.
 */
export function questionAt<State, Action>(
  notation: SolutionNotation<State, Action>,
  root: SearchNode<State, Action>,
): string {
  // The root is a state that was reached.
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
 * A step as reward models see it: the action, and behind it what the world answered, such as the result of a tool,
 * where prompts grow as a conversation. What an end brought is not shown: no action follows that could rest on it.
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

/** What stands behind the turn of the action in a conversation that the prompt before it begins. */
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
