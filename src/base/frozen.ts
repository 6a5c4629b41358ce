/** What was frozen here, all of it: nothing else has a hold of it that could change it. */
const ours = new WeakSet<object>();

/**
 * A copy of JSON that nobody can change. What is such a copy already is handed on as it is, also as a part of something
 * new, so that a state is paid for once, and of the next one only what differs.
 */
export function frozen<Value>(value: Value): Value {
  if (typeof value !== 'object' || value === null || ours.has(value)) return value;
  const copy: object = Array.isArray(value)
    ? value.map(frozen)
    : Object.fromEntries(Object.entries(value).map(([key, part]) => [key, frozen(part)]));
  ours.add(Object.freeze(copy));
  return copy as Value;
}
