import { readFileSync } from 'node:fs';
import { parse } from 'yaml';
import { z } from 'zod';
import { EspalierError } from '../base/errors.ts';
import { describeValue } from '../base/expect.ts';
import { expectRegularFile } from '../base/regular-file.ts';
import { withStorageErrors } from '../base/with-storage-errors.ts';
import type { BenchBudget } from './report.ts';

const units = ['tokens', 'calls', 'usd', 'ms'] as const;
const amount = z
  .union([z.number().positive(), z.string().regex(/^\d+(\.\d+)?[km]?$/i)])
  .meta({ description: 'A number, or one in thousands or millions: 2k, 1.5M.' });
const limits = z.union([amount, z.array(amount).min(1)]);
const wholeNumber = z.int().min(1);

/** What a suite file may say. */
export const suiteSchema: z.ZodType<Suite> = z
  .strictObject({
    task: z
      .string()
      .meta({ description: 'A task by its name, or the path of a file or a module.' }),
    split: z.string().optional(),
    limit: wholeNumber.optional().meta({ description: 'The most instances.' }),
    model: z.string().optional().meta({ description: 'tiny, none, or a model spec.' }),
    temperature: z.number().min(0).optional(),
    methods: z
      .array(z.string())
      .optional()
      .meta({ description: 'Algorithms and published methods.' }),
    budgets: z
      .strictObject(Object.fromEntries(units.map((unit) => [unit, limits.optional()])))
      .optional()
      .meta({ description: 'What each search may spend, by unit.' }),
    seeds: wholeNumber.optional().meta({ description: 'Independent searches of each instance.' }),
    seed: z.union([z.number(), z.string()]).optional(),
    baseline: z.string().optional(),
    concurrency: wholeNumber.optional(),
    out: z.string().optional().meta({ description: 'The folder in which all is kept.' }),
    failIfWorse: z
      .array(z.string())
      .optional()
      .meta({ description: 'Checks such as mcts:best-of-n@8k.' }),
  })
  .meta({ title: 'A benchmark of espalier' });

/** A benchmark as it stands in a file. */
export interface Suite {
  readonly task: string;
  readonly split?: string | undefined;
  readonly limit?: number | undefined;
  readonly model?: string | undefined;
  readonly temperature?: number | undefined;
  readonly methods?: readonly string[] | undefined;
  readonly budgets?: Readonly<Record<string, Amount | readonly Amount[] | undefined>> | undefined;
  readonly seeds?: number | undefined;
  readonly seed?: number | string | undefined;
  readonly baseline?: string | undefined;
  readonly concurrency?: number | undefined;
  readonly out?: string | undefined;
  readonly failIfWorse?: readonly string[] | undefined;
}

type Amount = number | string;

/**
 * Reads a suite: YAML, and so JSON as well.
 *
 * @throws EspalierError `usage`, naming the file and what in it is wrong; `storage` where it cannot be read.
 */
export function readSuite(path: string): Suite {
  const text = withStorageErrors(`\`${path}\``, () => {
    expectRegularFile(path);
    return readFileSync(path, 'utf8');
  });
  let value: unknown;
  try {
    value = parse(text, { maxAliasCount: 0 });
  } catch (cause) {
    const [what = ''] = String((cause as Error).message).split('\n');
    throw new EspalierError('usage', `\`${path}\` is no YAML: ${what}`, { cause });
  }
  const parsed = suiteSchema.safeParse(value);
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  const where = issue?.path.join('.') ?? '';
  const what = `${where === '' ? '' : `\`${where}\`: `}${issue?.message ?? 'it has another shape'}`;
  throw new EspalierError('usage', `\`${path}\` is no suite: ${what}.`, { cause: parsed.error });
}

/** The budgets of a suite. */
export function budgetsOf(budgets: NonNullable<Suite['budgets']>): readonly BenchBudget[] {
  return units.flatMap((unit) => {
    const given = budgets[unit];
    if (given === undefined) return [];
    return [given].flat().map((limit) => ({ unit, limit: amountOf(String(limit)) }));
  });
}

/**
 * Budgets as they are written on a command line: `tokens=2k,8k,32k`, several units parted by spaces or `;`.
 *
 * @throws EspalierError `usage` for anything else.
 */
export function parseBudgets(text: string): readonly BenchBudget[] {
  return text.split(/[\s;]+/).flatMap((part) => {
    const [, unit, list] = /^(tokens|calls|usd|ms)=(.+)$/.exec(part) ?? [];
    const amounts = (list ?? '').split(',').map(amountOf);
    if (unit === undefined || !amounts.every((limit) => limit > 0)) {
      throw new EspalierError(
        'usage',
        `Expected \`--budgets\` as in tokens=2k,8k,32k, with tokens, calls, usd or ms, got ${describeValue(text)}.`,
      );
    }
    return amounts.map((limit) => ({ unit: unit as BenchBudget['unit'], limit }));
  });
}

/** A check that one method is not worse than another at one budget. */
export interface Check {
  readonly method: string;
  readonly than: string;
  readonly limit: number;
}

/**
 * Reads a check such as `mcts:best-of-n@8k`.
 *
 * @throws EspalierError `usage` for anything else.
 */
export function parseCheck(text: string): Check {
  const [, method, than, amountText = ''] = /^([^:@]+):([^:@]+)@([^@]+)$/.exec(text) ?? [];
  const limit = amountOf(amountText);
  if (method !== undefined && than !== undefined && limit > 0) return { method, than, limit };
  throw new EspalierError(
    'usage',
    `Expected a check such as mcts:best-of-n@8k (METHOD:THAN@BUDGET), got ${describeValue(text)}.`,
  );
}

const factors: Readonly<Record<string, number>> = { k: 1_000, m: 1_000_000 };

/** `2k` is 2,000; `NaN` for what is no amount. */
function amountOf(text: string): number {
  const [, digits, suffix = ''] = /^(\d+(?:\.\d+)?)([km]?)$/i.exec(text.trim()) ?? [];
  return Number(digits) * (factors[suffix.toLowerCase()] ?? 1);
}
