/**
 * What went wrong, as a closed list.
 *
 * - `usage`: an option or a plug-in broke its contract; the message names it and says what was expected.
 * - `invalid-tree`: a saved tree cannot be read; the message names the field.
 * - `invalid-journal`: a journal cannot be read, or belongs to another run.
 * - `locked`: another process writes to the same run folder.
 * - `storage`: a file could not be written (a full disk, missing rights).
 * - `budget`: a reservation was refused and nothing in flight could free it.
 * - `interrupted`: an effect was open when a process died, and it must not be repeated unasked.
 * - `unrecorded`: a replay was asked for a call that its journal does not hold.
 */
export type EspalierErrorCode =
  | 'usage'
  | 'invalid-tree'
  | 'invalid-journal'
  | 'locked'
  | 'storage'
  | 'budget'
  | 'interrupted'
  | 'unrecorded';

const marker: unique symbol = Symbol.for('espalier.error') as never;

/** The base of all errors that espalier throws on its own account. */
export class EspalierError extends Error {
  /** The name of the class. */
  override readonly name: string = 'EspalierError';

  /** What went wrong. */
  readonly code: EspalierErrorCode;

  constructor(code: EspalierErrorCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
    Object.defineProperty(this, marker, { value: true });
  }

  /** Recognises errors of any installed copy of espalier, where `instanceof` knows only one. */
  static isInstance(value: unknown): value is EspalierError {
    return typeof value === 'object' && value !== null && marker in value;
  }
}
