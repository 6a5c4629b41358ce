/**
 * An address that is safe to show: without user, password and query, which may contain keys. If it is not an HTTP
 * address, or a password may extend into other parts, only its beginning is shown.
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
