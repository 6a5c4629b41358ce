import { canonicalJson, contentAddress } from '../base/canonical-json.ts';
import { EspalierError } from '../base/errors.ts';
import { expectation } from '../base/expect.ts';
import type { Provenance } from '../contracts/provenance.ts';

/**
 * Texts that a model is told, as data: all those of one policy or judge in one place, with a version. In a text
 * `{name}` is a slot; `{{` and `}}` stand for braces.
 */
export interface PromptSet<Name extends string = string> {
  /** What the set is called in journals, in kebab-case. */
  readonly name: string;
  /** Goes up with every change of a text. */
  readonly version: number;
  /** The texts by name. */
  readonly texts: Readonly<Record<Name, string>>;
}

/** Texts that take the place of the usual ones; those that are left out stay. */
export type Texts<Name extends string> = Partial<Readonly<Record<Name, string>>>;

/** A prompt set with some texts replaced. The name stays; the content address tells it apart. */
export function withTexts<Name extends string>(
  prompts: PromptSet<Name>,
  texts: Texts<Name> = {},
): PromptSet<Name> {
  const known = Object.keys(prompts.texts);
  for (const [name, text] of Object.entries(texts)) {
    if (!known.includes(name)) {
      throw expectation('prompts', `texts named ${known.join(', ')}`, name);
    }
    if (typeof text !== 'string') throw expectation(`prompts.${name}`, 'a text', text);
  }
  return { ...prompts, texts: { ...prompts.texts, ...texts } };
}

/** What a prompt set puts into the journal: `{ 'critic': '1 …' }`, its version and its content address. */
export function promptsOf(...sets: readonly PromptSet[]): NonNullable<Provenance['prompts']> {
  return Object.fromEntries(
    sets.map(({ name, version, texts }) => [
      name,
      `${version} ${contentAddress(canonicalJson('texts', texts))}`,
    ]),
  );
}

const slots = /\{\{|\}\}|\{([A-Za-z]\w*)\}/g;

/**
 * A text with its slots filled, in one pass: what is filled in is data, and no slot in it is looked at.
 *
 * @throws EspalierError `usage` for a slot that nothing is given for.
 */
export function fill(text: string, values: Readonly<Record<string, string | number>>): string {
  return text.replace(slots, (match, name: string | undefined) => {
    if (name === undefined) return match.slice(1);
    if (Object.hasOwn(values, name)) return String(values[name]);
    const known = Object.keys(values).join(', ');
    throw new EspalierError(
      'usage',
      `Expected the slots of a prompt to be among ${known}, got \`{${name}}\`.`,
    );
  });
}
