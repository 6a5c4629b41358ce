import type { LanguageModel } from '../contracts/language-model.ts';

/** The argument of functions exported by modules for `--environment`, `--algorithm`, `--policy` or `--value`. */
export interface PartRequest {
  /** The model of `--model`; absent without one, as in an export. */
  readonly model?: LanguageModel;
  /** The model that judges. @defaultValue `model` */
  readonly judgeModel?: LanguageModel;
  /** The problem to search, without a known answer, which no search may see. */
  readonly problem: {
    /** Its id within the run. */
    readonly id: string;
    /** The question, in words. */
    readonly question?: string | undefined;
    /** The name of the puzzle, or of the task of a benchmark. */
    readonly task?: string | undefined;
    /** The puzzle in its usual form, or the value of `--input` or of a line of problems. */
    readonly input?: string | undefined;
  };
}
