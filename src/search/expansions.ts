import { describeValue } from '../runtime/expect.ts';
import type { Ledger } from '../runtime/ledger.ts';
import type { SearchNode } from '../spec/node.ts';
import type { Proposal, ProposeRequest } from '../spec/policy.ts';
import type { Spend } from '../spec/spend.ts';
import type { ExpandOptions } from './contracts.ts';
import { failNode, failureOf } from './failing.ts';
import { endsSearch, PluginContext } from './plugin-context.ts';
import { applyProposals } from './proposals.ts';
import type { Realisations } from './realisations.ts';
import type { SearchSession } from './session.ts';

type Children<State, Action> = readonly SearchNode<State, Action>[];

/** Asks the policy for actions and appends them to the tree. */
export class Expansions<State, Action> {
  readonly #session: SearchSession<State, Action>;
  readonly #realisations: Realisations<State, Action>;
  /** First expansions under way: a second request for the same node shares them. */
  readonly #first = new Map<SearchNode<State, Action>, Promise<Children<State, Action>>>();

  constructor(session: SearchSession<State, Action>, realisations: Realisations<State, Action>) {
    this.#session = session;
    this.#realisations = realisations;
  }

  expand(
    node: SearchNode<State, Action>,
    options: ExpandOptions = {},
  ): Promise<Children<State, Action>> {
    const { independent = false } = options;
    const underWay = this.#first.get(node);
    if (underWay !== undefined && !independent) return underWay;
    const realising = this.#realisations.realise([node]);
    const proposing =
      realising === undefined
        ? this.#propose(node, options)
        : realising.then(() => this.#propose(node, options));
    if (!(proposing instanceof Promise)) return Promise.resolve(proposing);
    if (node.children.length > 0 || independent) return proposing;
    const tracked = proposing.finally(() => this.#first.delete(node));
    this.#first.set(node, tracked);
    return tracked;
  }

  #propose(
    node: SearchNode<State, Action>,
    { count = Number.POSITIVE_INFINITY, arm }: ExpandOptions,
  ): Children<State, Action> | Promise<Children<State, Action>> {
    const { tree, policy, runtime, ledger } = this.#session;
    if (node.status !== 'open' || node.kind === 'proposed') return [];
    const offset = tree.samples(node);
    // Samples that cannot be kept are not bought; a policy that lists all its actions is asked for all.
    const wanted = Number.isFinite(count) ? Math.min(count, Math.max(1, ledger.freeNodes)) : count;
    const asked = Number.isFinite(wanted) ? wanted : 0;
    const context = new PluginContext(runtime, 'propose', { node: node.id, offset });
    const request = new Request(context, ledger, { count: wanted, offset, arm });
    const batch = { context, wanted, asked };
    tree.countSamples(node, asked);
    try {
      const proposals = policy.propose(node, request);
      if (!(proposals instanceof Promise)) return this.#apply(node, proposals, batch);
      return proposals
        .then((settled) => this.#apply(node, settled, batch))
        .catch((error: unknown) => this.#fail(node, error, batch));
    } catch (error) {
      return this.#fail(node, error, batch);
    }
  }

  #fail(node: SearchNode<State, Action>, error: unknown, batch: Batch): Children<State, Action> {
    const cause = batch.context.interruption ?? error;
    const { tree, runtime } = this.#session;
    if (runtime.signal.aborted || endsSearch(cause)) {
      tree.countSamples(node, -batch.asked);
      throw cause;
    }
    failNode(this.#session, node, failureOf(cause, 'call'));
    return [];
  }

  #apply(
    node: SearchNode<State, Action>,
    proposals: readonly Proposal<Action>[],
    { context, wanted, asked }: Batch,
  ): Children<State, Action> {
    context.throwIfInterrupted();
    const { tree, ledger, emit } = this.#session;
    if (!Array.isArray(proposals)) {
      const message = `Expected \`propose\` to return an array, got ${describeValue(proposals)}.`;
      failNode(this.#session, node, { kind: 'invalid', message });
      return [];
    }
    // A policy that lists all it has draws no samples.
    const before = tree.samples(node) - asked;
    const size = tree.size;
    const room = ledger.freeNodes;
    const { children, failures } = applyProposals(tree, node, { proposals, before, room });
    ledger.addNodes(tree.size - size);
    if (failures.length > 0) {
      const failed = Number(node.annotations['failedProposals'] ?? 0) + failures.length;
      tree.annotate(node, { failedProposals: failed });
    }

    if (emit !== undefined) {
      for (const failure of failures) emit({ type: 'proposal-failed', node, failure });
      emit({ type: 'node-expanded', node, children });
    }
    if (node.children.length === 0 && room > 0) {
      const [first = { kind: 'empty' as const, message: 'The policy proposed nothing.' }] =
        failures;
      failNode(this.#session, node, first);
    } else if (proposals.length < wanted) {
      tree.complete(node);
    }
    return children;
  }
}

/** A request under way. */
interface Batch {
  readonly context: PluginContext;
  readonly wanted: number;
  /** Samples counted in advance; none where the policy lists all it has. */
  readonly asked: number;
}

/** What the policy is asked for. What remains is worked out only where it is looked at. */
class Request implements ProposeRequest {
  readonly context: PluginContext;
  readonly count: number;
  readonly offset: number;
  readonly arm?: string;
  readonly #ledger: Ledger;

  constructor(
    context: PluginContext,
    ledger: Ledger,
    {
      count,
      offset,
      arm,
    }: { readonly count: number; readonly offset: number; readonly arm: string | undefined },
  ) {
    this.context = context;
    this.#ledger = ledger;
    this.count = count;
    this.offset = offset;
    if (arm !== undefined) this.arm = arm;
  }

  get remaining(): Spend {
    return this.#ledger.remaining;
  }
}
