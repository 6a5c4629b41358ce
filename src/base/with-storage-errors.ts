import { EspalierError } from './errors.ts';

/**
 * Performs a file operation. A system error becomes an error message of one or two sentences.
 *
 * @param subject - The file, as the beginning of a sentence.
 * @throws EspalierError `storage`; our own errors pass unchanged.
 */
export function withStorageErrors<Value>(subject: string, act: () => Value): Value {
  try {
    return act();
  } catch (cause) {
    if (EspalierError.isInstance(cause)) throw cause;
    throw new EspalierError('storage', `${subject} could not be used: ${objectionOf(cause)}.`, {
      cause,
    });
  }
}

const denied = 'permission is denied. Change its permissions, or choose another path';
const isFile = 'there is a file where a folder is needed. Choose another path';

/** The most frequent system errors, and what to do. */
const objections: Readonly<Record<string, string>> = {
  EACCES: denied,
  EEXIST: isFile,
  EISDIR: 'it is a folder. Name a file instead',
  ELOOP: 'its symbolic links lead in a circle. Choose another path',
  ENOENT: 'there is no such file or folder. Check the path',
  ENOSPC: 'the disk is full. Make room, and run it again',
  ENOTDIR: isFile,
  EPERM: denied,
  EROFS: 'the disk is read-only. Choose another path',
};

/** The message of a system error, without the full stop. */
export function objectionOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const code = 'code' in error ? String(error.code) : '';
  return Object.hasOwn(objections, code) ? (objections[code] ?? '') : error.message;
}

/** Whether a system error has this code. */
export function isCode(error: unknown, code: string): boolean {
  return error instanceof Error && 'code' in error && error.code === code;
}
