import { canonicalJson } from '../base/canonical-json.ts';
import { describeValue, expectation } from '../base/expect.ts';
import { isThenable } from '../base/is-thenable.ts';
import type { Failure } from '../contracts/failure.ts';
import type { Completion } from '../contracts/language-model.ts';
import type { SearchNode } from '../contracts/node.ts';
import type { Proposal, ValidProposal } from '../contracts/policy.ts';
import type { NewChild } from '../tree/node.ts';
import type { SearchTree } from '../tree/tree.ts';
import { failureToldAs, unfit, unknownFieldOf } from './unfit.ts';

/** The result of applying a batch of proposals. */
export type Applied<State, Action> = Appended<State, Action> | { readonly needs: number };

/** The result if all proposals had room. */
export interface Appended<State, Action> {
  /** The children for the proposals, in order, each once. */
  readonly children: readonly SearchNode<State, Action>[];
  readonly failures: readonly Failure[];
}

/** A batch of proposals and how it was requested. */
export interface ProposalBatch<Action> {
  readonly proposals: readonly Proposal<Action>[];
  /** The number of proposals requested at this node before. */
  readonly before: number;
  /** The number of nodes left in the budget. */
  readonly room: number;
}

/**
 * Appends proposals as children. Equal actions become one child: their priors are added, and the first one keeps its
 * place.
 *
 * If a policy gives no priors, a child's prior is its share of all samples drawn at the node. A prior given for a child
 * that already exists restates its prior and adds nothing.
 *
 * If there is no room for all new children, none is added: when the search is resumed, a node with only some of its
 * children would look complete.
 */
export function applyProposals<State, Action>(
  tree: SearchTree<State, Action>,
  node: SearchNode<State, Action>,
  { proposals, before, room }: ProposalBatch<Action>,
): Applied<State, Action> {
  if (node.children.length === 0 && proposals.length <= room && needNoMerging(proposals)) {
    return { children: tree.add(node, proposals), failures: none };
  }
  const { sound, failures } = sift(proposals);
  const siblings = new Siblings(node.children);
  const total = before + proposals.length;
  const twins = sound.map(({ action, prior = 1 / total, completion }) => {
    const twin = siblings.find(action);
    // A duplicate takes the place of its original, which has its prior.
    if (twin !== undefined) return { twin: 'id' in twin ? tree.original(twin) : twin, prior };
    const child = siblings.add({ action, prior, ...(completion !== undefined && { completion }) });
    return { twin: child, prior: 0 };
  });
  if (siblings.fresh.length > room) return { needs: siblings.fresh.length };

  const isShare = sound.every(({ prior }) => prior === undefined);
  if (isShare && before > 0) dilute(tree, node, before / total);
  for (const { twin, prior } of twins) raise(tree, twin, { prior, isShare });
  const added = tree.add(node, siblings.fresh);
  let next = 0;
  const children = [...new Set(twins.map(({ twin }) => twin))].flatMap((child) =>
    'id' in child ? [child] : (added[next++] ?? []),
  );
  return { children, failures };
}

/** Adds the prior of a repeated proposal to the existing child. */
function raise<State, Action>(
  tree: SearchTree<State, Action>,
  twin: Candidate<State, Action>,
  { prior, isShare }: { readonly prior: number; readonly isShare: boolean },
): void {
  if (!('id' in twin)) twin.prior += prior;
  else tree.setPrior(twin, isShare ? twin.prior + prior : Math.max(twin.prior, prior));
}

/** Separates usable proposals from the failures of the others. */
function sift<Action>(proposals: readonly Proposal<Action>[]): {
  readonly sound: readonly ValidProposal<Action>[];
  readonly failures: readonly Failure[];
} {
  const sound: ValidProposal<Action>[] = [];
  const failures: Failure[] = [];
  for (const proposal of proposals) {
    const fault = faultOf(proposal);
    if (fault !== undefined) failures.push(fault);
    else sound.push(proposal as ValidProposal<Action>);
  }
  return { sound, failures };
}

const none: readonly never[] = [];

