/** The variables of the environment, as they are now: where keys are, and the addresses of resources. */
export function environment(): Readonly<Record<string, string | undefined>> {
  // biome-ignore lint/style/noProcessEnv: a key is nowhere else, and never kept
  return process.env;
}
