/** A value that JSON can hold without loss: no `undefined`, no `NaN`, no cycles. */
export type JsonValue =
  | null
  | boolean
  | number
  | string
  | readonly JsonValue[]
  | { readonly [key: string]: JsonValue };

/** Turns a state into JSON and back, so that trees can be saved. `decode(encode(s))` equals `s`. */
export interface Codec<Value> {
  /** A value as JSON. */
  encode(value: Value): JsonValue;
  /** The value that JSON describes. */
  decode(json: JsonValue): Value;
}

/** A value, or a promise of one: a plug-in may be synchronous where it can. */
export type MaybePromise<Value> = Value | Promise<Value>;
