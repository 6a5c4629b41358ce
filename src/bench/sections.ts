import { counted } from '../base/counted.ts';
import { usualTemperature } from '../policies/from-model/settings.ts';
import { amount, dollars, percent } from './figures.ts';
import type { BenchReport } from './report.ts';
import { recordedName } from './tasks/recorded.ts';

/** The words of a verdict's answer. */
export const answers: Readonly<Record<BenchReport['verdict']['answer'], string>> = {
  yes: 'Yes, search pays here.',
  no: 'No, search does not pay here.',
  undecided: 'Undecided.',
};

/** What a verdict says beyond its answer, which texts begin with. */
export function verdictText({ verdict: { answer, text } }: BenchReport): string {
  const begins = { yes: 'Yes. ', no: 'No. ', undecided: 'Undecided. ' }[answer];
  return text.startsWith(begins) ? text.slice(begins.length) : text;
}

/** Why what several searches get right is no accuracy. */
export const repeatedMeaning =
  'These are not accuracies: to use them, one would have to know which of the answers is right.';

/** Why methods that an oracle guided stand apart. */
export const guidedMeaning =
  'These methods saw the right answer while they searched. What they find is an upper limit, and cannot be compared with the results of the others.';

/** The meaning of the area under a curve. */
export const areaMeaning =
  'The area under the curve of accuracy against the logarithm of the budget, divided by its width: the mean accuracy if every doubling of the budget counts the same.';

/** What every document about a report begins with, by which it is known as one. */
export const titleBeginning = 'Does search pay on ';

/** The title of a report. */
export function reportTitle({ task }: BenchReport): string {
  return `${titleBeginning}${task.title}?`;
}

/** The comparison in one sentence. */
export function reportSetting({ task, model, seeds, points, guided }: BenchReport): string {
  const methods = new Set([...points, ...guided].map(({ method }) => method)).size;
  const problems = counted(task.instances, 'problem', amount(task.instances));
  const clusters =
    task.clusters === task.instances
      ? ''
      : ` in ${counted(task.clusters, 'independent cluster', amount(task.clusters))}`;
  const each = seeds === 1 ? 'once' : `${seeds} times`;
  const asked = model === null ? 'without a model' : `with ${model}`;
  return `${counted(methods, 'method')} on ${problems}${clusters}, each searched ${each} at each budget, ${asked}.`;
}

/** The calls bought for the whole benchmark, and the savings from sharing equal requests. */
export function spendText({ spend: { bought, charged } }: BenchReport): string {
  const sums = ({ calls, tokens, usd }: typeof bought) =>
    [
      counted(calls, 'call', amount(calls)),
      counted(tokens, 'token', amount(tokens)),
      ...(usd > 0 ? [dollars(usd)] : []),
    ].join(', ');
  const saved = charged.tokens > 0 ? 1 - bought.tokens / charged.tokens : 0;
  if (saved <= 0) return `Bought: ${sums(bought)}.`;
  return (
    `Bought: ${sums(bought)}. Charged to searches: ${sums(charged)}, as if each had bought everything it used. ` +
    `Equal requests were bought once, which saved ${percent(saved)} of the tokens.`
  );
}

/** What has to be the same to get the same result: pairs of a name and a value. */
export function repetition(report: BenchReport): readonly (readonly [string, string])[] {
  const { task, model, judgeModel, temperature, maxTokens, price } = report;
  const { seeds, seed, baseline, versions } = report;
  return [
    ['task', task.name],
    ...(task.split === null ? [] : [['split', task.split] as const]),
    ['problems', amount(task.instances)],
    ['source', task.source ?? 'generated'],
    ['licence', task.licence ?? 'not stated'],
    ['model', model ?? 'none'],
    ...(judgeModel === null ? [] : [['judge', judgeModel] as const]),
    ...(model === null && temperature === null
      ? []
      : [['temperature', temperatureText(temperature)] as const]),
    ...(maxTokens === undefined
      ? []
      : [['longest step', counted(maxTokens, 'token', amount(maxTokens))] as const]),
    ...(price === undefined ? [] : [['dollars per million tokens', priceText(price)] as const]),
    ['compared with', baseline],
    ['searches per problem', amount(seeds)],
    ['seed', String(seed)],
    ['espalier', versions.espalier],
    ['Node.js', versions.node],
  ];
}