/** The common, fast case: priors are given and the actions are clearly different. */
function needNoMerging<Action>(
  proposals: readonly Proposal<Action>[],
): proposals is readonly NewChild<Action>[] {
  if (proposals.length > scanned) return false;
  const isPlain = (proposal: Proposal<Action>, index: number): boolean => {
    const { prior } = Object(proposal) as Partial<ValidProposal<Action>>;
    if (prior === undefined || faultOf(proposal) !== undefined || 'failure' in proposal)
      return false;
    if (typeof proposal.action === 'object') return false;
    for (let before = 0; before < index; before++) {
      const other = proposals[before];
      if (other !== undefined && 'action' in other && other.action === proposal.action)
        return false;
    }
    return true;
  };
  // Unlike `every`, this also visits holes.
  return proposals.findIndex((proposal, index) => !isPlain(proposal, index)) < 0;
}

type Mutable<T> = { -readonly [Key in keyof T]: T[Key] };
type Candidate<State, Action> = SearchNode<State, Action> | Mutable<NewChild<Action>>;

const fields: readonly (keyof ValidProposal<unknown>)[] = ['action', 'prior', 'completion'];

function aProposal(got: unknown): Failure {
  const message = `Expected each proposal to be an object with an \`action\`, got ${describeValue(got)}.`;
  return { kind: 'invalid', message };
}

function faultOf<Action>(proposal: Proposal<Action>): Failure | undefined {
  if (typeof proposal !== 'object' || (proposal as unknown) === null) {
    return aProposal(proposal);
  }
  if ('failure' in proposal) return failureToldAs('failure', proposal.failure);
  const unknown = unknownFieldOf('The proposal', proposal, fields);
  if (unknown !== undefined) return { kind: 'invalid', message: unknown };
  if (!('action' in proposal)) return aProposal(proposal);
  const { action, prior, completion } = proposal;
  if (isThenable(action)) {
    return { kind: 'invalid', message: expectation('action', 'an action', action).message };
  }
  if (prior !== undefined && !(Number.isFinite(prior) && prior >= 0)) {
    return {
      kind: 'invalid',
      message: `Expected \`prior\` to be a finite number from 0 up, got ${describeValue(prior)}.`,
    };
  }
  return completion === undefined ? undefined : faultOfCompletion(completion);
}

function faultOfCompletion(completion: Completion): Failure | undefined {
  const fault = unfit('completion', completion);
  if (fault !== undefined) return fault;
  const { text } = Object(completion) as Partial<Completion>;
  if (typeof text === 'string') return undefined;
  const message = `Expected \`completion.text\` to be a text, got ${describeValue(text)}.`;
  return { kind: 'invalid', message };
}

/** Scales down the priors of earlier samples to make room for new ones. */
function dilute<State, Action>(
  tree: SearchTree<State, Action>,
  node: SearchNode<State, Action>,
  factor: number,
): void {
  for (const child of node.children) tree.setPrior(child, child.prior * factor);
}

/** Up to this number of siblings a scan is faster than a map. */
const scanned = 16;

/** Finds the children of a node, old and new, by their actions. */
class Siblings<State, Action> {
  readonly fresh: Mutable<NewChild<Action>>[] = [];
  readonly #children: readonly SearchNode<State, Action>[];
  readonly #keys: unknown[] = [];
  #places: Map<unknown, number> | undefined;

  constructor(children: readonly SearchNode<State, Action>[]) {
    this.#children = children;
    for (const { action } of children) this.#remember(identity(action));
  }

  find(action: Action): Candidate<State, Action> | undefined {
    const key = identity(action);
    const place = this.#places === undefined ? this.#keys.indexOf(key) : this.#places.get(key);
    if (place === undefined || place < 0) return undefined;
    return this.#children[place] ?? this.fresh[place - this.#children.length];
  }

  add(child: Mutable<NewChild<Action>>): Mutable<NewChild<Action>> {
    this.#remember(identity(child.action));
    this.fresh.push(child);
    return child;
  }

  #remember(key: unknown): void {
    this.#places?.set(key, this.#keys.length);
    this.#keys.push(key);
    if (this.#keys.length > scanned && this.#places === undefined) {
      this.#places = new Map(this.#keys.map((known, place) => [known, place]));
    }
  }
}

/** An identity that equal actions share: a primitive action itself, the JSON of any other. */
function identity(action: unknown): unknown {
  if (typeof action !== 'object' || action === null) return action;
  try {
    return canonicalJson('action', action);
  } catch {
    return action;
  }
}
