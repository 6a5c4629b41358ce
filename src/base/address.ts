/**
 * An address as it may be shown: without its user, its password and its query, which may hold keys. Of one that is none
 * of HTTP, or in which a password may have run over into other parts, only how it begins.
 */
export function withoutCredentials(address: string): string {
  const scheme = /^\s*([a-z][a-z0-9+.-]*:)(?=[\\/])/i.exec(address)?.[1] ?? '';
  try {
    const { protocol, origin, pathname, search, hash } = new URL(address);
    const isPlain = /^https?:$/.test(protocol) && !`${pathname}${search}${hash}`.includes('@');
    return isPlain ? `${origin}${pathname.replace(/\/$/, '')}` : `${scheme}…`;
  } catch {
    return `${scheme}…`;
  }
}