/** How best-of-N and searches sample, in numbers. */
function temperatureText(given: number | null): string {
  const text = given === null ? `${usualTemperature} (default)` : String(given);
  return `${text}, greedy 0; not for models that take none, and published methods have their own`;
}

function priceText({ input, output, cachedInput }: NonNullable<BenchReport['price']>): string {
  const cached = cachedInput === undefined ? '' : `, ${cachedInput} read from a cache`;
  return `${input} read, ${output} written${cached}`;
}

/** What a document says beside its report. */
export interface DocumentOptions {
  /** The command that was typed, quoted for a shell. @defaultValue one made from the report */
  readonly command?: string;
  /** Why the benchmark ended before its last search, in one sentence; shown first. @defaultValue it did not */
  readonly stopped?: string;
}

/** How to ask for the same benchmark: what introduces the command, and the command. */
export function repeatWith(
  report: BenchReport,
  { command }: DocumentOptions,
): readonly [introduction: string, command: string] {
  return command === undefined
    ? [
        'This command repeats it if the command line knows the task and the methods by these names; guides, addresses and settings of models that were given in code are not in it:',
        repeatCommand(report),
      ]
    : ['The command was:', command];
}

/** The command that asks for the same benchmark, where its task and methods are known by their names. */
export function repeatCommand(report: BenchReport): string {
  const { task, model, temperature, maxTokens, baseline, seeds, seed, points, guided } = report;
  const all = [...points.filter(({ isBaseline }) => !isBaseline), ...guided];
  const methods = [...new Set(all.map(({ method }) => method))];
  const limits = [...points, ...guided].map(({ budget: { unit, limit } }) => ({ unit, limit }));
  const units = [...new Set(limits.map(({ unit }) => unit))].map((unit) => {
    const ofUnit = limits.filter((one) => one.unit === unit).map(({ limit }) => limit);
    return `${unit}=${[...new Set(ofUnit)].toSorted((a, b) => a - b).join(',')}`;
  });
  return [
    ...['espalier', 'bench'],
    ...(task.name === recordedName
      ? ['--replay', task.source ?? '']
      : ['--task', task.spec ?? task.name]),
    ...(task.split === null ? [] : ['--split', task.split]),
    ...['--limit', String(task.instances)],
    ...(model === null ? [] : ['--model', model]),
    ...(methods.length === 0 ? [] : ['--methods', methods.join(',')]),
    ...units.flatMap((unit) => ['--budgets', unit]),
    ...(temperature === null ? [] : ['--temperature', String(temperature)]),
    ...(maxTokens === undefined ? [] : ['--max-tokens', String(maxTokens)]),
    ...pricesOf(report),
    ...(baseline === 'best-of-n' ? [] : ['--baseline', baseline]),
    ...['--seeds', String(seeds), '--seed', String(seed)],
    ...(points.length > 0 && points.every(({ cold }) => cold === null) ? ['--no-times'] : []),
  ]
    .map(shellQuoted)
    .join(' ');
}

/** A price with parts that no option has is most likely one that the package knows. */
function pricesOf({ price }: BenchReport): readonly string[] {
  if (price === undefined) return [];
  const { input, output, tiers: _, ...rest } = price;
  if (Object.keys(rest).length > 0 || (input === 0 && output === 0)) return [];
  return ['--price-in', String(input), '--price-out', String(output)];
}

/** The mean height of each method's curve, best first within a unit. */
export function areaRows({ areas }: BenchReport): readonly (readonly [string, string, string])[] {
  return areas
    .toSorted((a, b) => a.unit.localeCompare(b.unit) || b.area - a.area)
    .map(({ method, unit, area }) => [method, unit, percent(area)]);
}

/** An argument as a shell takes it. */
export function shellQuoted(text: string): string {
  return /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", String.raw`'\''`)}'`;
}

/** The parts of a sentence: text in backticks is code, if it contains nothing that could be markup. */
export function codeSpans(
  text: string,
): readonly { readonly part: string; readonly isCode: boolean }[] {
  return text
    .split(/`([\w@:/.=-](?:[\w@:/.= -]*[\w@:/.=-])?)`/)
    .map((part, place) => ({ part, isCode: place % 2 === 1 }));
}
