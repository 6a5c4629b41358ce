import { expectFunction, expectInteger } from '../../base/expect.ts';
import { expectOptions } from '../../base/expect-options.ts';
import type { SearchNode } from '../../contracts/node.ts';
import { isAtOrBelow } from '../../tree/best-end.ts';
import { type FinalChoice, robustOrSolvedChild } from '../../tree/final-choice.ts';
import { notesOf } from '../../tree/notes.ts';
import { isOut } from '../../tree/selection.ts';
import type { SearchTree } from '../../tree/tree.ts';
import type { SearchAlgorithm, SearchContext } from '../contracts.ts';
import { expectAlgorithm } from '../parts.ts';
import { within } from './within.ts';

/**
 * Commits to one action at a time: searches from the cursor, takes the best action, and continues from there. The
 * subtree below the action stays, and so do its siblings, which training data needs.
 *
 * It ends at a terminal state, when no action is left, or with the budget. A step ends early when nothing is left to
 * search.
 *
 * @param algorithm - What grows the tree for each step.
 * @see Hao et al., "Reasoning with Language Model is Planning with World Model", 2023, section 3.3, for search
 * before each step; Yu et al., "ExACT", 2024, and Xie et al., 2024, for committing to one action at a time.
 */
export function stepwise<State = any, Action = any>(
  algorithm: SearchAlgorithm<State, Action>,
  options: {
    /** How many simulations each step gets: an integer from 1 up. */
    readonly simulations: number;
    /**
     * The rule that picks the action to take.
     *
     * @defaultValue {@link robustOrSolvedChild}; for an algorithm without visit counts, the action that leads to the
     * best node
     */
    readonly choice?: FinalChoice;
    /** The maximum number of actions to take: an integer from 1 up. @defaultValue no limit */
    readonly maxSteps?: number;
  },
): SearchAlgorithm<State, Action> {
  expectOptions('stepwise', options, 'simulations choice maxSteps');
  const { simulations, choice = robustOrSolvedChild } = options;
  const { maxSteps = Number.POSITIVE_INFINITY } = options;
  expectAlgorithm('algorithm', algorithm);
  expectInteger('simulations', simulations, { min: 1 });
  expectFunction('choice', choice);
  expectInteger('maxSteps', maxSteps, { min: 1, max: Number.POSITIVE_INFINITY });
  return {
    name: algorithm.name,
    concurrency: algorithm.concurrency,
    // A simulation that finds nothing left at one step adds no visit, and ends only the step.
    laws: algorithm.laws.filter((law) => law !== 'simulations'),
    async run(tree, context) {
      const simulate = (count: number, stragglers: 'leave' | 'wait') => {
        const end = tree.simulations + count;
        const limit = () => end - tree.simulations;
        return algorithm.run(tree, within(context, { limit, exhausts: 'round', stragglers }));
      };
      const countsVisits = options.choice !== undefined || algorithm.laws.includes('visits');
      const chosen = () =>
        countsVisits ? choice(soundChildren(tree), tree.discount) : firstStepTo(tree.best, tree);
      const isOver = () => context.stopped || stepsTaken(tree) >= maxSteps;
      while (!isOver()) {
        const left = simulations - simulationsHere(tree);
        if (left > 0) await simulate(left, 'leave');
        // All simulations may have failed, and further ones may not; or the choice may be waiting for a slow expansion.
        const lacksChoice = () => tree.cursor.status === 'open' && chosen() === undefined;
        let before = '';
        while (!isOver() && lacksChoice() && before !== progressOf(tree)) {
          before = progressOf(tree);
          await simulate(simulations, 'wait');
        }
        if (isOver() || !(await commit(tree, context, chosen()))) return;
      }
    },
  };
}

/** The number of actions taken so far, perhaps by a search that this one continues. */
function stepsTaken<State, Action>({ cursor, root }: SearchTree<State, Action>): number {
  return cursor.depth - root.depth;
}

/** The number of simulations there had been when the cursor reached a node. */
const notes = notesOf<{ readonly simulationsBefore: number }>('stepwise');

/** The number of simulations since the cursor reached its node; noted in the tree, so that a search can be resumed. */
function simulationsHere<State, Action>(tree: SearchTree<State, Action>): number {
  const { cursor, simulations } = tree;
  const note = notes.at(cursor);
  if (note !== undefined) return simulations - note.simulationsBefore;
  notes.write(tree, cursor, { simulationsBefore: simulations });
  return 0;
}

/** The progress so far: two equal texts mean that the simulations between them changed nothing. */
function progressOf<State, Action>({ simulations, size, cursor }: SearchTree<State, Action>) {
  return `${simulations} ${size} ${cursor.visits}`;
}

/** The child of the cursor at or above a node, unless it has failed. */
function firstStepTo<State, Action>(
  end: SearchNode<State, Action>,
  tree: SearchTree<State, Action>,
): SearchNode<State, Action> | undefined {
  return soundChildren(tree).find((child) => isAtOrBelow(end, child));
}

function soundChildren<State, Action>({
  cursor,
}: SearchTree<State, Action>): readonly SearchNode<State, Action>[] {
  return cursor.children.filter((child) => !isOut(child));
}

/** Takes the chosen action. @returns whether the search can continue from there */
async function commit<State, Action>(
  tree: SearchTree<State, Action>,
  context: SearchContext<State, Action>,
  chosen: SearchNode<State, Action> | undefined,
): Promise<boolean> {
  if (chosen === undefined) return false;
  await context.realise([chosen]);
  const taken = tree.original(chosen);
  if (taken.kind !== 'realised' || taken.status === 'failed') return false;
  context.advance(taken);
  return !taken.terminal;
}
