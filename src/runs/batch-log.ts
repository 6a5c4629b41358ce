import { z } from 'zod';
import { EspalierError } from '../base/errors.ts';
import { messageOf } from '../base/failure.ts';
import { appendLine, readLines } from './json-lines.ts';

/** What a run folder remembers of a batch, from before it is submitted. */
export interface LoggedBatch {
  /** What it is found by at the provider. */
  readonly key: string;
  /** Who takes it. */
  readonly service: string;
  /** When it was to be submitted, in milliseconds since 1970. */
  readonly at: number;
  /** What its requests are, in order: the content addresses of calls and what they asked for. */
  readonly items: readonly string[];
  /** The indices of their samples. */
  readonly samples: readonly number[];
  /** Its id, once somebody has heard of it. */
  readonly id?: string | undefined;
}

type Line =
  | ({ readonly batch: string; readonly type: 'intent' } & Omit<LoggedBatch, 'id' | 'key'>)
  | { readonly batch: string; readonly type: 'submitted'; readonly id: string }
  | { readonly batch: string; readonly type: 'dropped' };

const batch = z.string();
const schema: z.ZodType<Line> = z.discriminatedUnion('type', [
  z.object({
    ...{ batch, type: z.literal('intent'), service: z.string(), at: z.number() },
    items: z.array(z.string()),
    samples: z.array(z.int().min(0)),
  }),
  z.object({ batch, type: z.literal('submitted'), id: z.string() }),
  z.object({ batch, type: z.literal('dropped') }),
]);

/**
 * The batches of a run, in a file: what is to be submitted stands in it before, and what became of it after, so that no
 * kill leaves a batch that nobody knows of.
 */
export class BatchLog {
  readonly #path: string;

  constructor(path: string) {
    this.#path = path;
  }

  /** What earlier sessions have submitted, or may have. @throws EspalierError `storage` */
  batches(): readonly LoggedBatch[] {
    const there = new Map<string, LoggedBatch>();
    for (const { value } of readLines(this.#path, schema)) {
      const { batch: key } = value;
      const before = there.get(key);
      if (value.type === 'intent') {
        const { service, at, items, samples } = value;
        there.set(key, { key, service, at, items, samples });
      } else if (value.type === 'dropped') there.delete(key);
      else if (before !== undefined) there.set(key, { ...before, id: value.id });
    }
    return [...there.values()];
  }

  /** Says that a batch is about to be submitted. */
  intend({ key, service, at, items, samples }: LoggedBatch): void {
    this.#append({ batch: key, type: 'intent', service, at, items, samples });
  }

  /** Says that a batch was submitted. */
  submitted(key: string, id: string): void {
    this.#append({ batch: key, type: 'submitted', id });
  }

  /** Says that a batch was not submitted, or was refused: nothing of it is paid for. */
  dropped(key: string): void {
    this.#append({ batch: key, type: 'dropped' });
  }

  /** A run that cannot write down what it submits makes no further calls, and goes on when it can. */
  #append(line: Line): void {
    try {
      appendLine(this.#path, line);
    } catch (cause) {
      throw new EspalierError('unavailable', messageOf(cause), { cause });
    }
  }
}
