import { z } from 'zod';
import { EspalierError } from '../base/errors.ts';
import { messageOf } from '../base/failure.ts';
import { appendLine, readLines } from './json-lines.ts';

/** The record of a batch in a run folder, written before it is submitted. */
export interface LoggedBatch {
  /** The key by which it is found at the provider. */
  readonly key: string;
  /** The service that accepts it. */
  readonly service: string;
  /** The planned time of submission, in milliseconds since 1970. */
  readonly at: number;
  /** Its requests, in order: content addresses of the calls and their bodies. */
  readonly items: readonly string[];
  /** The indices of their samples. */
  readonly samples: readonly number[];
  /** Its id, once the submission is confirmed. */
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
 * The batches of a run, in a file. Each is recorded before its submission, and its result after, so that a kill never
 * leaves an unknown batch.
 */
export class BatchLog {
  readonly #path: string;

  constructor(path: string) {
    this.#path = path;
  }

  /** The batches that earlier sessions have submitted, or may have. @throws EspalierError `storage` */
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

  /** Records that a batch is about to be submitted. */
  intend({ key, service, at, items, samples }: LoggedBatch): void {
    this.#append({ batch: key, type: 'intent', service, at, items, samples });
  }

  /** Records that a batch was submitted. */
  submitted(key: string, id: string): void {
    this.#append({ batch: key, type: 'submitted', id });
  }

  /** Records that a batch was not submitted, or was refused: nothing of it is charged. */
  dropped(key: string): void {
    this.#append({ batch: key, type: 'dropped' });
  }

  /** If a record cannot be written, the run makes no further calls, and continues once it can. */
  #append(line: Line): void {
    try {
      appendLine(this.#path, line);
    } catch (cause) {
      throw new EspalierError('unavailable', messageOf(cause), { cause });
    }
  }
}
