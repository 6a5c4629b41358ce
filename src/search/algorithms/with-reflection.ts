import { expectFunction, expectNode, expectNumber, expectObject } from '../../base/expect.ts';
import { expectOptions } from '../../base/expect-options.ts';
import { failedBy } from '../../base/failure.ts';
import type { CallContext } from '../../contracts/context.ts';
import type { Environment } from '../../contracts/environment.ts';
import type { SearchNode } from '../../contracts/node.ts';
import type { Spend } from '../../contracts/spend.ts';
import { pathTo } from '../../tree/summary.ts';
import type { SearchTree } from '../../tree/tree.ts';
import type { SearchAlgorithm, SearchContext } from '../contracts.ts';
import { expectAlgorithm } from '../parts.ts';
import { within } from './within.ts';

/** Options of {@link withReflection}. */
export interface ReflectionOptions<State = any, Action = any> {
  /**
   * Reflects on the path taken: the nodes from the root to the cursor, or to the best node if nothing was committed. If
   * it fails, only the lesson is lost.
   */
  readonly reflect: (
    path: readonly SearchNode<State, Action>[],
    request: {
      readonly context: CallContext;
      readonly environment: Environment<State, Action>;
    },
  ) => Promise<unknown>;
  /** The fraction of the budget's calls, tokens and dollars reserved for reflection, in [0, 1). @defaultValue 0.1 */
  readonly reserve?: number;
}

/**
 * Runs an algorithm, then reflects on its result within the same budget. Simulations end when only the reserve for
 * reflection is left.
 *
 * @see Shinn et al., "Reflexion: Language Agents with Verbal Reinforcement Learning", 2023; Yu et al., "ExACT:
 * Teaching AI Agents to Explore with Reflective-MCTS and Exploratory Learning", 2024.
 */
export function withReflection<State = any, Action = any>(
  algorithm: SearchAlgorithm<State, Action>,
  options: ReflectionOptions<State, Action>,
): SearchAlgorithm<State, Action> {
  expectOptions('withReflection', options, 'reflect reserve');
  const { reflect, reserve = 0.1 } = options;
  expectAlgorithm('algorithm', algorithm);
  expectFunction('reflect', reflect);
  expectNumber('reserve', reserve, { min: 0, max: 1 });
  return {
    name: algorithm.name,
    concurrency: algorithm.concurrency,
    laws: algorithm.laws,
    async run(tree, context) {
      const kept = partOf(context.remaining, reserve);
      const lacks = () => kept.find(([unit, least]) => context.remaining[unit] <= least)?.[0];
      await algorithm.run(tree, within(context, { lacks }));
      if (tree.size === 1) return;
      const end = tree.cursor.parent === undefined ? tree.best : tree.cursor;
      await lookBack(end, reflect, { tree, context });
    },
  };
}

type Unit = 'calls' | 'tokens' | 'usd';

/** The amount kept in reserve, for each limited unit. */
function partOf(remaining: Spend, reserve: number): readonly (readonly [Unit, number])[] {
  const units = ['calls', 'tokens', 'usd'] as const;
  return units
    .filter((unit) => Number.isFinite(remaining[unit]) && reserve > 0)
    .map((unit) => [unit, remaining[unit] * reserve]);
}

/** Reflects on the path to an end. If that fails, only the lesson is lost, and the failure is noted at the end node. */
export async function lookBack<State, Action>(
  end: SearchNode<State, Action>,
  reflect: ReflectionOptions['reflect'],
  at: {
    readonly tree: SearchTree<State, Action>;
    readonly context: SearchContext<State, Action>;
  },
): Promise<void> {
  expectNode('end', end);
  expectFunction('reflect', reflect);
  expectObject('at', at);
  const { tree, context } = at;
  try {
    await reflect(pathTo(end), { context, environment: context.environment });
  } catch (error) {
    tree.noteFailures(end, failedBy(error, 'call', context));
  }
}
