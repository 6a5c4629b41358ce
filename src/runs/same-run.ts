import { isDeepStrictEqual } from 'node:util';
import { EspalierError } from '../base/errors.ts';
import type { JsonValue } from '../contracts/json.ts';

type Fields = Readonly<Record<string, JsonValue>>;

/**
 * Makes sure that a run folder is continued with its original settings.
 *
 * @param options - The fields that must be equal, all by default, and the advice if one is not.
 * @throws EspalierError `usage`, naming the first that differs.
 */
export function expectSame(
  path: string,
  { old, now }: { readonly old: Fields; readonly now: Fields },
  {
    fields = Object.keys({ ...now, ...old }),
    advice = 'Take another `--run`.',
  }: { readonly fields?: readonly string[]; readonly advice?: string } = {},
): void {
  const name = fields.find(
    (field) => field !== 'versions' && !isDeepStrictEqual(old[field], now[field]),
  );
  if (name === undefined) return;
  throw new EspalierError(
    'usage',
    `The run in \`${path}\` is another one: ${difference(name, old[name], now[name])}. ${advice}`,
  );
}

/** What of a price another run has otherwise, of the first model whose prices differ. */
function pricesIn(prices: JsonValue = null, others: JsonValue = null): string {
  const [mine, theirs] = [prices, others].map((each) => (Array.isArray(each) ? each : []));
  const place = mine?.findIndex((price, at) => !isDeepStrictEqual(price, theirs?.[at])) ?? -1;
  const [own = {}, other = {}] = [mine, theirs].map((each) => Object(each?.[place]) as Fields);
  const differing = Object.keys({ ...own, ...other }).filter(
    (name) => !isDeepStrictEqual(own[name] ?? {}, other[name] ?? {}),
  );
  const dollars = differing.flatMap((name) =>
    typeof own[name] === 'number' ? `${name} $${own[name]}` : [],
  );
  // Factors of tiers and of long prompts.
  const factors = differing.flatMap((name) => {
    if (typeof (own[name] ?? other[name]) !== 'object') return [];
    return own[name] === undefined || isDeepStrictEqual(own[name], {})
      ? `no ${name}`
      : `${name} ${JSON.stringify(own[name])}`;
  });
  if (Object.keys(own).length === 0) return 'unknown';
  return [
    ...(dollars.length > 0 ? [`${dollars.join(', ')} a million tokens`] : []),
    ...factors,
  ].join(', ');
}

/** The difference between two runs: a boolean by its flag, other fields by their values. */
function difference(name: string, before?: JsonValue, after?: JsonValue): string {
  const flag = `\`--${name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}\``;
  if (name === 'prices') {
    const [old, now] = [pricesIn(before, after), pricesIn(after, before)];
    return `its prices (\`--price-in\` and \`--price-out\`, \`prices\` in code) are ${old}, this command has ${now}`;
  }
  const [old = false, now = false] = [before, after];
  if (typeof old === 'boolean' && typeof now === 'boolean') {
    return old
      ? `it was made with ${flag}, this command has none`
      : `it was made without ${flag}, this command has it`;
  }
  const module = Object(before).module as unknown;
  if (typeof module === 'string' && module === Object(after).module) {
    return `\`${module}\` has changed since it began`;
  }
  const shown = (value: JsonValue = null) => {
    if (value === null) return 'none';
    return typeof value === 'string' ? value : JSON.stringify(value);
  };
  return `its \`${name}\` is ${shown(before)}, this command has ${shown(after)}`;
}
