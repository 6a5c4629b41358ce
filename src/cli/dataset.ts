import { join } from 'node:path';
import { counted } from '../base/counted.ts';
import { EspalierError } from '../base/errors.ts';
import type { Spend } from '../contracts/spend.ts';
import { datasetFormats } from '../data/catalogue.ts';
import type { FormatOptions } from '../data/formats/format.ts';
import { jinjaPrompt } from '../data/formats/jinja-prompt.ts';
import type { PairFilters } from '../data/pairs/pair-rule.ts';
import type { TreeRecord } from '../data/record.ts';
import type { DatasetConfig, SourceFile } from '../data/writers/options.ts';
import type { DatasetReport } from '../data/writers/report.ts';
import { splitter } from '../data/writers/split.ts';
import { expectWritable, writeDataset } from '../data/writers/write-dataset.ts';
import { readTemplate } from './chat-template.ts';
import { expectNoRun, expectUseful, unitRule } from './dataset-conflicts.ts';
import type { DatasetRequest } from './dataset-options.ts';
import type { StatusLine } from './output.ts';
import { timeLeft, withStatus } from './progress.ts';
import { entryOf, ruleFrom } from './rule-option.ts';

export type { DatasetReport };

/** The input of a dataset. */
export interface DatasetSource {
  readonly problems: Iterable<readonly TreeRecord[]>;
  /** How many there are, where that is known beforehand. */
  readonly total?: number;
  /** The names of all of them. */
  readonly names: () => readonly string[];
  /** The rule where none is named. */
  readonly defaultRule: string;
  /** Where the trees come from, for the card. */
  readonly source: string;
  /** The files that they stand in, for the card. @defaultValue those that the trees name */
  readonly files?: readonly SourceFile[];
  /** What is to be known of them, in one sentence. */
  readonly note?: string;
  /** What labelled steps are parted by, unless a rule is given its own. @defaultValue as in the notation */
  readonly delimiter?: string;
  /** Their cost. */
  readonly spend?: Spend;
}

/**
 * Makes the dataset that was asked for.
 *
 * @throws EspalierError `usage` if a form has no place for the rows of a rule, before anything is written.
 */
export function makeDataset(
  request: DatasetRequest,
  { problems, total, names, defaultRule, delimiter, source, files, note, spend }: DatasetSource,
): Promise<DatasetReport> {
  const { out, file, split, splitSeed = 0, exactSplit = false, nearDuplicates } = request;
  const options = {
    out,
    configs: configsOf(request, { defaultRule, delimiter }),
    ...(file !== undefined && { file }),
    ...(split !== undefined && { splits: split }),
    ...(exactSplit && { allProblems: names() }),
    ...(nearDuplicates !== undefined && { nearDuplicates }),
    seed: splitSeed,
    card: {
      source: note === undefined ? source : `${source}. ${note}`,
      ...(files !== undefined && { files }),
      ...(spend !== undefined && { spend }),
    },
  };
  return withStatus((status) =>
    writeDataset({ ...options, problems: watched(problems, { total, status }) }),
  );
}

/** The same, telling which one is being made into rows. */
function* watched<Each>(
  all: Iterable<Each>,
  { total, status }: { readonly total: number | undefined; readonly status: StatusLine },
): Generator<Each, void, undefined> {
  const left = timeLeft(performance.now());
  let place = 0;
  for (const each of all) {
    place += 1;
    const of = total === undefined ? '' : ` of ${total}${left(place - 1, total)}`;
    status.show(() => `Making rows of problem ${place}${of}`);
    yield each;
  }
}

/**
 * Makes sure that the dataset that was asked for can be written: what cannot should not be paid for.
 *
 * @throws EspalierError as `makeDataset`.
 */
export function expectDataset(request: DatasetRequest, defaultRule: string): void {
  const { out, file } = request;
  expectWritable({
    out,
    configs: configsOf(request, { defaultRule }),
    ...(file !== undefined && { file }),
  });
}

/**
 * The rules and forms that were asked for.
 *
 * @throws EspalierError `usage` if a form has no place for the rows of a rule, or a template cannot be read.
 */
function configsOf(
  request: DatasetRequest,
  {
    defaultRule,
    delimiter,
  }: { readonly defaultRule: string; readonly delimiter?: string | undefined },
): readonly DatasetConfig[] {
  const { rule: rules = [{ name: defaultRule, options: {} }], unit } = request;
  expectNoRun(request.out);
  expectUseful(request, rules);
  const entry = datasetFormats.find(({ name }) => name === request.format);
  const format = entry?.create(formatOptions(request));
  if (format === undefined) throw new Error('Expected a known format.');
  return rules.map((rule, place) => {
    const { name } = rule;
    const entry = entryOf(name);
    if (format.forms[entry.kind] === undefined) {
      const kinds = Object.keys(format.forms).join(', ');
      throw new EspalierError(
        'usage',
        `Expected \`--format\` to have a place for ${entry.kind} rows (rule ${name}), got \`${format.name}\`, which takes ${kinds} rows.`,
      );
    }
    const before = rules.slice(0, place).filter((other) => other.name === name).length;
    return {
      ...(before > 0 && { name: `${name}-${before + 1}` }),
      rule: ruleFrom(rule, {
        ...(entry.kind === 'preference' && filtersOf(request)),
        ...(entry.kind === 'stepwise' && delimiter !== undefined && { delimiter }),
        ...(name === unitRule && unit !== undefined && { unit }),
      }),
      format,
    };
  });
}

