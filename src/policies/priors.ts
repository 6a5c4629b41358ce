import { canonicalJson } from '../base/canonical-json.ts';
import type { Completion } from '../contracts/language-model.ts';
import type { Proposal } from '../contracts/policy.ts';

/**
 * The proposals with the priors given by a rule. If actions are equal, the first has the prior and the others 0,
 * because a tree adds them up, and a second sample does not make an action likelier. If the rule gives no prior for one
 * of the actions, none has one.
 */
export function withPriors<Action>(
  proposals: readonly Proposal<Action>[],
  rule: (completion: Completion) => number | undefined,
): readonly Proposal<Action>[] {
  const known = new Set<string>();
  const priced: Proposal<Action>[] = [];
  for (const proposal of proposals) {
    if ('failure' in proposal) {
      priced.push(proposal);
      continue;
    }
    const { action, completion } = proposal;
    const prior = completion === undefined ? undefined : rule(completion);
    if (prior === undefined) return proposals;
    const key = canonicalJson('action', action);
    priced.push({ ...proposal, prior: known.has(key) ? 0 : prior });
    known.add(key);
  }
  return priced;
}
