import { EspalierError } from '../spec/errors.ts';

/**
 * Does something with a file. What the system objects to becomes one sentence about it.
 *
 * @param subject - The file as a sentence begins with it.
 * @throws EspalierError `storage`; errors of our own pass as they are.
 */
export function storing<Value>(subject: string, act: () => Value): Value {
  try {
    return act();
  } catch (cause) {
    if (EspalierError.isInstance(cause)) throw cause;
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new EspalierError('storage', `${subject} could not be used: ${reason}.`, { cause });
  }
}
