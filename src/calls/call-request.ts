import { canonicalJson, contentAddress } from '../base/canonical-json.ts';
import { isPlainObject } from '../base/json.ts';
import type { JsonValue } from '../contracts/json.ts';
import type { ModelCall } from '../contracts/language-model.ts';
import type { IntentLine } from './journal-lines.ts';
import type { CallSpend, Ledger } from './ledger.ts';

/** A call as it is asked for: what it is, what it may cost, how it is made. */
export interface CallRequest {
  readonly kind: IntentLine['kind'];
  readonly name: string;
  readonly request: JsonValue;
  /** The index of the first sample and how many there are. */
  readonly samples?: readonly [number, number];
  readonly reserve: CallSpend;
  /** Whether it may run again where its outcome was lost. */
  readonly repeatable: boolean;
  /** Whom it is charged to. */
  readonly ledger: Ledger;
  readonly run: (call: ModelCall) => Promise<{ output: JsonValue; spend: CallSpend }>;
}

/** The content address of a call. */
export function addressOfCall(
  call: Pick<CallRequest, 'kind' | 'name' | 'request' | 'samples'>,
): string {
  const { kind, name, request, samples } = call;
  const content = samples === undefined ? [kind, name, request] : [kind, name, request, samples];
  return contentAddress(canonicalJson('request', content));
}

/** An effect as journals knew it before version 3: without the state that it acts on. */
export function withoutState(request: CallRequest): CallRequest {
  const { kind, request: asked } = request;
  if (kind !== 'effect' || !isPlainObject(asked) || !('state' in asked)) return request;
  return { ...request, request: asked['input'] ?? null };
}
