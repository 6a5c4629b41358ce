import type { LanguageModel } from '../contracts/language-model.ts';

/** What a function is given that a module exports for `--environment`, `--algorithm`, `--policy` or `--value`. */
export interface PartRequest {
  /** The model that `--model` names; absent where none does, as in an export. */
  readonly model?: LanguageModel;
  /** The model that judges. @defaultValue `model` */
  readonly judgeModel?: LanguageModel;
  /** What is searched. A known answer is no part of it: no search may see it. */
  readonly problem: {
    /** Names it within its run. */
    readonly id: string;
    /** What is asked, in words. */
    readonly question?: string | undefined;
    /** Which puzzle it is. */
    readonly task?: string | undefined;
    /** The puzzle in its usual form, or what `--input` or a line of problems holds. */
    readonly input?: string | undefined;
  };
}
