import type { Entry } from '../../contracts/entry.ts';
import type { BenchTask } from '../task.ts';

/** What a listed task is made from. */
export interface BenchTaskOptions {
  /** The path of a file with its problems. @defaultValue they are generated, where the task can do so */
  readonly file?: string;
  /** The generator of `reasoning-gym`, such as `chain_sum`. */
  readonly generator?: string;
}

/** A benchmark task as lists and commands tell of it. */
export interface BenchTaskEntry extends Entry<(options?: BenchTaskOptions) => BenchTask> {
  /** What stands behind its name and a colon, such as `test.jsonl` in `gsm8k:test.jsonl`. @defaultValue nothing may */
  readonly argument?: {
    /** The option that it is. */
    readonly option: keyof BenchTaskOptions;
    /** What it looks like. */
    readonly example: string;
    /** Whether there is no task without it. */
    readonly required: boolean;
  };
}
