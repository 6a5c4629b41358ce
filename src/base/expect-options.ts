import { EspalierError } from './errors.ts';
import { gotten, refusalOf } from './expect.ts';
import { isThenable } from './is-thenable.ts';
import { nearestName } from './nearest-name.ts';

/**
 * Refuses unknown options, so that a misspelt one is not silently ignored, and options that are not an object.
 *
 * @param owner - The function that takes the options, as written in code.
 * @param known - The names of its options, separated by spaces.
 */
export function expectOptions(owner: string, options: unknown, known: string): void {
  if (typeof options !== 'object' || options === null || isThenable(options)) {
    const message = `Expected the options of \`${owner}\` to be an object, ${gotten(options)}`;
    throw new EspalierError('usage', message);
  }
  const names = namesIn(known);
  const unknown = unknownIn(options, names);
  if (unknown === undefined) return;
  if ('generate' in options && 'provider' in options) {
    throw new EspalierError(
      'usage',
      `Expected the options of \`${owner}\`, got a model: write \`${owner}({ model })\`.`,
    );
  }
  throw refusalOf(options, `\`${owner}\` has no option \`${unknown}\`. ${hintFor(unknown, names)}`);
}

/** What was meant by an unknown name, or else the known ones. */
export function hintFor(unknown: string, names: readonly string[]): string {
  const meant = nearestName(unknown, names);
  return meant === undefined ? `It has ${names.join(', ')}.` : `Did you mean \`${meant}\`?`;
}

/** The first unknown name, also among those that the object inherits. It makes no list of them: this is called often. */
export function unknownIn(options: object, names: readonly string[]): string | undefined {
  for (const name in options) if (!names.includes(name)) return name;
  return undefined;
}

const lists = new Map<string, readonly string[]>();

/** Split only once, because some are checked in every simulation. */
function namesIn(known: string): readonly string[] {
  let names = lists.get(known);
  if (names === undefined) {
    names = known.split(' ');
    lists.set(known, names);
  }
  return names;
}
