import { turn } from '#platform';
import type { Random } from '../../contracts/context.ts';
import type { Environment } from '../../contracts/environment.ts';
import type { ChildNode, SearchNode } from '../../contracts/node.ts';
import type { Policy, Proposal } from '../../contracts/policy.ts';
import type { Spend } from '../../contracts/spend.ts';
import { SearchTree } from '../../tree/tree.ts';
import { plainContext } from '../plain-context.ts';

/** A budget without limits, as plug-ins see it. */
export const unlimited: Spend = {
  simulations: Infinity,
  nodes: Infinity,
  calls: Infinity,
  tokens: Infinity,
  usd: Infinity,
  ms: Infinity,
};

/** Lets the event loop turn `count` times. */
export async function turns(count: number): Promise<void> {
  for (let left = count; left > 0; left--) await turn();
}

/** Options of a tree grown by random walks, for suites that need nodes. */
export interface SampleOptions<State, Action> {
  readonly environment: Environment<State, Action>;
  /** The actions to choose from, or a policy that proposes them. */
  readonly policy: Policy<State, Action>;
  /** The random numbers of the walks. */
  readonly random: Random;
  readonly walks?: number;
  readonly maxDepth?: number;
}

/** Walks at random and keeps everything that is proposed on the way. */
export async function sampleTree<State, Action>(
  options: SampleOptions<State, Action>,
): Promise<SearchTree<State, Action>> {
  const { environment, random, walks = 4, maxDepth = 12 } = options;
  const context = plainContext({ random });
  const { state } = await environment.reset(context);
  const tree = new SearchTree<State, Action>(state, { environment: environment.name, seed: 0 });
  for (let walk = 0; walk < walks; walk++) {
    let node: SearchNode<State, Action> = tree.root;
    while (!node.terminal && node.depth < maxDepth) {
      const next: SearchNode<State, Action> | undefined = await takeStep(tree, node, options);
      if (next === undefined) break;
      node = next;
    }
  }
  return tree;
}

async function takeStep<State, Action>(
  tree: SearchTree<State, Action>,
  node: SearchNode<State, Action>,
  { environment, policy, random }: SampleOptions<State, Action>,
): Promise<SearchNode<State, Action> | undefined> {
  const context = plainContext({ random: random.split('node', node.id) });
  if (node.children.length === 0) {
    const request = { environment, context, count: Infinity, offset: 0, remaining: unlimited };
    const proposals = (await policy.propose(node, request)).filter(isAction);
    tree.add(
      node,
      proposals.map(({ action, prior = 0 }) => ({ action, prior })),
    );
  }
  const { children } = node;
  const next: ChildNode<State, Action> | undefined = children[random.integer(children.length)];
  if (next?.kind === 'proposed' && node.kind !== 'proposed') {
    tree.realise(next, await environment.step(node.state, next.action, context));
  }
  return next;
}

/** Whether a proposal has an action. */
export function isAction<Action>(
  proposal: Proposal<Action>,
): proposal is Extract<Proposal<Action>, { readonly action: Action }> {
  return 'action' in proposal;
}
