import { canonicalJson, contentAddress } from '../base/canonical-json.ts';
import type { JsonValue } from '../contracts/json.ts';
import type { ModelCall } from '../contracts/language-model.ts';
import type { CallSpend } from './call-spend.ts';
import type { Ledger } from './ledger.ts';

/** The content of a call: everything that its address depends on. */
export interface CallContent {
  readonly kind: string;
  readonly name: string;
  readonly request: JsonValue;
  /** The index of the first sample, and the number of samples. */
  readonly samples?: readonly [number, number];
}

/** A requested call: its content, its worst case, and how to make it. */
export interface CallRequest extends CallContent {
  /** The request without the state that it acts on, as journals before version 3 address it. */
  readonly stateless?: JsonValue;
  readonly reserve: CallSpend;
  /** Whether it is free, and so does not wait for budget. @defaultValue false */
  readonly isFree?: boolean;
  /**
   * Whether the provider keeps its result, so that a resumed run can fetch it without paying again: for calls that may
   * wait in a batch.
   *
   * @defaultValue false
   */
  readonly isKept?: boolean;
  /** Whether it may run again if its outcome was lost. */
  readonly repeatable: boolean;
  /** The ledger to charge. */
  readonly ledger: Ledger;
  /** Called before it waits for budget again: calls that wait for it while they hold some are not to wait any more. */
  readonly onWait?: () => void;
  /** Makes the call with this number. */
  readonly run: (
    call: ModelCall,
    number: number,
  ) => Promise<{ output: JsonValue; spend: CallSpend }>;
}

/** The content address of a call. */
export function addressOfCall({ kind, name, request, samples }: CallContent): string {
  const content = samples === undefined ? [kind, name, request] : [kind, name, request, samples];
  return contentAddress(canonicalJson('request', content));
}