function filtersOf({ minMargin, minVisits, maxPairs }: DatasetRequest): PairFilters {
  return {
    ...(minMargin !== undefined && { minMargin }),
    ...(minVisits !== undefined && { minVisits }),
    ...(maxPairs !== undefined && { maxPairsPerProblem: maxPairs }),
  };
}

function formatOptions({ chatTemplate, endToken, provenance }: DatasetRequest): FormatOptions {
  return {
    ...(provenance !== undefined && { provenance }),
    ...(chatTemplate !== undefined && { render: jinjaPrompt(readTemplate(chatTemplate)) }),
    ...(endToken !== undefined && { endToken }),
  };
}

/** A dataset for people: what was written, what was left out and why, and which parts of the split are empty. */
export function describeDataset(
  { out, rows, configs }: DatasetReport,
  request: Pick<DatasetRequest, 'exactSplit' | 'split'>,
): string {
  const width = Math.max(0, ...configs.map(({ name }) => name.length));
  return [
    `${counted(rows, 'row')} in ${out}:`,
    ...configs.flatMap((config) => [
      `  ${config.name.padEnd(width)}  ${rowsOf(config)} · ${config.format}`,
      ...config.refused.map(
        ({ reason, rows: count }) => `  ${' '.repeat(width)}  ${count} left out: ${reason}`,
      ),
    ]),
    ...(rows === 0
      ? [nothingWritten(configs)]
      : [
          ...poorParts(request, configs),
          `How to train on it: ${join(out, 'README.md')}. To check it: espalier check-dataset ${out}`,
        ]),
  ].join('\n');
}

/** Which parts of a split got no problem with rows, or so few that they say little. */
function poorParts(
  { split = {}, exactSplit = false }: Pick<DatasetRequest, 'exactSplit' | 'split'>,
  configs: DatasetReport['configs'],
): readonly string[] {
  const shares = Object.entries(split).filter(([, share]) => share > 0);
  const most = (of: (config: DatasetReport['configs'][number]) => number) =>
    Math.max(0, ...configs.map(of));
  const all = most(({ splits }) => splits.reduce((sum, { problems }) => sum + problems, 0));
  if (shares.length === 0) return [];
  const exact = exactParts(split, all);
  const parts = shares.map(([name, share]) => {
    const got = most(({ splits }) => splits.find((part) => part.name === name)?.problems ?? 0);
    const isSmall = got > 0 && (got < (share * all) / 2 || (got === 1 && all > shares.length));
    const canHelp = !exactSplit && (exact.get(name) ?? 0) > got;
    return { name: `\`${name}\``, got, isSmall, canHelp };
  });
  const help = (poor: typeof parts) =>
    `search more problems${poor.every(({ canHelp }) => canHelp) ? ', or use --exact-split' : ''}`;
  const empty = parts.filter(({ got }) => got === 0);
  const names = empty.map(({ name }) => name).join(', ');
  return [
    ...(empty.length === 0
      ? []
      : [`No rows in ${names}, which got no problem that makes any: ${help(empty)}.`]),
    ...parts
      .filter(({ isSmall }) => isSmall)
      .map((part) => `Only ${part.got} of ${all} problems in ${part.name}: ${help([part])}.`),
  ];
}

/** How many of so many problems each part gets where the shares are exact, whatever the problems are. */
function exactParts(
  split: Readonly<Record<string, number>>,
  problems: number,
): ReadonlyMap<string, number> {
  const names = Array.from({ length: problems }, (_, place) => String(place));
  const counts = new Map<string, number>();
  for (const part of names.map(splitter(split, 0, names))) {
    counts.set(part, (counts.get(part) ?? 0) + 1);
  }
  return counts;
}

/** Whether there are no rows at all, or a rule made rows of which the form could say none. */
export function isLeftOut({ configs }: Pick<DatasetReport, 'configs'>): boolean {
  return configs.every(({ rows }) => rows === 0) || configs.some(hasNone);
}

function hasNone({ rows, refused }: DatasetReport['configs'][number]): boolean {
  return rows === 0 && refused.length > 0;
}

function nothingWritten(configs: DatasetReport['configs']): string {
  return configs.some(hasNone)
    ? 'All rows were left out; the reasons are above.'
    : 'No tree had what the rules look for: see their descriptions and the defaults of their options, or search more.';
}

function rowsOf({ rows, splits, rule, title, refused }: DatasetReport['configs'][number]): string {
  if (refused.length > 0 && rows === 0) return 'no rows';
  if (splits.length === 0)
    return `no rows: no tree has what ${rule} makes rows of (${title ?? ''})`;
  const parts = splits.map(
    ({ name, rows: own, problems }) => `${name} ${own} from ${counted(problems, 'problem')}`,
  );
  return `${counted(rows, 'row')} (${parts.join(', ')})`;
}
