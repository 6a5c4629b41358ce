import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { muteOf } from '../backends/transport/mute.ts';
import { EspalierError } from '../base/errors.ts';
import { plainContext } from '../testing/plain-context.ts';
import type { CompareOptions } from './compare-options.ts';
import type { BenchInstance } from './task.ts';

/**
 * Refuses a new benchmark whose models have no key or no package. What was bought before may be all that another one takes.
 *
 * @throws EspalierError `usage`.
 */
export async function expectModels(
  options: CompareOptions,
  instances: readonly BenchInstance[],
): Promise<void> {
  const { out, recording } = options;
  if (existsSync(join(out, 'recording')) || recording !== undefined) return;
  const obstacle = await obstacleOf(options, instances);
  if (obstacle !== undefined) throw obstacle;
}

/**
 * Why a model could not be asked as things are, such as without its key. Nothing is sent. Guides of the user's own may ask
 * none of them.
 */
export async function obstacleOf(
  { model, judgeModel, guides }: CompareOptions,
  [first]: readonly BenchInstance[],
): Promise<EspalierError | undefined> {
  if (guides !== undefined) return undefined;
  for (const asked of [first?.model ?? model, judgeModel]) {
    const mute = asked && muteOf(asked);
    const refusal = mute && (await refusalOf(() => ask(mute)));
    if (refusal !== undefined) return refusal;
  }
  return undefined;
}

function ask(model: NonNullable<CompareOptions['model']>): Promise<unknown> {
  const messages = [{ role: 'user', content: 'Are you there?' }] as const;
  return plainContext().generate(model, { messages, maxTokens: 1 });
}

/** The error that would end the benchmark. What else goes wrong ends one search. */
export async function refusalOf(work: () => Promise<unknown>): Promise<EspalierError | undefined> {
  try {
    await work();
  } catch (error) {
    if (EspalierError.isInstance(error) && error.scope === 'run') return error;
  }
  return undefined;
}
