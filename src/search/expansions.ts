import { describeValue, expectFunction, expectInteger } from '../base/expect.ts';
import { expectOptions } from '../base/expect-options.ts';
import { failureFrom } from '../base/failure.ts';
import { asNative } from '../base/is-thenable.ts';
import { stateAddress } from '../calls/acting-on.ts';
import type { Ledger } from '../calls/ledger.ts';
import type { Environment } from '../contracts/environment.ts';
import type { Failure } from '../contracts/failure.ts';
import type { MaybePromise } from '../contracts/json.ts';
import type { SearchNode } from '../contracts/node.ts';
import type { Proposal, ProposeRequest } from '../contracts/policy.ts';
import type { Spend } from '../contracts/spend.ts';
import { hasFailedBelow } from '../tree/closing.ts';
import type { WideningRule } from '../tree/selection.ts';
import type { ExpandOptions } from './contracts.ts';
import { failNode, withLost } from './failing.ts';
import { PluginContext } from './plugin-context.ts';
import { applyProposals } from './proposals.ts';
import type { Realisations } from './realisations.ts';
import type { SearchSession } from './session.ts';
import type { Trial } from './trial.ts';

type Children<State, Action> = readonly SearchNode<State, Action>[];

/** Asks the policy for actions and appends them to the tree. */
export class Expansions<State, Action> {
  readonly #session: SearchSession<State, Action>;
  readonly #realisations: Realisations<State, Action>;
  readonly #trial: Trial;
  /** The options checked last: an algorithm passes the same object again and again. */
  #checked: ExpandOptions | undefined;

  constructor(
    session: SearchSession<State, Action>,
    realisations: Realisations<State, Action>,
    trial: Trial,
  ) {
    this.#session = session;
    this.#realisations = realisations;
    this.#trial = trial;
  }

