import { type ErrorScope, EspalierError } from './errors.ts';
import { ignoreRejection, isThenable } from './is-thenable.ts';
import { nearestName } from './nearest-name.ts';

/** A usage error of the standard form: *Expected `name` to be …, got `value`.* */
export function expectation(name: string, expected: string, value: unknown): EspalierError {
  return refusalOf(value, `to be ${expected}, ${gotten(value, undefined, name)}`, name);
}

/** What an error refuses: a value, and the option that it was given as. */
interface Refusal {
  readonly value: unknown;
  readonly told: string;
  readonly name: string | undefined;
}

const refusals = new WeakMap<object, Refusal>();

/**
 * A usage error about a value.
 *
 * @param told - The message; of a value with a name, what follows *Expected `name`*.
 */
export function refusalOf(value: unknown, told: string, name?: string): EspalierError {
  const message = name === undefined ? told : `Expected \`${name}\` ${told}`;
  const error = new EspalierError('usage', message);
  refusals.set(error, { value, told, name });
  return error;
}

/** Whether an error refuses exactly this value. */
export function isRefusalOf(value: unknown, error: unknown): boolean {
  const refusal = refusals.get(error as object);
  return refusal !== undefined && refusal.value === value;
}

/** The refusal of an option that its user knows by another name; any other error as it is. */
export function renamed(error: unknown, names: Readonly<Record<string, string>>): unknown {
  const { value, told = '', name = '' } = refusals.get(error as object) ?? {};
  return Object.hasOwn(names, name) ? refusalOf(value, told, names[name]) : error;
}

/** *got `value`.*, followed by advice if it is a promise, or a function whose result was meant. */
export function gotten(value: unknown, advice = 'Put `await` before it.', name = ''): string {
  const got = `got ${describeValue(value)}.`;
  if (typeof value === 'function') return `${got} ${callHint(name)}`;
  return isThenable(value) ? `${got} ${advice}` : got;
}

/** The function that creates the value of each option. */
const makers: Readonly<Record<string, string>> = {
  algorithm: 'mcts()',
  evaluator: 'judge({ model })',
  format: 'formats.trl()',
  inFlight: 'virtualLoss()',
  method: 'restMcts({ model })',
  policy: 'fromModel({ model })',
  rule: 'pairRules.agentQ()',
  stopWhen: 'solved()',
};

/** The advice if an option got the function that creates its value. Names of functions do not survive bundling. */
export function callHint(name: string): string {
  const option = name.slice(name.lastIndexOf('.') + 1);
  const maker = makers[option];
  return maker === undefined ? 'Call it.' : `Call it, as in \`${option}: ${maker}\`.`;
}

/** A usage error for the wrong result of a user's function, which is not awaited. */
export function wrongResult(
  name: string,
  value: unknown,
  { returns, scope }: { readonly returns: string; readonly scope?: ErrorScope },
): EspalierError {
  const message = `Expected \`${name}\` to be a function that returns ${returns}, ${gotten(value, 'Make it synchronous.')}`;
  return new EspalierError('usage', message, { scope });
}

/** The same for an invalid value from a plug-in: it ends only what the plug-in was called for. */
export function wrongValue(name: string, expected: string, value: unknown): EspalierError {
  return new EspalierError('usage', expectation(name, expected, value).message, { scope: 'item' });
}

/** A value as an error message shows it: short, and with its type if that is not obvious. */
export function describeValue(value: unknown): string {
  switch (typeof value) {
    case 'undefined':
    case 'number':
    case 'boolean':
    case 'bigint':
      return `\`${String(value)}\``;
    case 'string':
      return `\`${JSON.stringify(value.length > 60 ? `${value.slice(0, 57)}…` : value)}\``;
    case 'function':
      return 'a function';
    case 'symbol':
      return 'a symbol';
    case 'object':
      if (value === null) return '`null`';
      return describeObject(value);
  }
}

function describeObject(value: object): string {
  try {
    ignoreRejection(value);
    if (isThenable(value)) return 'a promise';
    return Array.isArray(value) ? `an array of ${value.length}` : 'an object';
  } catch {
    // A proxy may throw at any access.
    return 'an object';
  }
}

/** Bounds, both inclusive. */
export interface Range {
  readonly min?: number;
  readonly max?: number;
}

/** Throws unless `value` is an integer within the range. `Infinity` is accepted if `max` is `Infinity`. */
export function expectInteger(name: string, value: unknown, range: Range = {}): void {
  const unlimited = range.max === Number.POSITIVE_INFINITY && value === range.max;
  if (!unlimited && !(Number.isInteger(value) && isWithin(value as number, range))) {
    throw expectation(name, `an integer${describeRange(range)}`, value);
  }
}

/** Throws unless each value is an integer from 1 up, or `Infinity`. */
export function expectBounds(bounds: Readonly<Record<string, number>>): void {
  for (const [name, bound] of Object.entries(bounds)) {
    expectInteger(name, bound, { min: 1, max: Number.POSITIVE_INFINITY });
  }
}

/** Throws unless `value` is a finite number within the range. */
export function expectNumber(name: string, value: unknown, range: Range = {}): void {
  if (!(Number.isFinite(value) && isWithin(value as number, range))) {
    throw expectation(name, `a finite number${describeRange(range)}`, value);
  }
}

/** Throws unless each value is a finite number within the range: a formula with `NaN` would choose at random. */
export function expectNumbers(values: Readonly<Record<string, unknown>>, range: Range = {}): void {
  for (const [name, value] of Object.entries(values)) expectNumber(name, value, range);
}

