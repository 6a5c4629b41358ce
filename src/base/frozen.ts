/** Values that were deeply frozen here: no other code holds a mutable reference to them. */
const ours = new WeakSet<object>();

/**
 * A deeply frozen copy of JSON. Values that are already frozen copies are reused, also as parts of a new value, so that
 * each state costs only its difference from the previous one.
 */
export function frozen<Value>(value: Value): Value {
  if (typeof value !== 'object' || value === null || ours.has(value)) return value;
  const copy: object = Array.isArray(value)
    ? value.map(frozen)
    : Object.fromEntries(Object.entries(value).map(([key, part]) => [key, frozen(part)]));
  ours.add(Object.freeze(copy));
  return copy as Value;
}
