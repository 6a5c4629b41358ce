import { describeValue, gotten } from '../base/expect.ts';
import { failureFrom } from '../base/failure.ts';
import { asNative, isThenable } from '../base/is-thenable.ts';
import { keyOf, stateAddress } from '../calls/acting-on.ts';
import type { Transition } from '../contracts/environment.ts';
import type { ChildNode, SearchNode } from '../contracts/node.ts';
import { isOut } from '../tree/selection.ts';
import { failNode } from './failing.ts';
import { PluginContext } from './plugin-context.ts';
import type { SearchSession } from './session.ts';
import { unknownFieldOf } from './unfit.ts';

/** Steps to the states of proposed nodes. */
export class Realisations<State, Action> {
  readonly #session: SearchSession<State, Action>;
  readonly #underWay = new Map<SearchNode<State, Action>, Promise<void>>();

  readonly #families = new WeakMap<
    SearchNode<State, Action>,
    Map<string, SearchNode<State, Action>>
  >();

  constructor(session: SearchSession<State, Action>) {
    this.#session = session;
  }

  /** Realises nodes, parents first. Returns no promise if the environment is synchronous. */
  realise(nodes: readonly SearchNode<State, Action>[]): Promise<void> | undefined {
    let pending: Promise<void>[] | undefined;
    for (const node of nodes) {
      if (node.kind !== 'proposed') continue;
      const stepping = this.#realise(node);
      if (stepping === undefined) continue;
      pending ??= [];
      pending.push(stepping);
    }
    return pending === undefined ? undefined : Promise.all(pending).then(() => {});
  }

  /** Realises a node and its unrealised ancestors, topmost first. */
  #realise(node: ChildNode<State, Action>): Promise<void> | undefined {
    if (node.parent.kind !== 'proposed' && !isOut(node)) {
      return this.#underWay.get(node) ?? this.#stepAfter(undefined, node);
    }
    const chain: ChildNode<State, Action>[] = [];
    let pending: Promise<void> | undefined;
    let at: SearchNode<State, Action> = node;
    while (at.kind === 'proposed' && !isOut(at)) {
      pending = this.#underWay.get(at);
      if (pending !== undefined) break;
      chain.push(at);
      at = at.parent;
    }
    for (const next of chain.reverse()) pending = this.#stepAfter(pending, next);
    return pending;
  }

  #stepAfter(
    above: Promise<void> | undefined,
    node: ChildNode<State, Action>,
  ): Promise<void> | undefined {
    const stepping = above === undefined ? this.#step(node) : above.then(() => this.#step(node));
    if (stepping === undefined) return undefined;
    const tracked = stepping.finally(() => this.#underWay.delete(node));
    this.#underWay.set(node, tracked);
    return tracked;
  }

  #step(node: ChildNode<State, Action>): Promise<void> | undefined {
    const { environment, runtime } = this.#session;
    const { parent, action } = node;
    if (parent.kind === 'proposed') {
      failNode(this.#session, node, { kind: 'environment', message: 'Its parent has no state.' });
      return undefined;
    }
    const state = () => stateAddress(parent, environment);
    const { completion } = node;
    const context = new PluginContext(runtime, 'step', { node: node.id, state, completion });
    try {
      const transition = asNative(environment.step(parent.state, action, context));
      if (!(transition instanceof Promise)) {
        this.#apply(node, transition);
        return undefined;
      }
      return transition
        .then((settled) => {
          context.throwIfInterrupted();
          this.#apply(node, settled);
        })
        .catch((error: unknown) => this.#fail(node, error, context));
    } catch (error) {
      this.#fail(node, error, context);
      return undefined;
    }
  }

  #apply(node: ChildNode<State, Action>, transition: Transition<State>): void {
    const fault = faultOfTransition('step', transition);
    if (fault !== undefined) {
      failNode(this.#session, node, { kind: 'invalid', message: fault });
      return;
    }
    const { tree, emit, environment } = this.#session;
    const isOnly = node.parent.children.length < 2;
    // Computed before the node gets its state: a key that throws must not fail the siblings it is compared with.
    const key = isOnly ? undefined : keyOf(environment, transition.state);
    // Siblings realised by an earlier search take precedence over the node, whatever their order.
    if (key !== undefined) this.#family(node.parent);
    tree.realise(node, transition);
    emit?.({ type: 'node-realised', node });
    if (key !== undefined) this.#mergeIntoTwin(node, identityOf(node, key));
  }

  /** The key of a node's state. */
  key(node: SearchNode<State, Action>): string | undefined {
    return node.kind === 'proposed' ? undefined : keyOf(this.#session.environment, node.state);
  }

  /**
   * The sibling that reached the state first is kept and gets the prior. Siblings are equal only if state, reward and
   * cost are: edges with different rewards or costs are different.
   */
  #mergeIntoTwin(node: ChildNode<State, Action>, identity: string): void {
    const family = this.#family(node.parent);
    const twin = family.get(identity);
    if (twin === undefined || twin === node || twin.status === 'pruned') {
      family.set(identity, node);
      return;
    }
    const { tree } = this.#session;
    tree.merge(node, twin);
  }

  /** The realised children of a node by the identity of their transitions. */
  #family(parent: SearchNode<State, Action>): Map<string, SearchNode<State, Action>> {
    const known = this.#families.get(parent);
    if (known !== undefined) return known;
    const family = new Map<string, SearchNode<State, Action>>();
    for (const child of parent.children) {
      const key = child.status === 'pruned' ? undefined : this.key(child);
      if (key === undefined) continue;
      const identity = identityOf(child, key);
      if (!family.has(identity)) family.set(identity, child);
    }
    this.#families.set(parent, family);
    return family;
  }

  #fail(node: ChildNode<State, Action>, error: unknown, context: PluginContext): void {
    context.note(error);
    context.throwIfInterrupted();
    failNode(this.#session, node, failureFrom(error, 'environment'));
  }
}

/** The identity of a transition: siblings with the same one are duplicates. */
function identityOf<State, Action>(
  { reward, cost, terminal, answer }: SearchNode<State, Action>,
  key: string,
): string {
  return `${reward} ${cost} ${terminal} ${answer} ${key}`;
}

const parts = ['state', 'reward', 'cost', 'terminal', 'answer'];

/** Describes what is wrong with a transition, for the author of a plug-in. */
export function faultOfTransition(
  method: 'reset' | 'step',
  transition: Transition<unknown>,
): string | undefined {
  const isObject = typeof transition === 'object' && (transition as unknown) !== null;
  if (!isObject || transition.state === undefined || isThenable(transition.state)) {
    const state = isObject ? transition.state : transition;
    const got = gotten(state ?? transition, 'Put `await` before its `state`.');
    return `Expected \`${method}\` to return a transition with a \`state\`, ${got}`;
  }
  // A misspelt key would be a step without it.
  const unknown = unknownFieldOf(`The transition that \`${method}\` returned`, transition, parts);
  if (unknown !== undefined) return unknown;
  const { reward, cost = 0, terminal = false, answer = false } = transition;
  if (reward !== undefined && !Number.isFinite(reward)) {
    return `Expected \`reward\` to be a finite number, got ${describeValue(reward)}.`;
  }
  if (!(Number.isFinite(cost) && cost >= 0)) {
    return `Expected \`cost\` to be a finite number from 0 up, got ${describeValue(cost)}.`;
  }
  if (typeof terminal === 'boolean' && typeof answer === 'boolean') return undefined;
  const [name, value] = typeof terminal === 'boolean' ? ['answer', answer] : ['terminal', terminal];
  return `Expected \`${name}\` to be true or false, got ${describeValue(value)}.`;
}
