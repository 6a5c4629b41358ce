import { expectJson } from '../../base/canonical-json.ts';
import { expectFunction } from '../../base/expect.ts';
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
  expectFunction('run', run);
  const { name, repeatable, pure = false, free = false } = named;
  return {
    kind: 'effect',
    name,
    repeatable,
    actsOnState: !pure,
    // Invalid input is the mistake of a plug-in, and fails only its own call.
    check: (input) => void expectJson(`input of ${name}`, input, 'item'),
    address: (input) => input,
    worstCase: () => ({ calls: free ? 0 : 1 }),
    run: (_, call) => run(call),
  };
}
