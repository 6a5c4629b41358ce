import type { Environment, Notation } from '../contracts/environment.ts';
import type { Heuristic } from '../contracts/evaluator.ts';
import type { MaybePromise } from '../contracts/json.ts';
import type { Capabilities, LanguageModel } from '../contracts/language-model.ts';
import type { Oracle } from '../contracts/verifier.ts';
import type { SearchOptions } from '../search/contracts.ts';

/** One problem of a benchmark task. */
export interface BenchInstance<State = any, Action = any> {
  /** Names it within its task. */
  readonly id: string;
  /**
   * Differs where what is asked, or what is right, has changed under the same `id`: what was found for another revision is
   * not used. No method sees it. @defaultValue it never changes
   */
  readonly revision?: string;
  /** Instances of one cluster, such as questions about one text, are not independent. @defaultValue its `id` */
  readonly cluster?: string;
  /** The dynamics, with what a user has at run time: rules, tests, a checker. */
  readonly environment: Environment<State, Action>;
  /**
   * Scores the state that a search has chosen. No search sees it, unless its plan makes a `goldVerifier` of it: the method is
   * then reported apart, as pass@k. To any other code than that search runs, and once it is over, it throws.
   *
   * @defaultValue the environment verifies: an end whose return is 1 or more is right
   */
  readonly oracle?: Oracle<State>;
  /** What guides its searches where no model is asked. @defaultValue nothing: a model is needed */
  readonly guides?: Pick<SearchOptions<State, Action>, 'evaluator' | 'policy'> & {
    /** h(s), which never overestimates, for A*. */
    readonly heuristic?: Heuristic<State>;
  };
  /** The model that is asked about it, in place of that of the comparison, such as a recording. @defaultValue none */
  readonly model?: LanguageModel;
  /** How a model that honours so much is shown it. @defaultValue the notation of the environment */
  notationFor?(capabilities: Capabilities): Notation<State, Action>;
  /** The longest step, in tokens. @defaultValue 512 */
  readonly maxTokens?: number;
}

/** Problems with a way to score answers: what methods are compared on. */
export interface BenchTask<State = any, Action = any> {
  /** The name in commands and reports, in kebab-case. */
  readonly name: string;
  /** What it is called in prose. */
  readonly title: string;
  /** What `--task` takes to name it again, such as `gsm8k:test.jsonl`. @defaultValue `name` */
  readonly spec?: string;
  /** Where its problems come from. @defaultValue they are generated */
  readonly source?: string;
  /** The licence of its problems, as an SPDX identifier. @defaultValue nobody says */
  readonly licence?: string;
  /** The names of its splits; the first is the default. @defaultValue it has only one */
  readonly splits?: readonly string[];
  /**
   * Its instances, always the same for the same request and in the same order.
   *
   * @throws EspalierError `usage` where there is no such split, or a file cannot be read.
   */
  instances(request: {
    /** The split. @defaultValue the first */
    readonly split?: string;
    /** The maximum number of instances; generated tasks make exactly that number. @defaultValue all, of generated ones 100 */
    readonly limit?: number;
    /** The seed of generated instances, and of the choice of a part. */
    readonly seed: number | string;
  }): MaybePromise<readonly BenchInstance<State, Action>[]>;
  /** Ends what it has started, such as a program. @defaultValue there is nothing to end */
  close?(): MaybePromise<void>;
}
