import type { JsonValue } from './json.ts';

/**
 * What a part of a search tells of itself, for trees and journals. A part that is made of others passes on
 * theirs.
 */
export interface Provenance {
  /** Marks that trees and training data must carry, such as `oracle-guided`. @defaultValue none */
  readonly stamps?: readonly string[];
  /**
   * The parts that show states and actions to a model, by name: a search without a `notation` in its environment is
   * refused where there are any.
   *
   * @defaultValue none
   */
  readonly needsNotation?: readonly string[];
  /** The prompts it uses: of each its name, and its version and content address. @defaultValue none */
  readonly prompts?: Readonly<Record<string, string>>;
  /** The models that it asks, each with what changes their answers. @defaultValue none */
  readonly models?: readonly {
    /** The model, as `provider:modelId`. */
    readonly model: string;
    /** What changes its answers: the settings of the model, and those of each request, such as a temperature. */
    readonly settings: Readonly<Record<string, JsonValue>>;
  }[];
}
