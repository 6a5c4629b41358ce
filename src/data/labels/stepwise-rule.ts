import { expectOneOf } from '../../base/expect.ts';
import type { ChildNode, SearchNode } from '../../contracts/node.ts';
import { pathTo } from '../../tree/summary.ts';
import { distinct } from '../distinct.ts';
import { choosePaths, expectPathChoice, type TreePath } from '../path-choice.ts';
import { rowBase } from '../provenance.ts';
import { isEnd, isPart, isRight, promptAt, stepsTo, type TreeRecord } from '../record.ts';
import type { LabelledStep, RowRule, RuleInfo, StepwiseRow } from '../rows.ts';
import { monteCarlo, type StepLabel, shareLabel } from './monte-carlo.ts';

/** What all rules that label steps take. */
export interface StepLabelOptions {
  /**
   * Where the share of right continuations, Q of the base policy, is read. `ends`: the ends below the node that were
   * scored. `evaluation`: the evaluation of the node, in trees where that was estimated by playing on from it; where a
   * node has none, the ends.
   *
   * @defaultValue `'ends'`; of `omegaPrm` `'evaluation'`
   */
  readonly from?: 'ends' | 'evaluation';
  /**
   * Which paths of the trees of a problem become rows. Two paths that give equal steps give one row.
   *
   * - `ends`: all that end, scored or not.
   * - `balanced`: as many right ends as wrong ones; of the more frequent kind, those that a draw by the seed of
   *   the tree takes. None where one kind is missing.
   * - `leaves`: all on which nothing was built, whether they end or not, and all ends.
   * - `{ best: k }`: the k ends with the highest scores, an integer from 1 up; of equal ones the first.
   *
   * @defaultValue `'ends'`; of `omegaPrm` `'leaves'`, so that every prefix that was evaluated stands in a row
   */
  readonly paths?: 'balanced' | 'ends' | 'leaves' | Readonly<Record<'best', number>>;
}

/** A rule that labels steps. */
interface StepwiseRule extends RuleInfo {
  readonly options: StepLabelOptions;
  /** Whether a row ends with its first step rated −1. @defaultValue false */
  readonly untilError?: boolean;
  /**
   * The label of each node of a tree; `undefined` where nothing is known of it. Asked once a node.
   *
   * @param shareOf - The share of right continuations of a node.
   * @defaultValue by the share alone: soft the share itself; hard, and the rating as 1 or −1, whether it is above 0
   */
  labels?<State, Action>(
    record: TreeRecord<State, Action>,
    shareOf: (node: SearchNode<State, Action>) => number | undefined,
  ): (node: ChildNode<State, Action>) => StepLabel | undefined;
}

/**
 * Rows of labelled steps from the root on. A step of which nothing is known ends the row before it, since the
 * steps behind it rest on it; a sibling of which nothing is known is not among the alternatives. A path whose
 * first step is unknown gives no row.
 */
export function stepwiseRule(rule: StepwiseRule): RowRule<StepwiseRow> {
  const { untilError: _, labels: __, ...info } = rule;
  const { from = 'ends', paths = 'ends' } = rule.options;
  expectOneOf('from', from, ['ends', 'evaluation']);
  expectPathChoice('paths', paths);
  return {
    ...info,
    kind: 'stepwise',
    rows: (trees) =>
      distinct(rowsOf(choosePaths(trees, paths), rule), ({ prompt, steps }) => [
        prompt,
        steps.map(({ text }) => text),
      ]),
  };
}

function* rowsOf<State, Action>(
  paths: readonly TreePath<State, Action>[],
  rule: StepwiseRule,
): Generator<StepwiseRow> {
  const makers = new Map<TreeRecord<State, Action>, RowMaker<State, Action>>();
  for (const { record, end } of paths) {
    const maker = makers.get(record) ?? rowMaker(record, rule);
    makers.set(record, maker);
    const row = maker(end);
    if (row !== undefined) yield row;
  }
}

type RowMaker<State, Action> = (end: ChildNode<State, Action>) => StepwiseRow | undefined;

/** Siblings as a row shows them: made once, and shared by all rows that pass. */
interface Family {
  readonly steps: readonly LabelledStep[];
  /** The place of each node among the steps, by id. */
  readonly places: ReadonlyMap<number, number>;
}

function rowMaker<State, Action>(
  record: TreeRecord<State, Action>,
  rule: StepwiseRule,
): RowMaker<State, Action> {
  const { tree, notation } = record;
  const familyOf = familiesOf(record, rule);
  const prompt = promptAt(record, tree.root);
  return (end) => {
    const path = stepsTo(end);
    const places = path.map((node) => {
      const family = familyOf(node);
      const place = family.places.get(node.id);
      const step = place === undefined ? undefined : family.steps[place];
      return place === undefined || step === undefined ? undefined : { family, place, step };
    });
    const unknown = places.indexOf(undefined);
    const known = places.slice(0, unknown < 0 ? undefined : unknown).filter(isDefined);
    const error = rule.untilError === true ? known.findIndex(({ step }) => step.rating < 0) : -1;
    const kept = error < 0 ? known : known.slice(0, error + 1);
    const last = path[kept.length - 1];
    if (last === undefined) return undefined;
    return {
      kind: 'stepwise',
      ...rowBase(record, { rule: rule.name, nodes: pathTo(last), from: tree.root, prompt }),
      steps: kept.map(({ step }) => step),
      alternatives: kept.map(({ family }) => family.steps),
      taken: kept.map(({ place }) => place),
      delimiter: notation.delimiter ?? '\n',
      right: isEnd(last) ? isRight(record, last) : undefined,
    };
  };
}

function familiesOf<State, Action>(
  record: TreeRecord<State, Action>,
  rule: StepwiseRule,
): (node: ChildNode<State, Action>) => Family {
  const shareOf = monteCarlo(record, rule.options.from ?? 'ends');
  const labelOf = rule.labels?.(record, shareOf) ?? ((node) => shareLabel(shareOf(node)));
  const families = new Map<number, Family>();
  return ({ parent }) => {
    const known = families.get(parent.id);
    if (known !== undefined) return known;
    const steps: LabelledStep[] = [];
    const places = new Map<number, number>();
    for (const child of parent.children) {
      const label = isPart(child) ? labelOf(child) : undefined;
      if (label === undefined) continue;
      places.set(child.id, steps.length);
      steps.push({ text: record.notation.format(child.action), ...label });
    }
    const family = { steps, places };
    families.set(parent.id, family);
    return family;
  };
}

function isDefined<Value>(value: Value | undefined): value is Value {
  return value !== undefined;
}
