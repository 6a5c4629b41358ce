import { readFileSync, statSync } from 'node:fs';
import { parse, type YAMLParseError } from 'yaml';
import { z } from 'zod';
import { EspalierError } from '../base/errors.ts';
import { describeValue } from '../base/expect.ts';
import { nearestName } from '../base/nearest-name.ts';
import { expectRegularFile } from '../base/regular-file.ts';
import { modulePath } from '../base/user-module.ts';
import { withStorageErrors } from '../base/with-storage-errors.ts';
import { algorithmNames } from '../runs/algorithms.ts';
import { methodNames } from '../runs/methods.ts';
import type { BenchBudget } from './report.ts';

const units = ['tokens', 'calls', 'usd', 'ms'] as const;

// What an error says was expected, where a value is not of its kind.
const text = z.string({ error: 'a text' });
const path = z.string({ error: 'a path' }).min(1, { error: 'a path' });
/** Editors offer them. Which of them there are, the benchmark says better than a schema. */
const names = [...algorithmNames, ...methodNames];
const module = z.string().regex(modulePath, { error: 'the path of a module such as ./world.js' });
const whole = (min: number) => {
  const error = `a whole number from ${min} up`;
  return z.int({ error }).min(min, { error });
};
const notNegative = { error: 'a number from 0 up' };
const number = z.number(notNegative).min(0, notNegative);
const amounts = { error: 'an amount above 0 such as 2k or 1.5M, or a list of them' };
const amount = z
  .union(
    [z.number(amounts).positive(amounts), z.string(amounts).regex(/^\d+(\.\d+)?[km]?$/i, amounts)],
    amounts,
  )
  .meta({ description: 'A number, or one in thousands or millions: 2k, 1.5M.' });
const limits = z.union([amount, z.array(amount, amounts).min(1, amounts)], amounts);

const checks = z.array(
  text.refine((given) => checkIn(given) !== undefined, {
    error: 'a check such as mcts:best-of-n@8k or mcts:best-of-n@calls=8 (METHOD:THAN@BUDGET)',
  }),
  { error: 'a list of texts' },
);

function optional<Kind extends z.ZodType>(kind: Kind, description: string) {
  return kind.optional().meta({ description });
}

/** What a suite file may say: what the options of the command say, but for `--dry-run` and `--json`. */
const keys = {
  task: optional(text, 'A task by its name, or the path of a file or a module.'),
  replay: optional(text, 'A saved run whose problems are searched with its recorded thoughts.'),
  split: optional(text, 'The split of the task. Default: its first.'),
  limit: optional(whole(1), 'The maximum number of problems.'),
  model: optional(text, 'tiny, none, or a model spec such as ollama:qwen3.'),
  keyVariable: optional(text, 'The environment variable that holds the key of the model.'),
  effort: optional(text, 'How hard the model thinks, such as low.'),
  judgeEffort: optional(text, 'How hard it thinks when it judges. Default: as effort.'),
  thoughtTokens: optional(whole(0), 'Tokens it may think in, beside those of a step.'),
  maxTokens: optional(whole(1), 'The longest step, in tokens. Default: that of the task.'),
  temperature: optional(number, 'For all algorithms but greedy. Default: that of the policy.'),
  methods: optional(
    z.array(text.meta({ anyOf: [{ enum: names }, { pattern: modulePath.source }] }), {
      error: 'a list of texts',
    }),
    'Algorithms, published methods, and paths of modules that export an algorithm. Default: mcts.',
  ),
  policy: optional(module, 'A module that exports the policy of all methods.'),
  value: optional(module, 'A module that exports the evaluator of all methods.'),
  budgets: optional(
    z.strictObject(Object.fromEntries(units.map((unit) => [unit, limits.optional()])), {
      error: 'limits by unit, such as { tokens: [2k, 8k] }',
    }),
    'What each search may spend, by unit.',
  ),
  seeds: optional(whole(1), 'Independent searches of each problem. Default: 1.'),
  seed: optional(
    z.union([z.number(), z.string()], { error: 'a number or a text' }),
    'What random numbers start from. Default: 0.',
  ),
  baseline: optional(text, 'The method the others are compared with. Default: best-of-n.'),
  priceIn: optional(number, 'Dollars for a million tokens that the model reads.'),
  priceOut: optional(number, 'Dollars for a million tokens that it writes.'),
  budgetUsd: optional(number, 'Dollars for the whole benchmark. Default: no limit.'),
  concurrency: optional(whole(1), 'Searches, and calls, at the same time. Default: 4.'),
  times: optional(
    z.boolean({ error: 'true or false' }),
    'Whether reused answers take as long as they took when they were bought. Default: true.',
  ),
  out: optional(path, 'The folder in which everything is kept.'),
  cache: optional(path, 'A folder for what was bought, shared with other benchmarks.'),
  failIfWorse: optional(checks, 'Checks such as mcts:best-of-n@8k or mcts:best-of-n@calls=8.'),
  inspect: optional(path, 'A folder for logs of Inspect AI.'),
} as const;

