/**
 * A size for `npm test`, or the larger one for `npm run verify:sizes`, which runs the same tests where time matters
 * less.
 */
export function sized(usual: number, thorough: number): number {
  // biome-ignore lint/style/noProcessEnv: `npm run verify:sizes` asks for it
  return process.env['ESPALIER_THOROUGH'] === '1' ? thorough : usual;
}
