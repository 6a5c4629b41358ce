import { EspalierError } from '../../base/errors.ts';
import { describeValue, expectation, expectInteger } from '../../base/expect.ts';
import { expectOptions } from '../../base/expect-options.ts';
import { nearestName } from '../../base/nearest-name.ts';
import type { BenchTask } from '../task.ts';

/** What a task is asked for, as a plug-in takes it. */
type InstancesRequest = Parameters<BenchTask['instances']>[0];

/** What a task is asked for, with its defaults. */
export interface ReadRequest extends InstancesRequest {
  /** How many instances are to be generated. */
  readonly count: number;
}

/** The number of instances of a generated task, unless the user gives one. */
const usual = 100;

/**
 * What a task is asked for, with its defaults.
 *
 * @throws EspalierError `usage` if there is no such split, and where an option is out of its range.
 */
export function readRequest(
  { name, splits = [] }: Pick<BenchTask, 'name' | 'splits'>,
  request: InstancesRequest,
): ReadRequest {
  expectOptions(`${name}.instances`, request, 'split limit seed');
  expectSplit({ name, splits }, request.split);
  const { split = splits[0], limit, seed } = request;
  if (limit !== undefined) expectInteger('limit', limit, { min: 1, max: Number.POSITIVE_INFINITY });
  if (typeof seed !== 'string' && !Number.isFinite(seed)) {
    throw expectation('seed', 'a number or a text', seed);
  }
  return {
    seed,
    ...(split !== undefined && { split }),
    ...(limit !== undefined && { limit }),
    count: Math.min(limit ?? usual, Number.MAX_SAFE_INTEGER),
  };
}

/** @throws EspalierError `usage` for a split that the task does not name. */
export function expectSplit(
  { name, splits = [] }: Pick<BenchTask, 'name' | 'splits'>,
  split: string | undefined,
): void {
  if (split === undefined || splits.includes(split)) return;
  const meant = nearestName(String(split), splits);
  const known = splits.length === 0 ? 'It has only one.' : `It has ${splits.join(', ')}.`;
  const hint = meant === undefined ? known : `Did you mean \`${meant}\`?`;
  throw new EspalierError(
    'usage',
    `The task \`${name}\` has no split ${describeValue(split)}. ${hint}`,
  );
}
