import { rmdirSync } from 'node:fs';
import { join } from 'node:path';
import { makeFolder } from '../base/make-folder.ts';
import { modelName } from '../base/model-name.ts';
import { isCode, withStorageErrors } from '../base/with-storage-errors.ts';
import type { PriceTable } from '../calls/prices.ts';
import { priceOf } from '../calls/pricing.ts';
import type { JsonValue } from '../contracts/json.ts';
import type { LanguageModel, ModelPrice } from '../contracts/language-model.ts';
import { openRun, type RunFolder, readRun } from '../runs/run-folder.ts';
import { expectSame } from '../runs/same-run.ts';
import type { CompareOptions } from './compare-options.ts';
import { Recording } from './recording.ts';
import type { BenchInstance } from './task.ts';

/** What a benchmark writes to: its run, which has to be closed, and what was bought. */
export interface BenchFolders {
  readonly run: RunFolder;
  readonly recording: Recording;
}

/**
 * Opens the folders of a benchmark, and makes them where there are none. More methods, budgets and seeds may be added.
 *
 * @param isTrial - Whether nothing is written of what was asked for.
 * @throws EspalierError `usage` where the folder holds another benchmark, or files of somebody else; `locked`, `storage`.
 */
export function openFolders(
  options: CompareOptions,
  instances: readonly BenchInstance[],
  isTrial = false,
): BenchFolders {
  const { out } = options;
  const own = join(out, 'recording');
  const run = openRun(out);
  try {
    const { run: old } = readRun(out);
    const now = identityOf(options, instances);
    if (old !== undefined) {
      const advice = `Take another \`--out\` (\`out\` in code). It can share answers of the same model with the \`--cache\` (\`recording\`) of this one, \`${own}\` by default.`;
      expectSame(out, { old, now }, { advice });
    }
    // A recording that cannot be read leaves no benchmark behind.
    const recording = new Recording(own, options.recording);
    if (old === undefined && !isTrial) run.writeRun(now);
    return { run, recording };
  } catch (error) {
    run.close();
    throw error;
  }
}

/**
 * Refuses what {@link openFolders} would refuse, and takes away the folders that it had to make.
 *
 * @param others - Folders that are written to besides.
 * @throws EspalierError as {@link openFolders} does.
 */
export function tryFolders(
  options: CompareOptions,
  instances: readonly BenchInstance[],
  others: readonly string[],
): void {
  const { out, recording = out } = options;
  const made: string[] = [];
  try {
    for (const path of [out, join(out, 'recording'), recording, ...others]) {
      made.push(...withStorageErrors(`\`${path}\``, () => makeFolder(path)));
    }
    openFolders(options, instances, true).run.close();
  } finally {
    for (const path of made.toReversed()) removeEmpty(path);
  }
}

/** Another process may have begun to use it. */
function removeEmpty(path: string): void {
  try {
    rmdirSync(path);
  } catch (error) {
    if (!isCode(error, 'ENOTEMPTY') && !isCode(error, 'ENOENT')) throw error;
  }
}

/** What a benchmark is known by. */
function identityOf(
  {
    task,
    model,
    judgeModel,
    split,
    seed = 0,
    temperature,
    maxTokens,
    paced = true,
    prices = {},
  }: CompareOptions,
  instances: readonly BenchInstance[],
): Readonly<Record<string, JsonValue>> {
  return asJson({
    command: 'bench',
    task: task.name,
    source: task.source ?? null,
    split: split ?? null,
    model: nameOrNull(model),
    judgeModel: nameOrNull(judgeModel),
    settings: [model, judgeModel].map((each) => each?.settings ?? null),
    prices: [model, judgeModel, instances[0]?.model].map((each) => each && fullPrice(each, prices)),
    temperature: temperature ?? null,
    maxTokens: maxTokens ?? null,
    seed,
    paced,
  });
}

/** The price of a model with all that it does not say; `undefined` where it is not known. */
function fullPrice(model: LanguageModel, prices: PriceTable): ModelPrice | undefined {
  const price = priceOf(model, prices, false);
  if (price === undefined) return undefined;
  const { input, cachedInput = input, cacheWrite = input, tiers = {} } = price;
  // A benchmark makes no batches, and the command line prices them where code need not.
  const { batch: _, ...asked } = tiers;
  return { ...price, cachedInput, cacheWrite, tiers: asked };
}

/** The name of a model in reports. */
export function nameOrNull(model: LanguageModel | undefined): string | null {
  return model === undefined ? null : modelName(model);
}

/** As it is read again: without what is undefined. */
export function asJson(value: object): Readonly<Record<string, JsonValue>> {
  return JSON.parse(JSON.stringify(value)) as Readonly<Record<string, JsonValue>>;
}