/** The schema of a suite file. */
export const suiteSchema: z.ZodType<Suite> = z
  .strictObject(keys, { error: 'an object with keys such as task: game24' })
  .meta({ title: 'A benchmark of espalier' });

/** A benchmark as it stands in a file. */
export interface Suite {
  readonly task?: string | undefined;
  readonly replay?: string | undefined;
  readonly split?: string | undefined;
  readonly limit?: number | undefined;
  readonly model?: string | undefined;
  readonly keyVariable?: string | undefined;
  readonly effort?: string | undefined;
  readonly judgeEffort?: string | undefined;
  readonly thoughtTokens?: number | undefined;
  readonly maxTokens?: number | undefined;
  readonly temperature?: number | undefined;
  readonly methods?: readonly string[] | undefined;
  readonly policy?: string | undefined;
  readonly value?: string | undefined;
  readonly budgets?: Readonly<Record<string, Amount | readonly Amount[] | undefined>> | undefined;
  readonly seeds?: number | undefined;
  readonly seed?: number | string | undefined;
  readonly baseline?: string | undefined;
  readonly priceIn?: number | undefined;
  readonly priceOut?: number | undefined;
  readonly budgetUsd?: number | undefined;
  readonly concurrency?: number | undefined;
  readonly times?: boolean | undefined;
  readonly out?: string | undefined;
  readonly cache?: string | undefined;
  readonly failIfWorse?: readonly string[] | undefined;
  readonly inspect?: string | undefined;
}

type Amount = number | string;

/**
 * Reads a suite: YAML, and so JSON as well.
 *
 * @throws EspalierError `usage`, naming the file and what in it is wrong; `storage` where it cannot be read.
 */
export function readSuite(path: string): Suite {
  if (/\.(?:csv|jsonl|ndjson|pddl|[cm]?[jt]s)$/i.test(path)) {
    const message = `A suite is a YAML file with options: name problems or a task as \`--task ${path}\`.`;
    throw new EspalierError('usage', message);
  }
  const source = withStorageErrors(`\`${path}\``, () => {
    expectRegularFile(path);
    expectSmall(path);
    return readFileSync(path, 'utf8');
  });
  let value: unknown;
  try {
    value = parse(source, { maxAliasCount: 0 });
  } catch (cause) {
    const [what = ''] = String((cause as Error).message).split('\n');
    const message =
      (cause as Partial<YAMLParseError>).code === 'MULTIPLE_DOCS'
        ? `\`${path}\` holds several YAML documents, and a suite is one: make a file of each.`
        : `\`${path}\` is not valid YAML: ${what.replace(/:$/, '')}.`;
    throw new EspalierError('usage', message, { cause });
  }
  if (value === null) {
    const message = `\`${path}\` is empty: a suite holds options such as \`task: game24\`.`;
    throw new EspalierError('usage', message);
  }
  const parsed = suiteSchema.safeParse(value);
  if (parsed.success) return parsed.data;
  throw fault(path, value, parsed.error);
}

