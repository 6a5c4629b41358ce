import { counted } from '../base/counted.ts';
import { isModule } from '../base/user-module.ts';
import type { SearchNode } from '../contracts/node.ts';
import type { Budget } from '../contracts/spend.ts';
import { algorithmEntry } from '../runs/algorithms.ts';
import type { SearchResult } from '../search/contracts.ts';
import { hasFailedBelow, hasFailedToGrow } from '../tree/closing.ts';

/** What a search left of its budget, why, and what would use it. */
export type Unused = NonNullable<ReturnType<typeof unusedOf>>;

/** What to say about a search that ended unsolved with more than half of its budget unused. */
export function unusedOf(
  result: SearchResult<unknown, unknown>,
  {
    budget,
    request: { algorithm = 'mcts', method, fill = false },
    asksModel,
  }: {
    readonly budget: Budget;
    readonly request: {
      readonly algorithm?: string;
      readonly method?: string;
      readonly fill?: boolean;
    };
    readonly asksModel: boolean;
  },
):
  | {
      readonly unit: keyof Budget;
      readonly used: number;
      readonly of: number;
      readonly why: string;
      /** The option that would use it, where there is one. */
      readonly use?: string;
    }
  | undefined {
  if (!hasEndedByItself(result)) return undefined;
  const { stopReason, exceeded, spend, tree } = result;
  const limits = Object.entries(budget) as [keyof Budget, number][];
  const spent = limits.map(([unit, of]) => ({ unit, used: spend[unit], of }));
  const [most] = spent
    .filter(({ unit }) => exceeded === undefined || unit === exceeded)
    .sort((a, b) => b.used / b.of - a.used / a.of);
  if (most === undefined || !(most.used < most.of / 2)) return undefined;
  if (stopReason === 'budget')
    return { ...most, why: 'what comes next may take more than is left' };
  const isListed = method === undefined && !isModule(algorithm);
  const paths = isListed ? algorithmEntry(algorithm).paths : undefined;
  if (paths !== undefined) {
    const why = `${algorithm} draws ${counted(paths, 'path')}`;
    return { ...most, why, use: '--algorithm best-of-n' };
  }
  const { cursor } = tree;
  const isLeft = [...tree.nodes()].some(
    ({ status, children }) => status === 'open' && children.length === 0,
  );
  if (cursor.terminal && isLeft) return { ...most, why: 'it has taken its last step' };
  if (fill) return { ...most, why: 'no node has anything new' };
  if (method === undefined && isModule(algorithm))
    return { ...most, why: 'the algorithm ended its search' };
  if (!asksModel) return { ...most, why: 'every move from the states that it kept is searched' };
  const who = method === undefined ? 'algorithm' : 'method';
  return { ...most, why: `every node has all the actions that the ${who} draws`, use: '--fill' };
}

function isUsedUp(root: SearchNode): boolean {
  return hasFailedBelow(root) || hasFailedToGrow(root);
}

/** The same in a sentence or two. */
export function describeUnused(
  { unit, used, of, why, use }: Unused,
  { isCut }: { readonly isCut: boolean },
): string {
  const amount =
    unit === 'usd'
      ? `$${used.toFixed(4)} of $${of}`
      : `${Math.round(used)} of ${unit === 'ms' ? `${of} ms` : counted(of, unit.slice(0, -1))}`;
  // What stopped it is said already.
  if (isCut)
    return `Used ${amount}: a call reserves the most that it may take. A larger budget has room for it.`;
  return `Used ${amount}: ${why}.${use === undefined ? '' : ` \`${use}\` draws more.`}`;
}

function hasEndedByItself({ solved, stopReason, failure, tree }: SearchResult<unknown, unknown>) {
  if (solved || !['budget', 'exhausted', 'failed'].includes(stopReason)) return false;
  // Where it failed for another reason than that nothing came of its samples, no further sample helps.
  return stopReason !== 'failed' || (isUsedUp(tree.root) && failure?.kind !== 'call');
}
