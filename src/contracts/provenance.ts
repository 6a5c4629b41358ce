import type { JsonValue } from './json.ts';

/**
 * What a part of a search reports about itself, for trees and journals. A composite part passes on the provenance of
 * its parts.
 */
export interface Provenance {
  /** Marks that trees and training data must carry, such as `oracle-guided`. @defaultValue none */
  readonly stamps?: readonly string[];
  /**
   * The names of parts that show states and actions to a model. If there are any, a search needs an environment with a
   * `notation`.
   *
   * @defaultValue none
   */
  readonly needsNotation?: readonly string[];
  /** The prompts it uses: version and content address by name. @defaultValue none */
  readonly prompts?: Readonly<Record<string, string>>;
  /** The models that it calls, with the settings that affect their answers. @defaultValue none */
  readonly models?: readonly {
    /** The model, as `provider:modelId`. */
    readonly model: string;
    /** Settings that affect its answers: those of the model, and those of each request, such as the temperature. */
    readonly settings: Readonly<Record<string, JsonValue>>;
  }[];
}
