import { z } from 'zod';
import { EspalierError } from '../base/errors.ts';
import { readInput } from './input-file.ts';
import { jsonLine } from './problems-file.ts';

/** A state, and whether it is good. */
export interface LabelledState {
  /** The state as shown to a judge. */
  readonly state: string;
  /** Whether the goal can be reached from it. */
  readonly good: boolean;
  /** The problem it belongs to. */
  readonly problem?: string | undefined;
}

const lineSchema = z.object({
  state: z.string().refine((value) => value.trim() !== ''),
  good: z.boolean(),
  problem: z.union([z.string(), z.number()]).transform(String).optional(),
});

/**
 * Reads a file of states, one per line: `{"state": …, "good": true}`, with an optional `problem`.
 *
 * @throws EspalierError `usage`, naming the line, or if not both good and bad states occur.
 */
export function readLabelledStates(path: string): readonly LabelledState[] {
  const expected =
    'expected `state`, a text, and `good`, true or false, and `problem`, if any, a text or a number';
  const states = readInput(path)
    .replace(/^\uFEFF/, '')
    .split('\n')
    .flatMap((line, index) =>
      line.trim() === '' ? [] : [jsonLine(line, lineSchema, { path, number: index + 1, expected })],
    );
  const good = states.filter((state) => state.good).length;
  if (good > 0 && good < states.length) return states;
  const message = `Expected states in \`${path}\` of which some are good and some are not, got ${good} good of ${states.length}.`;
  throw new EspalierError('usage', message);
}
