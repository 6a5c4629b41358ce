import { readFileSync } from 'node:fs';

/** The version of this espalier. */
export function espalierVersion(): string {
  // Both src/base and dist/base are two levels below it.
  const manifest: unknown = JSON.parse(
    readFileSync(new URL('../../package.json', import.meta.url), 'utf8'),
  );
  return (manifest as { readonly version: string }).version;
}
