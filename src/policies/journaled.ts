import { expectation, expectFunction, expectMethods } from '../base/expect.ts';
import { expectOptions } from '../base/expect-options.ts';
import { provenanceOf } from '../base/provenance.ts';
import type { Codec, JsonValue } from '../contracts/json.ts';
import type { Policy, Proposal } from '../contracts/policy.ts';
import { withState } from './with-state.ts';

/**
 * Meters a local policy like a model: each request for proposals is one call in the ledger, is journaled and replayed,
 * and is made only once for equal states.
 *
 * For policies that work in this process. A policy that calls models is already metered by its calls; wrapping it would
 * charge twice.
 */
export function journaled<State, Action>(
  policy: Policy<State, Action>,
  options: {
    /** The policy's name in the journal: a non-empty text. */
    readonly name: string;
    /**
     * What the proposals depend on besides count and arm: usually the complete state. States with equal keys get the
     * same proposals.
     */
    readonly key: (state: State) => JsonValue;
    /** How actions are saved. Without it, an action must be JSON. */
    readonly codec?: Codec<Action>;
  },
): Policy<State, Action> {
  expectOptions('journaled', options, 'name key codec');
  const { name, key } = options;
  // Without a codec an action must be JSON, which the effect checks.
  const { encode, decode }: Codec<Action> = options.codec ?? {
    encode: (action) => action as JsonValue,
    decode: (json) => json as Action,
  };
  expectMethods('policy', policy, ['propose']);
  expectFunction('key', key);
  if (typeof name !== 'string' || name === '') {
    throw expectation('name', 'a text that is not empty', name);
  }
  return {
    ...provenanceOf(policy),
    async propose(node, request) {
      const { context, count, offset, independent = false, arm } = request;
      const input = {
        state: key(withState(node).state),
        // JSON has no infinity.
        count: Number.isFinite(count) ? count : null,
        offset,
        independent,
        arm: arm ?? null,
      };
      const effect = { name: `policy:${name}`, repeatable: true, pure: true };
      const written = await context.effect(effect, input, async () => {
        const proposals = await policy.propose(node, request);
        return proposals.map((proposal) => convert(proposal, encode));
      });
      return written.map((proposal) => convert(proposal, decode));
    },
  };
}

function convert<From, To>(proposal: Proposal<From>, action: (from: From) => To): Proposal<To> {
  return 'failure' in proposal ? proposal : { ...proposal, action: action(proposal.action) };
}
