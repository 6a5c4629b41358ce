import { expectJson } from '../../base/canonical-json.ts';
import { expectOptions } from '../../base/expect-options.ts';
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
  expectOptions('context.effect', named, 'name repeatable pure free');
  const { name, repeatable, pure = false, free = false } = named;
  return {
    kind: 'effect',
    name,
    repeatable,
    actsOnState: !pure,
    // What a plug-in asks is its own matter, and fails no more than what it was called for.
    check: (input) => void expectJson(`input of ${name}`, input, 'item'),
    address: (input) => input,
    worstCase: () => ({ calls: free ? 0 : 1 }),
    run: (_, call) => run(call),
  };
}
