import { EspalierError } from '../../base/errors.ts';

/**
 * Imports an optional peer dependency at its first use.
 *
 * @param name - The package, as it is installed.
 * @param load - Imports it.
 * @throws EspalierError `usage` that names the package, where it is not installed.
 */
export async function loadPeer<Module>(name: string, load: () => Promise<Module>): Promise<Module> {
  try {
    return await load();
  } catch (cause) {
    const reason = cause instanceof Error && 'code' in cause ? cause.code : undefined;
    const message =
      reason === 'ERR_MODULE_NOT_FOUND' || reason === 'MODULE_NOT_FOUND'
        ? `Expected the package \`${name}\` to be installed, and it is not. Run: npm install ${name}`
        : `The package \`${name}\` cannot be loaded: ${cause instanceof Error ? cause.message : String(cause)}`;
    throw new EspalierError('usage', message, { cause });
  }
}
