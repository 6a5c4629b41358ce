import { expectFunction, expectNodes } from '../base/expect.ts';
import type { SearchNode } from '../contracts/node.ts';
import type { SearchContext } from './contracts.ts';

type Run<State, Action> = Parameters<SearchContext<State, Action>['round']>[2];

/** Works on each node of a list, one simulation per node. */
export async function runRound<State, Action>(
  context: Pick<SearchContext<State, Action>, 'simulate' | 'stopped'>,
  round: {
    readonly name: string;
    readonly nodes: readonly SearchNode<State, Action>[];
    readonly run: Run<State, Action>;
  },
): Promise<'done' | 'stopped'> {
  const { name, nodes, run } = round;
  expectNodes(nodes);
  expectFunction('run', run);
  const left = nodes.values();
  let done = 0;
  await context.simulate(
    async (simulation) => {
      const { value: node } = left.next();
      if (node === undefined) return 'exhausted';
      await run(node, simulation);
      done++;
      return 'continue';
    },
    { name, limit: nodes.length, exhausts: 'round' },
  );
  return done === nodes.length && !context.stopped ? 'done' : 'stopped';
}
