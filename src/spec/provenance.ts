/**
 * What a part of a search tells of itself, for trees and journals. A part that is made of others passes on
 * theirs.
 */
export interface Provenance {
  /** Marks that trees and training data must carry, such as `oracle-guided`. @defaultValue none */
  readonly stamps?: readonly string[];
  /** The prompts it uses: of each its name, and its version and content address. @defaultValue none */
  readonly prompts?: Readonly<Record<string, string>>;
}
