import { canonicalJson, contentAddress } from '../base/canonical-json.ts';
import type { JsonValue } from '../contracts/json.ts';
import type { ModelCall } from '../contracts/language-model.ts';
import type { CallSpend } from './call-spend.ts';
import type { Ledger } from './ledger.ts';

/** What a call asks: all that its content address depends on. */
export interface CallContent {
  readonly kind: string;
  readonly name: string;
  readonly request: JsonValue;
  /** The index of the first sample and how many there are. */
  readonly samples?: readonly [number, number];
}

/** A call as it is asked for: what it is, what it may cost, how it is made. */
export interface CallRequest extends CallContent {
  /** What it asks without the state that it acts on: so journals knew it before version 3. */
  readonly stateless?: JsonValue;
  readonly reserve: CallSpend;
  /** Whether it costs nothing, and so does not wait until the budget has room. @defaultValue false */
  readonly isFree?: boolean;
  /**
   * Whether its model keeps what it comes to, so that a run which asks again buys nothing: of a call that may wait in a
   * batch.
   *
   * @defaultValue false
   */
  readonly isKept?: boolean;
  /** Whether it may run again where its outcome was lost. */
  readonly repeatable: boolean;
  /** Whom it is charged to. */
  readonly ledger: Ledger;
  readonly run: (call: ModelCall) => Promise<{ output: JsonValue; spend: CallSpend }>;
}

/** The content address of a call. */
export function addressOfCall({ kind, name, request, samples }: CallContent): string {
  const content = samples === undefined ? [kind, name, request] : [kind, name, request, samples];
  return contentAddress(canonicalJson('request', content));
}
