import type { SearchNode } from '../contracts/node.ts';
import type { PromptPart } from '../contracts/prompt-part.ts';
import { fill, type PromptSet, promptsOf } from '../prompting/prompts.ts';

/** An instruction from a prompt set as a prompt part. */
export function instruction<State, Action, Name extends string>(
  set: PromptSet<Name>,
  choose: (node: SearchNode<State, Action>) => Name,
): PromptPart<State, Action> {
  return { prompts: promptsOf(set), text: (node) => fill(set.texts[choose(node)], {}) };
}
