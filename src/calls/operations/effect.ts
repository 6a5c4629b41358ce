import { EspalierError } from '../../base/errors.ts';
import { jsonComplaint } from '../../base/json.ts';
import type { EffectName } from '../../contracts/context.ts';
import type { JsonValue } from '../../contracts/json.ts';
import type { ModelCall } from '../../contracts/language-model.ts';
import type { Operation } from '../../contracts/operation.ts';

/** A tool, a file, a browser. */
export function effect<T>(
  effect: EffectName,
  run: (call: ModelCall) => Promise<T>,
): Operation<JsonValue, T> {
  const named = typeof effect === 'string' ? { name: effect, repeatable: false } : effect;
  const { name, repeatable, pure = false, free = false } = named;
  return {
    kind: 'effect',
    name,
    repeatable,
    actsOnState: !pure,
    check(input) {
      const complaint = jsonComplaint(`input of ${name}`, input);
      // What a plug-in asks is its own matter, and fails no more than what it was called for.
      if (complaint !== undefined) throw new EspalierError('usage', complaint, { scope: 'item' });
    },
    address: (input) => input,
    worstCase: () => ({ calls: free ? 0 : 1 }),
    run: (_, call) => run(call),
  };
}
