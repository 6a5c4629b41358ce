import type { Environment, Notation } from '../contracts/environment.ts';
import type { Heuristic } from '../contracts/evaluator.ts';
import type { MaybePromise } from '../contracts/json.ts';
import type { Capabilities, LanguageModel } from '../contracts/language-model.ts';
import type { Oracle } from '../contracts/verifier.ts';
import type { SearchOptions } from '../search/contracts.ts';

/** One problem of a benchmark task. */
export interface BenchInstance<State = any, Action = any> {
  /** Its id within the task. */
  readonly id: string;
  /**
   * A revision that changes when the question or the right answer changes under the same `id`: results for another
   * revision are not used, though answers to equal requests are. Methods do not see it. @defaultValue none
   */
  readonly revision?: string;
  /** Instances of one cluster, such as questions about one text, are not independent. @defaultValue its `id` */
  readonly cluster?: string;
  /** The environment, with only what a user has at run time: rules, tests, a checker. */
  readonly environment: Environment<State, Action>;
  /**
   * Scores the state that a search has chosen. Searches do not see it; a plan that passes it to one as a `goldVerifier`
   * is reported separately, as pass@k. It throws if any other code than that search calls it, or once the search is over.
   *
   * @defaultValue the environment verifies: an end whose return is 1 or more is right
   */
  readonly oracle?: Oracle<State>;
  /** Policy and evaluator for searches without a model. @defaultValue none: a model is required */
  readonly guides?: Pick<SearchOptions<State, Action>, 'evaluator' | 'policy'> & {
    /** An admissible h(s), for A*. */
    readonly heuristic?: Heuristic<State>;
  };
  /** The model for this instance, instead of that of the comparison, such as a recording. @defaultValue none */
  readonly model?: LanguageModel;
  /** The notation for a model with given capabilities. @defaultValue the notation of the environment */
  notationFor?(capabilities: Capabilities): Notation<State, Action>;
  /** The longest step, in tokens. @defaultValue 512 */
  readonly maxTokens?: number;
}

/** A benchmark task: problems with a way to score answers. */
export interface BenchTask<State = any, Action = any> {
  /** The name in commands and reports, in kebab-case. */
  readonly name: string;
  /** The name in prose. */
  readonly title: string;
  /** The value of `--task` for it, such as `gsm8k:test.jsonl`. @defaultValue `name` */
  readonly spec?: string;
  /** The source of its problems. @defaultValue generated */
  readonly source?: string;
  /** The licence of its problems, as an SPDX identifier. @defaultValue unknown */
  readonly licence?: string;
  /**
   * A revision that changes when its rules or its oracles change: searches of another revision are made again, and buy only
   * what they ask anew. @defaultValue none; of a module, a hash of its file and of the files that it imports by a path
   */
  readonly revision?: string;
  /** The names of its splits; the first is the default. @defaultValue it has only one */
  readonly splits?: readonly string[];
  /**
   * Its instances, always the same for the same request and in the same order.
   *
   * @throws EspalierError `usage` if the split does not exist, or a file cannot be read.
   */
  instances(request: {
    /** The split. @defaultValue the first */
    readonly split?: string;
    /** The maximum number of instances; generated tasks make exactly that number. @defaultValue all, of generated ones 100 */
    readonly limit?: number;
    /** The seed of generated instances, and of the choice of a part. */
    readonly seed: number | string;
  }): MaybePromise<readonly BenchInstance<State, Action>[]>;
  /** Stops what it has started, such as a program. @defaultValue nothing to stop */
  close?(): MaybePromise<void>;
}
