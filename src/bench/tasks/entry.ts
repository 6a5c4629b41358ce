import type { Entry } from '../../contracts/entry.ts';
import type { BenchTask } from '../task.ts';

/** The input from which a listed task is made. */
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
    /** An example of it. */
    readonly example: string;
    /** Whether the task requires it. */
    readonly required: boolean;
  };
}