/** Checking a mapping takes time by the square of its keys. */
const mostBytes = 1_000_000;

function expectSmall(path: string): void {
  const { size } = statSync(path);
  if (size <= mostBytes) return;
  const message = `Expected \`${path}\` to be a suite of at most 1 MB, got ${(size / 1e6).toFixed(1)} MB: a suite holds options, and names a file of problems as \`task: FILE\`.`;
  throw new EspalierError('usage', message);
}

/** The first thing that is wrong with a suite, in one sentence. */
function fault(file: string, value: unknown, error: z.ZodError): EspalierError {
  const [issue] = error.issues;
  const path = issue?.path ?? [];
  if (issue?.code === 'unrecognized_keys') {
    const known = path.length === 0 ? Object.keys(keys) : units;
    const name = issue.keys[0] ?? '';
    // People also write the name of the option.
    const meant = nearestName(name.replaceAll('-', ''), known);
    const hint = meant === undefined ? `It has ${known.join(', ')}.` : `Did you mean \`${meant}\`?`;
    const where = path.length === 0 ? `\`${file}\`` : `\`${path.join('.')}\` in \`${file}\``;
    return new EspalierError('usage', `Unknown key \`${name}\` in ${where}. ${hint}`, {
      cause: error,
    });
  }
  const found = path.reduce<unknown>((at, key) => Reflect.get(Object(at), key), value);
  const name = path.length === 0 ? file : path.join('.');
  const where = path.length === 0 ? '' : ` in \`${file}\``;
  const message = `Expected \`${name}\`${where} to be ${issue?.message}, got ${describeValue(found)}.`;
  return new EspalierError('usage', message, { cause: error });
}

/** The budgets of a suite. */
export function budgetsOf(budgets: NonNullable<Suite['budgets']>): readonly BenchBudget[] {
  return units.flatMap((unit) => {
    const given = budgets[unit];
    if (given === undefined) return [];
    return [given]
      .flat()
      .map((limit) => ({ unit, limit: typeof limit === 'number' ? limit : amountOf(limit) }));
  });
}

/**
 * Budgets as they are written on a command line: `tokens=2k,8k,32k`, several units separated by spaces or `;`.
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

/** A check that one method is not worse than another at one limit: in one unit, or in all that have it. */
export interface Check {
  readonly method: string;
  readonly than: string;
  readonly unit?: BenchBudget['unit'];
  readonly limit: number;
}

/**
 * Reads a check such as `mcts:best-of-n@8k` or `mcts:best-of-n@calls=8`.
 *
 * @throws EspalierError `usage` for anything else.
 */
export function parseCheck(text: string): Check {
  const check = checkIn(text);
  if (check !== undefined) return check;
  throw new EspalierError(
    'usage',
    `Expected a check such as mcts:best-of-n@8k or mcts:best-of-n@calls=8 (METHOD:THAN@BUDGET), got ${describeValue(text)}.`,
  );
}

function checkIn(text: string): Check | undefined {
  const [, method, than, unit, amountText = ''] =
    /^([^:@]+):([^:@]+)@(?:(tokens|calls|usd|ms)=)?([^@]+)$/.exec(text) ?? [];
  const limit = amountOf(amountText);
  if (method === undefined || than === undefined || !(limit > 0)) return undefined;
  return {
    method,
    than,
    limit,
    ...(unit !== undefined && { unit: unit as BenchBudget['unit'] }),
  };
}

const factors: Readonly<Record<string, number>> = { k: 1_000, m: 1_000_000 };

/** `2k` is 2,000; `NaN` for what is no amount. */
function amountOf(text: string): number {
  const [, digits, suffix = ''] = /^(\d+(?:\.\d+)?)([km]?)$/i.exec(text.trim()) ?? [];
  return Number(digits) * (factors[suffix.toLowerCase()] ?? 1);
}
