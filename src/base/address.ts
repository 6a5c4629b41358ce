/** An address as it may be shown: without its user, its password and its query, which may hold keys. */
export function withoutCredentials(address: string): string {
  try {
    const { origin, pathname } = new URL(address);
    return `${origin}${pathname.replace(/\/$/, '')}`;
  } catch {
    return address;
  }
}