  /** @param again - Whether to expand the node even if it is closed, or everything below it failed. */
  expand(
    node: SearchNode<State, Action>,
    options: ExpandOptions = {},
    again = false,
  ): MaybePromise<Children<State, Action>> {
    if (options !== this.#checked) this.#check(options);
    const { independent = false } = options;
    const { crowd } = this.#session;
    // A second request for the same node shares the first.
    const shared = independent ? undefined : crowd.join(node);
    if (shared !== undefined) return shared;
    const realising = this.#realisations.realise([node]);
    const proposing =
      realising === undefined
        ? this.#propose(node, options, again)
        : realising.then(() => this.#propose(node, options, again));
    if (!(proposing instanceof Promise)) return proposing;
    return independent ? proposing : crowd.begin(node, proposing);
  }

  isUnderWay(node: SearchNode<State, Action>): boolean {
    return this.#session.crowd.has(node);
  }

  #check(options: ExpandOptions): void {
    expectOptions('context.expand', options, 'count arm independent widening');
    const { count = Number.POSITIVE_INFINITY, widening } = options;
    if (widening !== undefined) expectFunction('widening', widening);
    expectInteger('count', count, { min: 1, max: Number.POSITIVE_INFINITY });
    // The tree counts samples.
    if (Number.isFinite(count)) expectInteger('count', count, { max: Number.MAX_SAFE_INTEGER });
    this.#checked = options;
  }

  /** Appends actions that the algorithm already knows. */
  graft(
    node: SearchNode<State, Action>,
    proposals: readonly Proposal<Action>[],
  ): MaybePromise<Children<State, Action>> {
    const realising = this.#realisations.realise([node]);
    if (realising !== undefined) return realising.then(() => this.graft(node, proposals));
    const isInner = node.status === 'open' || node.status === 'closed' || hasFailedBelow(node);
    if (node.kind === 'proposed' || !isInner || proposals.length === 0) return [];
    const context = new PluginContext(this.#session.runtime, 'graft', { node: node.id });
    const batch = { context, wanted: 0, asked: 0, independent: true, widening: undefined };
    const children = this.#apply(node, proposals, batch);
    this.#session.tree.countSamples(node, proposals.length);
    return children;
  }

  #propose(
    node: SearchNode<State, Action>,
    { count = Number.POSITIVE_INFINITY, arm, independent = false, widening }: ExpandOptions,
    again: boolean,
  ): MaybePromise<Children<State, Action>> {
    const { tree, policy, runtime, ledger, environment } = this.#session;
    if (!(again || node.status === 'open') || node.kind === 'proposed') return [];
    // Another simulation took the room that the node had when it was selected.
    if (widening?.(node) === false && node.children.length > 0) return node.children;
    const offset = node.samples;
    const isLimited = Number.isFinite(count);
    // Samples for which there may be no room are not requested.
    if (isLimited && count > ledger.freeNodes) throw ledger.refuseNodes(count);
    const asked = isLimited ? count : 0;
    const state = () => stateAddress(node, environment);
    const context = new PluginContext(runtime, 'propose', { node: node.id, offset, state });
    const request = new Request(context, this.#session, { count, offset, arm, independent });
    const batch = { context, wanted: count, asked, independent, widening };
    tree.countSamples(node, asked);
    try {
      const proposals = asNative(policy.propose(node, request));
      if (!(proposals instanceof Promise)) return this.#apply(node, proposals, batch);
      return proposals
        .then((settled) => this.#apply(node, settled, batch))
        .catch((error: unknown) => this.#fail(node, error, batch));
    } catch (error) {
      return this.#fail(node, error, batch);
    }
  }

  #fail(node: SearchNode<State, Action>, error: unknown, batch: Batch): Children<State, Action> {
    // Samples that were never drawn are available again when the search continues.
    batch.context.note(error);
    if (batch.context.isInterrupted) this.#session.tree.countSamples(node, -batch.asked);
    batch.context.throwIfInterrupted();
    // A failed call is not repeated here: retries are up to the model.
    const failure = failureFrom(error, 'call');
    this.#settleFailures(node, [failure], { ...batch, widening: undefined });
    this.#trial.fail(failure);
    return [];
  }

  /**
   * Notes failed proposals. The node itself fails only if it has nothing to continue with: no children, no samples in
   * flight and no further ones to draw.
   */
  #settleFailures(
    node: SearchNode<State, Action>,
    failures: readonly Failure[],
    { independent, widening }: Batch,
  ): void {
    const [first] = failures;
    if (first === undefined) return;
    const { tree, emit } = this.#session;
    tree.noteFailures(node, { failedProposals: withLost(node.failedProposals, failures) });
    for (const failure of failures) emit?.({ type: 'proposal-failed', node, failure });
    if (node.children.length > 0) return;
    if (independent || widening?.(node) === true) tree.noteFailures(node, { failure: first });
    else failNode(this.#session, node, first);
  }

  #apply(
    node: SearchNode<State, Action>,
    proposals: readonly Proposal<Action>[],
    batch: Batch,
  ): Children<State, Action> {
    const { context, wanted, asked } = batch;
    context.throwIfInterrupted();
    const { tree, ledger, emit } = this.#session;
    if (!Array.isArray(proposals)) {
      const message = `Expected \`propose\` to return an array of proposals, got ${describeValue(proposals)}.`;
      const failure: Failure = { kind: 'invalid', message };
      this.#settleFailures(node, [failure], batch);
      this.#trial.fail(failure);
      return [];
    }
    // A policy that lists all actions draws no samples.
    const before = node.samples - asked;
    const size = tree.size;
    const applied = applyProposals(tree, node, { proposals, before, room: ledger.freeNodes });
    if ('needs' in applied) return context.refuse(ledger.refuseNodes(applied.needs));
    const { children, failures } = applied;
    // Only failed calls count against the policy. Unreadable samples are left to widening rules: a weak model may still
    // write a readable one.
    const isRefused = failures.length > 0 && failures.length === proposals.length;
    const refusal = isRefused ? failures.findLast(({ kind }) => kind === 'call') : undefined;
    if (refusal === undefined) this.#trial.pass();
    else this.#trial.fail(refusal);
    // Later requests continue behind all actions listed.
    if (wanted === Number.POSITIVE_INFINITY) tree.countSamples(node, proposals.length);
    ledger.addNodes(tree.size - size);
    this.#settleFailures(node, failures, batch);
    emit?.({ type: 'node-expanded', node, children });
    if (proposals.length === 0 && node.children.length === 0) {
      const message = 'The policy proposed nothing.';
      failNode(this.#session, node, { kind: 'empty', message });
      tree.complete(node);
    } else if (proposals.length < wanted && node.status === 'open') {
      tree.complete(node);
    }
    return children;
  }
}

/** A request in flight. */
interface Batch {
  readonly context: PluginContext;
  readonly wanted: number;
  /** The number of samples counted in advance; 0 if the policy lists all actions. */
  readonly asked: number;
  /** Whether other samples of the node may be in flight. */
  readonly independent: boolean;
  /** Whether the node may be expanded again. */
  readonly widening: WideningRule | undefined;
}

/** The request given to the policy. The remaining budget is computed only when it is read. */
class Request<State, Action> implements ProposeRequest<State, Action> {
  readonly context: PluginContext;
  readonly environment: Environment<State, Action>;
  readonly count: number;
  readonly offset: number;
  readonly independent: boolean;
  readonly arm?: string;
  readonly #ledger: Ledger;

  constructor(
    context: PluginContext,
    { environment, ledger }: Pick<SearchSession<State, Action>, 'environment' | 'ledger'>,
    asked: Asked,
  ) {
    this.context = context;
    this.environment = environment;
    this.#ledger = ledger;
    this.count = asked.count;
    this.offset = asked.offset;
    this.independent = asked.independent;
    if (asked.arm !== undefined) this.arm = asked.arm;
  }

  get remaining(): Spend {
    return this.#ledger.remaining;
  }
}

interface Asked {
  readonly count: number;
  readonly offset: number;
  readonly independent: boolean;
  readonly arm: string | undefined;
}
