/** The current environment variables, which contain keys and addresses of resources. */
export function environment(): Readonly<Record<string, string | undefined>> {
  // biome-ignore lint/style/noProcessEnv: a key is nowhere else, and never kept
  return process.env;
}
