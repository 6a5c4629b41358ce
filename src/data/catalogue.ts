import { nearestName } from '../base/nearest-name.ts';
import type { DatasetFormat, FormatOptions } from './formats/format.ts';
import * as formats from './formats/formats.ts';
import * as stepLabels from './labels/step-labels.ts';
import * as pairRules from './pairs/pair-rules.ts';
import * as rlRules from './rl/rl-rules.ts';
import type { RowRule } from './rows.ts';
import * as sftRules from './sft/sft-rules.ts';
import * as unpairedRules from './unpaired-rules.ts';

/** A rule by its name. */
export interface RuleEntry extends Omit<RowRule, 'options' | 'rows'> {
  /**
   * Makes it.
   *
   * @param options - Its options, by name. @defaultValue none
   * @throws EspalierError `usage` for an unknown option, or one out of range.
   */
  create(options?: object): RowRule;
}

/** A format by its name. */
export interface FormatEntry extends Omit<DatasetFormat, 'forms' | 'readings'> {
  /** Makes it. */
  create(options?: FormatOptions): DatasetFormat;
}

const lists = { pairRules, rlRules, sftRules, stepLabels, unpairedRules };

/** The rules that need only trees, from all rule lists, by name. */
export const rowRules: readonly RuleEntry[] = Object.values(lists)
  // Each of them refuses unknown options.
  .flatMap((rules) => Object.values<(options?: object) => RowRule>(rules).map(ruleEntry))
  .toSorted(byName);

/** All formats, by name. */
export const datasetFormats: readonly FormatEntry[] = Object.values(formats)
  .map((create): FormatEntry => {
    const { forms: _, readings: __, ...entry } = create();
    return { ...entry, create };
  })
  .toSorted(byName);

/** The rule with this name; `undefined` if there is none. */
export function ruleNamed(name: string): RuleEntry | undefined {
  return rowRules.find((entry) => entry.name === name);
}

/** How code makes the rule of a name, such as `pairRules.agentQ()` for `agent-q`; `undefined` where no name is near. */
export function makerOfRule(name: string): string | undefined {
  const all = new Map(
    Object.entries(lists).flatMap(([list, rules]) =>
      Object.keys(rules).map((rule) => [rule, list] as const),
    ),
  );
  const rule = nearestName(name, [...all.keys()]);
  return rule === undefined ? undefined : `${all.get(rule)}.${rule}()`;
}

/** How code makes the format of a name, such as `formats.trl()`; `undefined` where no name is near. */
export function makerOfFormat(name: string): string | undefined {
  const format = nearestName(name, Object.keys(formats));
  return format === undefined ? undefined : `formats.${format}()`;
}

function ruleEntry(create: RuleEntry['create']): RuleEntry {
  const { rows: _, options: __, ...entry } = create();
  return { ...entry, create };
}

function byName(one: { readonly name: string }, other: { readonly name: string }): number {
  return one.name < other.name ? -1 : 1;
}