/** Throws unless `value` is one of the options. */
export function expectOneOf(name: string, value: unknown, options: readonly string[]): void {
  if (!options.includes(value as string)) {
    const expected = options.map((option) => `'${option}'`).join(' or ');
    // Such words are short, and many are near to each other: only one that starts alike was meant.
    const alike = options.filter((option) => typeof value === 'string' && option[0] === value[0]);
    const meant = typeof value === 'string' ? nearestName(value, alike) : undefined;
    const hint = meant === undefined ? '' : ` Did you mean '${meant}'?`;
    throw refusalOf(value, `to be ${expected}, ${gotten(value, undefined, name)}${hint}`, name);
  }
}

/** Throws unless `value` is true or false. For callers without types: a text would count as true. */
export function expectBoolean(name: string, value: unknown): void {
  if (typeof value !== 'boolean') throw expectation(name, 'true or false', value);
}

/** Throws unless `value` is a function. */
export function expectFunction(name: string, value: unknown): void {
  if (typeof value !== 'function') throw expectation(name, 'a function', value);
}

/** Throws unless `signal` is an abort signal or left out. For callers without types, who may pass the controller. */
export function expectSignal(signal: unknown): void {
  if (signal === undefined || signal instanceof AbortSignal) return;
  throw expectation('signal', 'an AbortSignal, such as `controller.signal`', signal);
}

/** Throws unless `value` is an object, and not a promise of one. For callers without types. */
export function expectObject(name: string, value: unknown): void {
  if (typeof value !== 'object' || value === null || isThenable(value)) {
    throw expectation(name, 'an object', value);
  }
}

/** Throws unless `value` is a node, and not a tree, a result or a promise. For callers without types. */
export function expectNode(name: string, value: unknown): void {
  if (typeof (value as { readonly id?: unknown } | null | undefined)?.id !== 'number') {
    throw expectation(name, 'a node of a tree, such as `tree.root`', value);
  }
}

/** Throws unless `value` is an array of nodes. For callers without types. */
export function expectNodes(value: readonly unknown[]): void {
  expectArray('nodes', value);
  const place = value.findIndex((node) => typeof Object(node).id !== 'number');
  if (place >= 0) expectNode(`nodes[${place}]`, value[place]);
}

/** Throws unless `value` is an array. For callers without types. */
export function expectArray(name: string, value: unknown): void {
  if (!Array.isArray(value)) throw expectation(name, 'an array', value);
}

/** Throws unless `value` can be iterated. */
export function expectIterable(name: string, expected: string, value: unknown): void {
  if (typeof Object(value)[Symbol.iterator] !== 'function')
    throw expectation(name, expected, value);
}

/** Throws unless `value` is an array of objects. */
export function expectObjects(name: string, value: unknown): void {
  expectArray(name, value);
  const items = value as readonly unknown[];
  // The names of the good ones are not made: there may be a million.
  const wrong = items.findIndex((item) => typeof item !== 'object' || item === null);
  if (wrong !== -1) expectObject(`${name}[${wrong}]`, items[wrong]);
}

/** Throws unless `value` is a string. For callers without types. */
export function expectText(name: string, value: unknown): void {
  if (typeof value !== 'string') throw expectation(name, 'a text', value);
}

/** Throws unless `value` is an array of strings. */
export function expectTexts(name: string, value: unknown): void {
  expectArray(name, value);
  for (const [place, text] of (value as readonly unknown[]).entries()) {
    expectText(`${name}[${place}]`, text);
  }
}

/** Throws if a text, such as the id of an item, is among the others twice. */
export function expectUnique(name: string, texts: readonly string[], what = 'be unique'): void {
  const known = new Set<string>();
  for (const text of texts) {
    if (known.has(text))
      throw refusalOf(text, `to ${what}, got ${describeValue(text)} twice.`, name);
    known.add(text);
  }
}

/** The function that creates an object from a text, by the method that is missing. */
const fromText: Readonly<Record<string, string>> = {
  append: 'openJournal',
  generate: 'await languageModel',
  instances: 'await taskNamed',
};

/** What to write instead of a text or a result. */
function hintFor(name: string, value: unknown, missing: string): string {
  if (typeof value === 'string') {
    const call = fromText[missing];
    if (call !== undefined) return ` Write \`${call}(${JSON.stringify(value)})\`.`;
    const maker = makers[name];
    return maker === undefined ? '' : ` Write it as a call, as in \`${name}: ${maker}\`.`;
  }
  const isResult = missing === 'backup' && typeof value === 'object' && value !== null;
  return isResult && 'tree' in value ? ' Write `result.tree`.' : '';
}

/** Throws unless `value` is an object with the named methods. */
export function expectMethods(name: string, value: unknown, methods: readonly string[]): void {
  const candidate = (typeof value === 'object' && value !== null ? value : {}) as Record<
    string,
    unknown
  >;
  const missing = methods.find((method) => typeof candidate[method] !== 'function');
  if (missing === undefined) return;
  const got =
    describeValue(value) === 'an object' ? 'got one without it.' : gotten(value, undefined, name);
  const told = `to be an object with a method \`${missing}\`, ${got}${hintFor(name, value, missing)}`;
  throw refusalOf(value, told, name);
}

function isWithin(value: number, { min = -Infinity, max = Infinity }: Range): boolean {
  return value >= min && value <= max;
}

function describeRange({ min, max }: Range): string {
  if (min !== undefined && max !== undefined && Number.isFinite(max)) {
    return ` from ${min} to ${max}`;
  }
  if (min !== undefined) return ` from ${min} up`;
  if (max !== undefined) return ` up to ${max}`;
  return '';
}
