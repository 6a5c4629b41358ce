/**
 * Whether a path is one of those that a pattern stands for: `*` is anything but a slash, `?` one such character, `**`
 * anything at all, and `**` with a slash behind it any number of folders, or none. All places that the pattern can have
 * come to are followed at once: the time is at most the product of both lengths, whatever the pattern.
 */
export function matchesPattern(path: string, pattern: string): boolean {
  const parts = pattern
    .replace(/^\.\//, '')
    // More stars than two in a row say no more.
    .replace(/\*{3,}/g, '**')
    .split(/(\*\*\/?|[\s\S])/)
    .filter((part) => part !== '')
    .flatMap((part) => (part === '**/' ? [perhaps, '**', '/'] : [part]));
  // Each of the others needs a separate character.
  const fewest = parts.filter((part, place) => {
    const isOptional = part.startsWith('*') || part === perhaps || parts[place - 2] === perhaps;
    return !isOptional;
  });
  if (fewest.length > path.length) return false;
  let fits = withSkipped(parts, [true]);
  for (const character of path) fits = withSkipped(parts, behind(character, parts, fits));
  return fits[parts.length] === true;
}

/** The places that are come to by a character. */
function behind(character: string, parts: readonly string[], fits: readonly boolean[]): boolean[] {
  const next: boolean[] = [];
  for (const [place, part] of parts.entries()) {
    if (fits[place] !== true) continue;
    if (part === '**' || (part === '*' && character !== '/')) next[place] = true;
    if (part === character || (part === '?' && character !== '/')) next[place + 1] = true;
  }
  return next;
}

/** Precedes two parts that may both be left out. */
const perhaps = 'perhaps';

/** The places that are come to without a further character: what can stand for nothing is passed over. */
function withSkipped(parts: readonly string[], fits: boolean[]): readonly boolean[] {
  for (const [place, part] of parts.entries()) {
    if (fits[place] !== true) continue;
    if (part === '*' || part === '**' || part === perhaps) fits[place + 1] = true;
    if (part === perhaps) fits[place + 3] = true;
  }
  return fits;
}
