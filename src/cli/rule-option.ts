import { EspalierError } from '../base/errors.ts';
import { expectation } from '../base/expect.ts';
import { type RuleEntry, rowRules, ruleNamed } from '../data/catalogue.ts';
import type { RowRule } from '../data/rows.ts';
import { tagsOf } from '../data/writers/card.ts';
import { expectWord, type WordParser, withWords } from './values.ts';

/** A rule as it was asked for. */
export interface RequestedRule {
  readonly name: string;
  /** Its own options, by name. */
  readonly options: Readonly<Record<string, unknown>>;
}

/** The names of all rules. */
export const ruleNames: readonly string[] = rowRules.map(({ name }) => name);

/**
 * Reads rules with their options: `name`, or `name:option=value,option=value`, with commas between them. A value is
 * JSON where it can be read as JSON, else text, in which `\n` is a line break and `\t` a tab.
 *
 * @param before - What the option was given before.
 * @throws EspalierError `usage` for a rule that there is not, or what is no option.
 */
function readRules(text: string, before: readonly RequestedRule[] = []): readonly RequestedRule[] {
  const rules: OpenRule[] = [];
  for (const part of partsOf(text)) {
    const { name, option } = /^(?:(?<name>[^=:]*)(?::|$))?(?<option>.*)$/s.exec(part)?.groups ?? {};
    const isNone = part.trim() === '' || name?.trim() === '';
    if (isNone || (name !== undefined && part.trim().endsWith(':'))) throw noRules(text);
    if (name !== undefined) {
      expectNoTrainer(name.trim());
      expectWord('--rule', name.trim(), ruleNames);
      rules.push({ name: name.trim(), options: {} });
    }
    if (option !== undefined && option !== '') readOption(option, rules.at(-1), text);
  }
  return [...before, ...rules];
}

/** @throws EspalierError `usage`, naming the rules that make its rows, for the name of a trainer. */
function expectNoTrainer(name: string): void {
  const rules = rowRules.filter(({ kind }) => tagsOf[kind].includes(name));
  if (rules.length === 0) return;
  const names = rules.map((rule) => rule.name).join(', ');
  const message = `\`--rule ${name}\` is a trainer, not a rule: the rules that make rows for it are ${names}.`;
  throw new EspalierError('usage', message);
}

/** Reads `--rule`, which can be repeated. */
export const rulesOption: WordParser<typeof readRules> = withWords(readRules, ruleNames);

/** A rule whose options are being read. */
interface OpenRule extends RequestedRule {
  readonly options: Record<string, unknown>;
}

function readOption(option: string, rule: OpenRule | undefined, text: string): void {
  const [, key, value] = /^\s*(\w+)\s*=(.*)$/s.exec(option) ?? [];
  if (key === undefined || value === undefined || rule === undefined) throw noRules(text);
  if (key in rule.options) {
    throw new EspalierError('usage', `\`--rule ${rule.name}\` has the option \`${key}\` twice.`);
  }
  rule.options[key] = asValue(value);
}

function noRules(text: string): EspalierError {
  return expectation('--rule', 'rules such as `math-shepherd:from=evaluation,paths=leaves`', text);
}

/**
 * The rule with its options.
 *
 * @param usual - Options that all rules of its kind are given, unless they are given their own.
 * @throws EspalierError `usage`, naming the rule, for an option that it does not have, or one that is out of its range.
 */
export function ruleFrom({ name, options }: RequestedRule, usual: object): RowRule {
  try {
    return entryOf(name).create({ ...usual, ...options });
  } catch (cause) {
    if (!EspalierError.isInstance(cause)) throw cause;
    throw new EspalierError('usage', `\`--rule ${name}\`: ${cause.message}`, { cause });
  }
}

/** The entry of a rule that is known to be one. */
export function entryOf(name: string): RuleEntry {
  const entry = ruleNamed(name);
  if (entry === undefined) throw new Error('Expected a known rule.');
  return entry;
}

/** A text in pieces, at the commas that stand outside of quotes and brackets. */
function partsOf(text: string): readonly string[] {
  return text.match(/(?:"(?:[^"\\]|\\.)*"|\[[^\]]*\]|\{[^}]*\}|[^,])+/g) ?? [''];
}

function asValue(text: string): unknown {
  const asText = `"${text.replaceAll('"', '\\"')}"`;
  for (const json of [text, asText]) {
    try {
      return JSON.parse(json) as unknown;
    } catch {
      // Then it is something else.
    }
  }
  return text;
}
