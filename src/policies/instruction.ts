import { fill, type PromptSet, promptsOf } from '../runtime/prompts.ts';
import type { SearchNode } from '../spec/node.ts';
import type { PromptPart } from '../spec/prompt-part.ts';

/** An instruction from a prompt set as a part of prompts. */
export function instruction<State, Action, Name extends string>(
  set: PromptSet<Name>,
  choose: (node: SearchNode<State, Action>) => Name,
): PromptPart<State, Action> {
  return { prompts: promptsOf(set), text: (node) => fill(set.texts[choose(node)], {}) };
}
