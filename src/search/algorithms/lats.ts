import { expectBounds, expectFunction, expectNumber } from '../../base/expect.ts';
import { expectOptions } from '../../base/expect-options.ts';
import { descend, knownValue, leastTried, uct, type WideningRule } from '../../tree/selection.ts';
import type { SearchAlgorithm } from '../contracts.ts';
import type { AlgorithmEntry } from './entry.ts';
import { lookBack, type ReflectionOptions } from './with-reflection.ts';

/** Options of {@link lats}. */
export interface LatsOptions extends Partial<Pick<ReflectionOptions, 'reflect'>> {
  /** w, the weight of exploration: from 0 up. @defaultValue 1, the paper's */
  readonly c?: number;
  /** n, actions per node: an integer from 1 up. @defaultValue 5, the paper's */
  readonly width?: number;
  /** The longest path, in edges: an integer from 1 up. @defaultValue 7, the paper's */
  readonly maxDepth?: number;
  /** Whether a node may get further children later, `width` at a time. @defaultValue never, as in the paper */
  readonly widening?: WideningRule;
}

/**
 * LATS: a simulation selects by `V(s) + w · √(ln N(parent) / N(s))`, expands, takes the actions and evaluates all new
 * children, and continues from the best of them to an end, which is backed up. `reflect` reviews ends with a score
 * below 1; its lessons reach policy and judge through their prompt parts.
 *
 * Differences from the reference code: an unvisited child counts with its evaluation alone, values are means of returns
 * (the code divides by the visits twice), rollouts stay in the tree, an end counts its reward, and a reward from the
 * answer key does not end the search: use `stopWhen` for that.
 *
 * @see Zhou et al., "Language Agent Tree Search Unifies Reasoning, Acting, and Planning in Language Models", 2024
 * (arXiv 2310.04406), section 4.
 */
export function lats(options: LatsOptions = {}): SearchAlgorithm {
  expectOptions('lats', options, 'c width maxDepth reflect widening');
  const { c = 1, width = 5, maxDepth = 7, reflect = async () => {}, widening } = options;
  expectNumber('c', c, { min: 0 });
  expectBounds({ width, maxDepth });
  expectFunction('reflect', reflect);
  if (widening !== undefined) expectFunction('widening', widening);
  const selection = descend(uct({ c, unvisited: knownValue }));
  // If another simulation expanded the node while this one waited for its state, it gets no more children.
  const request = { count: width, widening: widening ?? (() => false) };
  return {
    name: 'lats',
    concurrency: 'any',
    laws: ['visits', 'values', 'simulations'],
    async run(tree, context) {
      await context.simulate(async (simulation) => {
        const leaf = simulation.select(selection, { widening });
        if (leaf === undefined) return 'exhausted';
        const grow = async (node: typeof leaf) => {
          const isInner = node.status === 'open' && node.depth < maxDepth;
          const children = isInner ? await context.expand(node, request) : [];
          const isFull = widening === undefined && children.length > 0;
          if (isFull || node.depth >= maxDepth) tree.complete(node);
          await context.realise(children);
          await context.evaluate(children);
          return leastTried(children, tree);
        };
        await context.realise([leaf]);
        let end = simulation.visit(tree.original(leaf));
        for (let to = await grow(end); to; to = await grow(end)) end = simulation.visit(to);
        await context.evaluate([end]);
        if (end.status !== 'failed') tree.backup(end);
        const hasFailed = end.terminal && (tree.score(end, 1) ?? 0) < 1;
        if (hasFailed) await lookBack(end, reflect, { tree, context });
        return 'continue';
      });
    },
  };
}

/** List entry of LATS, without reflection. */
export const latsEntry: AlgorithmEntry = {
  name: 'lats',
  title: 'Language Agent Tree Search (LATS)',
  paper: 'Zhou et al., Language Agent Tree Search, 2024, arXiv 2310.04406',
  create: () => lats({ maxDepth: 64 }),
};
