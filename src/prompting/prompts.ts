import { canonicalJson, contentAddress } from '../base/canonical-json.ts';
import { EspalierError } from '../base/errors.ts';
import { expectation, expectObject } from '../base/expect.ts';
import type { Provenance } from '../contracts/provenance.ts';

/**
 * The prompt texts of one policy or judge, as data with a version. In a text, `{name}` is a slot; `{{` and `}}` stand
 * for braces.
 */
export interface PromptSet<Name extends string = string> {
  /** The name of the set in journals, in kebab-case. */
  readonly name: string;
  /** Incremented with every change of a text. */
  readonly version: number;
  /** The texts by name. */
  readonly texts: Readonly<Record<Name, string>>;
}

/** Replacement texts; texts that are left out keep their defaults. */
export type Texts<Name extends string> = Partial<Readonly<Record<Name, string>>>;

/** A prompt set with some texts replaced. The name stays; the content address differs. */
export function withTexts<Name extends string>(
  prompts: PromptSet<Name>,
  texts: Texts<Name> = {},
): PromptSet<Name> {
  expectObject('prompts', texts);
  const known = Object.keys(prompts.texts);
  for (const [name, text] of Object.entries(texts)) {
    if (!known.includes(name)) {
      throw expectation('prompts', `texts named ${known.join(', ')}`, name);
    }
    if (typeof text !== 'string') throw expectation(`prompts.${name}`, 'a text', text);
  }
  return { ...prompts, texts: { ...prompts.texts, ...texts } };
}

/** The entry of prompt sets in the journal: `{ 'critic': '1 …' }`, version and content address. */
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
 * A text with its slots filled in one pass: the values are data, and slots in them are ignored.
 *
 * @throws EspalierError `usage` for a slot without a value.
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
