import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { EspalierError } from '../base/errors.ts';
import type { DatasetRequest } from './dataset-options.ts';
import { entryOf, type RequestedRule } from './rule-option.ts';

/** The one rule whose rows are whole paths or their steps. */
export const unitRule = 'best-trajectories';

/** What flags of pairs are called as options of rules. */
const pairFlags = {
  minMargin: ['--min-margin', 'minMargin'],
  minVisits: ['--min-visits', 'minVisits'],
  maxPairs: ['--max-pairs', 'maxPairsPerProblem'],
} as const;

/** Formats that hold no text into which a conversation is rendered. */
const conversations: readonly string[] = [
  'llama-factory-sharegpt',
  'openai',
  'trl-conversational',
  'trl-tools',
  'verl',
];

/**
 * Refuses options that contradict each other, or would change nothing.
 *
 * @param rules - The rules that rows are made by.
 * @throws EspalierError `usage`, in one sentence.
 */
export function expectUseful(request: DatasetRequest, rules: readonly RequestedRule[]): void {
  expectRules(request, rules);
  const { split, splitSeed, exactSplit, format, chatTemplate, endToken } = request;
  const { weight } = request as { readonly weight?: unknown };
  if (split === undefined && exactSplit === true)
    throw refusal('--exact-split', 'beside `--split`');
  if (split === undefined && splitSeed !== undefined && weight === undefined) {
    throw refusal('--split-seed', 'beside `--split`');
  }
  if (endToken === '') {
    throw new EspalierError('usage', 'Expected `--end-token` to be a text, got an empty one.');
  }
  const flag = chatTemplate === undefined ? '--end-token' : '--chat-template';
  if ((chatTemplate ?? endToken) !== undefined && conversations.includes(format)) {
    throw refusal(flag, 'with forms that are text', `\`--format ${format}\``);
  }
}

function expectRules(request: DatasetRequest, rules: readonly RequestedRule[]): void {
  const names = rules.map(({ name }) => `\`--rule ${name}\``).join(', ');
  const twice = rules.find((rule, place) =>
    rules.slice(0, place).some((other) => isDeepStrictEqual(other, rule)),
  );
  if (twice !== undefined) {
    throw new EspalierError('usage', `\`--rule ${twice.name}\` is there twice: leave one out.`);
  }
  for (const [field, [flag, option]] of Object.entries(pairFlags)) {
    if (request[field as keyof typeof pairFlags] === undefined) continue;
    if (rules.every(({ name }) => entryOf(name).kind !== 'preference')) {
      throw refusal(flag, 'with rules that make pairs', names);
    }
    expectOnce(rules, flag, option);
  }
  if (request.unit === undefined) return;
  if (!rules.some(({ name }) => name === unitRule)) {
    throw refusal('--unit', `with \`--rule ${unitRule}\``, names);
  }
  expectOnce(rules, '--unit', 'unit');
}

/** @throws EspalierError `usage` if a rule has an option of its own that a flag says too. */
function expectOnce(rules: readonly RequestedRule[], flag: string, option: string): void {
  const both = rules.find(({ options }) => option in options);
  if (both === undefined) return;
  throw new EspalierError(
    'usage',
    `\`${flag}\` and the option \`${option}\` of \`--rule ${both.name}\` say the same: leave one out.`,
  );
}

function refusal(flag: string, where: string, got?: string): EspalierError {
  const rest = got === undefined ? '' : `, got ${got}`;
  return new EspalierError('usage', `\`${flag}\` works only ${where}${rest}.`);
}

/** Whether a folder holds a run. */
export function isRunFolder(path: string): boolean {
  return ['run.json', 'trees.jsonl', 'asked.jsonl'].some((name) => existsSync(join(path, name)));
}

/** @throws EspalierError `usage` if a dataset would be written among the files of a run. */
export function expectNoRun(out: string): void {
  if (!isRunFolder(out)) return;
  throw new EspalierError('usage', `\`--out ${out}\` is a run: name another folder.`);
}

const card = 'README.md';

/** @throws EspalierError `usage` if a run is in the place of a dataset. */
export function expectDatasetFolder(path: string): void {
  if (!isRunFolder(path) || existsSync(join(path, card))) return;
  const message = `\`${path}\` is a run, not a dataset: export it (espalier export ${path} --out <folder>).`;
  throw new EspalierError('usage', message);
}

/** @throws EspalierError `usage` if a dataset is in the place of a run. */
export function expectRunFolder(path: string): void {
  if (!existsSync(join(path, card)) || isRunFolder(path)) return;
  if (existsSync(join(path, 'journal.jsonl')) || existsSync(join(path, 'problems.jsonl'))) return;
  const message = `\`${path}\` is a dataset, not a run: name the folder of the run that it was made from.`;
  throw new EspalierError('usage', message);
}
