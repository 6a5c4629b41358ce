import { EspalierError } from '../../base/errors.ts';

/**
 * Checks that nothing is given which a client of the user's own brings along, and which would have no effect.
 *
 * @throws EspalierError `usage`
 */
export function expectAbsentBesideClient<Options extends { readonly client?: unknown }>(
  options: Options,
  names: readonly (keyof Options & string)[],
): void {
  if (options.client === undefined) return;
  const beside = names.find((name) => options[name] !== undefined);
  if (beside === undefined) return;
  const message = `Expected \`${beside}\` to be absent beside \`client\`, which has its own, got both.`;
  throw new EspalierError('usage', message);
}
