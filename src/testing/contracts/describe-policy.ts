import assert from 'node:assert/strict';
import { canonicalJson } from '../../base/canonical-json.ts';
import { expectMethods } from '../../base/expect.ts';
import { expectOptions } from '../../base/expect-options.ts';
import { seededRandom } from '../../base/random.ts';
import type { Environment } from '../../contracts/environment.ts';
import type { SearchNode } from '../../contracts/node.ts';
import type { Policy, Proposal } from '../../contracts/policy.ts';
import { plainContext } from '../plain-context.ts';
import { subjectOf, type TestRunner } from '../test-runner.ts';
import { isAction, sampleTree, unlimited } from './sampling.ts';

/** Options of {@link describePolicy}. */
export interface PolicyClaims<State, Action> {
  /** Makes the policy. */
  readonly create: () => Policy<State, Action>;
  /** An environment for it. Its start must offer several actions. */
  readonly environment: Environment<State, Action>;
  /** The names of tests that do not apply, each with the reason in one sentence for the report. @defaultValue none */
  readonly exempt?: Readonly<Record<string, readonly string[]>>;
}

/**
 * The contract of a `Policy` as tests: valid priors, no more proposals than requested, different samples at different
 * offsets, and equal proposals for equal random numbers.
 *
 * @example
 * ```ts
 * describePolicy('uniform', { create: () => uniform(actions), environment }, { describe, test });
 * ```
 */
export function describePolicy<State, Action>(
  name: string,
  claims: PolicyClaims<State, Action>,
  runner: TestRunner,
): void {
  expectOptions('describePolicy', claims, 'create environment exempt');
  expectMethods('environment', claims.environment, ['reset', 'step']);
  const { describe, test } = subjectOf(claims, runner).runner;
  const nodes = () => openNodes(claims);
  describe(`policy ${name}`, () => {
    test('gives priors from 0 up that sum to at most 1', async () => {
      for (const node of await nodes()) {
        const proposals = (await ask(claims, node, { count: Infinity })).filter(isAction);
        const priors = proposals.flatMap(({ prior }) => (prior === undefined ? [] : [prior]));
        assert.ok(
          priors.length === 0 || priors.length === proposals.length,
          'some proposals have a prior and others none',
        );
        for (const prior of priors) assert.ok(prior >= 0 && Number.isFinite(prior), `got ${prior}`);
        const sum = priors.reduce((total, prior) => total + prior, 0);
        assert.ok(sum <= 1 + 1e-9, `they sum to ${sum}`);
      }
    });

    test('proposes no more than it is asked for', async () => {
      for (const node of await nodes()) {
        for (const count of [1, 2, 3]) {
          const proposals = await ask(claims, node, { count });
          assert.ok(proposals.length <= count, `${proposals.length} proposals for ${count}`);
        }
      }
    });

    test('proposes actions that the environment can take', async () => {
      for (const node of await nodes()) await assertLegal(claims, node);
    });

    test('gives other samples at other offsets', async () => {
      const [root] = await nodes();
      assert.ok(root !== undefined, 'the start has no actions');
      const samples = new Set<string>();
      for (let offset = 0; offset < 12; offset++) {
        const proposals = await ask(claims, root, { count: 1, offset });
        for (const proposal of proposals) samples.add(textOf(proposal));
      }
      assert.ok(
        samples.size > 1,
        `12 samples at the start are all ${[...samples]}: it must offer several actions, or be exempt if it always proposes its best ones`,
      );
    });

    test('proposes the same for the same random numbers', async () => {
      for (const node of await nodes()) {
        for (const count of [1, 3, Infinity]) {
          const first = await ask(claims, node, { count, offset: 5 });
          const again = await ask(claims, node, { count, offset: 5 });
          assert.deepEqual(again.map(textOf), first.map(textOf));
        }
      }
    });

    test('leaves the tree as it was', async () => {
      for (const node of await nodes()) {
        const before = JSON.stringify([node.children.length, node.visits, node.prior]);
        await ask(claims, node, { count: 2 });
        assert.equal(JSON.stringify([node.children.length, node.visits, node.prior]), before);
      }
    });
  });
}

/** Taking an illegal action makes the step throw. */
async function assertLegal<State, Action>(
  claims: PolicyClaims<State, Action>,
  node: SearchNode<State, Action>,
): Promise<void> {
  const proposals = await ask(claims, node, { count: Infinity });
  if (node.kind === 'proposed') return;
  for (const { action } of proposals.filter(isAction)) {
    await claims.environment.step(node.state, action, plainContext());
  }
}

async function openNodes<State, Action>({
  create,
  environment,
}: PolicyClaims<State, Action>): Promise<readonly SearchNode<State, Action>[]> {
  const random = seededRandom('nodes');
  const tree = await sampleTree({ environment, policy: create(), random });
  // Expanded nodes would only be asked for what is missing.
  const fresh = await sampleTree({ environment, policy: create(), random, walks: 0 });
  const leaves = [...tree.nodes()].filter(
    ({ kind, terminal, children }) => kind === 'realised' && !terminal && children.length === 0,
  );
  return [fresh.root, ...leaves];
}

async function ask<State, Action>(
  { create, environment }: PolicyClaims<State, Action>,
  node: SearchNode<State, Action>,
  { count, offset = 0 }: { readonly count: number; readonly offset?: number },
): Promise<readonly Proposal<Action>[]> {
  // As in a search: random numbers are derived from the node and the offset.
  const random = seededRandom('propose').split(node.id, offset);
  const context = plainContext({ random });
  return create().propose(node, { environment, context, count, offset, remaining: unlimited });
}

function textOf<Action>(proposal: Proposal<Action>): string {
  return canonicalJson('action', isAction(proposal) ? proposal.action : proposal.failure);
}
