import { canonicalJson } from '../base/canonical-json.ts';
import { expectFunction, expectInteger, expectMethods } from '../base/expect.ts';
import { expectOptions } from '../base/expect-options.ts';
import { provenanceOf } from '../base/provenance.ts';
import type { Policy, ValidProposal } from '../contracts/policy.ts';

/**
 * A policy that draws many samples and keeps the most frequent actions, ties going to the earliest. The prior of an
 * action is its share among those kept: `P(s, a) = n(a) / Σ n(b)`.
 *
 * It draws all samples in one request to the given policy, which charges for all of them, and proposes at most the
 * requested number. Failed samples do not count in priors; they are passed on as failures if there is room.
 *
 * Asked again at the same node, it draws new samples and proposes only new actions. A new action's share is then taken
 * among the new actions and the existing ones that were drawn again; earlier priors are unchanged.
 *
 * @see Yu et al., "ExACT: Teaching AI Agents to Explore with Reflective-MCTS and Exploratory Learning", 2024,
 * the expansion of R-MCTS: 20 samples, 5 kept.
 */
export function mostFrequent<State, Action>(
  policy: Policy<State, Action>,
  options: {
    /** Samples per expansion: an integer from 1 up. @defaultValue 20 */
    readonly samples?: number;
    /** b, the maximum number of different actions kept: an integer from 1 up. @defaultValue 5 */
    readonly keep?: number;
    /** Actions with equal keys are one action. @defaultValue their JSON */
    readonly key?: (action: Action) => string;
  } = {},
): Policy<State, Action> {
  expectOptions('mostFrequent', options, 'samples keep key');
  const { samples = 20, keep = 5, key = jsonOf } = options;
  expectMethods('policy', policy, ['propose']);
  expectInteger('samples', samples, { min: 1 });
  expectInteger('keep', keep, { min: 1 });
  expectFunction('key', key);
  return {
    ...provenanceOf(policy),
    async propose(node, request) {
      const { count, offset, independent = false, remaining } = request;
      const proposals = await policy.propose(node, {
        ...request,
        count: samples,
        // Each request has its own range of samples, whatever the earlier counts were.
        offset: offset * samples,
        independent,
        remaining,
      });
      const there = independent ? [] : node.children.map(({ action }) => key(action));
      const failures = proposals.filter((proposal) => 'failure' in proposal);
      const sound = proposals.filter((proposal) => 'action' in proposal);
      const kept = mostOf(tally(sound, key), {
        keep: Math.min(keep, count),
        there: new Set(there),
      });
      return [...kept, ...failures.slice(0, count - kept.length)];
    },
  };
}

interface Tally<Action> {
  readonly key: string;
  /** Its first sample. */
  readonly proposal: ValidProposal<Action>;
  count: number;
}

/** Counts each action, in the order of first samples. */
function tally<Action>(
  sound: readonly ValidProposal<Action>[],
  keyOf: (action: Action) => string,
): readonly Tally<Action>[] {
  const tallies = new Map<string, Tally<Action>>();
  for (const proposal of sound) {
    const key = keyOf(proposal.action);
    const known = tallies.get(key);
    if (known === undefined) tallies.set(key, { key, proposal, count: 1 });
    else known.count++;
  }
  return [...tallies.values()];
}

function mostOf<Action>(
  tallies: readonly Tally<Action>[],
  { keep, there }: { readonly keep: number; readonly there: ReadonlySet<string> },
): readonly ValidProposal<Action>[] {
  const kept = tallies
    .filter(({ key }) => !there.has(key))
    .toSorted((a, b) => b.count - a.count)
    .slice(0, keep);
  const again = tallies.filter(({ key }) => there.has(key));
  const total = [...kept, ...again].reduce((sum, { count }) => sum + count, 0);
  return kept.map(({ proposal, count }) => ({ ...proposal, prior: count / total }));
}

function jsonOf(action: unknown): string {
  return canonicalJson('action', action);
}
