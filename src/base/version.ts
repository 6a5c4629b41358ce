import { readFileSync } from 'node:fs';
import { packageFile } from './package-file.ts';

/** The version of this espalier. */
export function espalierVersion(): string {
  const manifest: unknown = JSON.parse(readFileSync(packageFile('package.json'), 'utf8'));
  return (manifest as { readonly version: string }).version;
}
