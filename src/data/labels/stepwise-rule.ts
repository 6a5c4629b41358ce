import { expectation, expectOneOf } from '../../base/expect.ts';
import type { Message } from '../../contracts/language-model.ts';
import type { ChildNode, SearchNode } from '../../contracts/node.ts';
import { questionAt, stepText } from '../../prompting/solution.ts';
import { pathTo } from '../../tree/summary.ts';
import { distinct } from '../distinct.ts';
import { choosePaths, expectPathChoice, type TreePath } from '../path-choice.ts';
import { pathsIn } from '../paths.ts';
import { rowBase } from '../provenance.ts';
import { isEnd, isPart, isRight, stepsTo, type TreeRecord } from '../record.ts';
import { rowRule } from '../row-rule.ts';
import type { LabelledStep, RowRule, RuleInfo, StepwiseRow } from '../rows.ts';
import {
  monteCarlo,
  type StepLabel,
  type StepNumbers,
  shareLabel,
  stepNumbers,
} from './monte-carlo.ts';

/** Options common to all step-label rules. */
export interface StepLabelOptions {
  /**
   * The source of the share of right continuations, Q of the base policy. `ends`: the ends below the step that were
   * scored. `evaluation`: the evaluation of the step, the mean over siblings of equal text, in trees where that was
   * estimated by playing on from it; where a step has none, the ends. `ends` is refused for trees that hold the right ends only, such as those of OmegaPRM
   * files.
   *
   * @defaultValue `'ends'`; of `omegaPrm`, and for trees that hold the right ends only, `'evaluation'`
   */
  readonly from?: 'ends' | 'evaluation';
  /**
   * Which paths of the trees of a problem become rows. Two paths that give equal steps give one row.
   *
   * - `ends`: all finished paths, scored or not.
   * - `balanced`: as many right ends as wrong ones; of the more frequent kind, those that a draw by the seed of
   *   the tree takes. None where one kind is missing.
   * - `leaves`: all paths to leaves, finished or not, and all ends.
   * - `{ best: k }`: the k ends with the highest scores, an integer from 1 up; of equal ones the first.
   *
   * @defaultValue `'ends'`; of `omegaPrm`, and for trees that hold the right ends only, `'leaves'`, so that every
   * prefix that was evaluated stands in a row
   */
  readonly paths?: 'balanced' | 'ends' | 'leaves' | Readonly<Record<'best', number>>;
  /**
   * The text between steps, for trainers that allow it in no step.
   *
   * @defaultValue that of the notation, else a line break
   */
  readonly delimiter?: string;
}

/** The names of {@link StepLabelOptions}, with spaces between them. */
export const stepLabelOptions = 'from paths delimiter';

/** The trees of a problem, and what numbers their steps. */
export interface ProblemTrees<State, Action> {
  readonly trees: readonly TreeRecord<State, Action>[];
  readonly numbers: StepNumbers<State, Action>;
}

/** A rule that labels steps. */
interface StepwiseRule extends RuleInfo {
  readonly options: StepLabelOptions;
  /** Whether a row ends with its first step rated −1. @defaultValue false */
  readonly untilError?: boolean;
  /**
   * The label of the step of each node of a tree; `undefined` if nothing is known of it. If rows of several trees
   * show the same steps, they have the same labels.
   *
   * @param trees - The trees of the problem, of which it is one.
   * @param shareOf - The share of right continuations of a node, over all trees.
   * @defaultValue by the share alone: soft the share itself; hard, and the rating as 1 or −1, whether it is above 0
   */
  labels?<State, Action>(
    trees: ProblemTrees<State, Action>,
    record: TreeRecord<State, Action>,
    shareOf: (node: SearchNode<State, Action>) => number | undefined,
  ): (node: ChildNode<State, Action>) => StepLabel | undefined;
}

/**
 * Rows of labelled steps from the root on, in the words in which `prm` shows solutions: the prompt is the question,
 * after the system message, and a step includes the observation that followed it. A step of which nothing is known ends
 * the row before it, since the steps behind it rest on it; a sibling of which nothing is known is not among the
 * alternatives. A path whose first step is unknown gives no row.
 */
export function stepwiseRule(rule: StepwiseRule): RowRule<StepwiseRow> {
  const { untilError: _, labels: __, ...info } = rule;
  const { from, paths, delimiter } = rule.options;
  if (from !== undefined) expectOneOf('from', from, ['ends', 'evaluation']);
  if (paths !== undefined) expectPathChoice('paths', paths);
  if (delimiter !== undefined && typeof delimiter !== 'string') {
    throw expectation('delimiter', 'a text', delimiter);
  }
  return rowRule({
    ...info,
    kind: 'stepwise',
    rows: (trees) =>
      distinct(
        rowsOf(trees, choosePaths(trees, paths ?? usualPaths(trees)), rule),
        ({ prompt, steps }) => [prompt, steps.map(({ text }) => text.trim())],
      ),
  });
}

function usualPaths(trees: readonly Pick<TreeRecord, 'ends'>[]): 'ends' | 'leaves' {
  return trees.some(({ ends }) => ends === 'right') ? 'leaves' : 'ends';
}

function* rowsOf<State, Action>(
  trees: readonly TreeRecord<State, Action>[],
  paths: readonly TreePath<State, Action>[],
  rule: StepwiseRule,
): Generator<StepwiseRow> {
  const makers = new Map<TreeRecord<State, Action>, RowMaker<State, Action>>();
  const numbers = stepNumbers(trees);
  const problem = { trees, numbers };
  const shareAt = monteCarlo(trees, numbers, rule.options.from);
  const labelsIn = (record: TreeRecord<State, Action>): LabelOf<State, Action> => {
    const shareOf = (node: SearchNode<State, Action>) => shareAt(record, node);
    return rule.labels?.(problem, record, shareOf) ?? ((node) => shareLabel(shareOf(node)));
  };
  for (const { record, end } of paths) {
    const maker = makers.get(record) ?? rowMaker(record, rule, labelsIn(record));
    makers.set(record, maker);
    const row = maker(end);
    if (row !== undefined) yield row;
  }
}

type LabelOf<State, Action> = (node: ChildNode<State, Action>) => StepLabel | undefined;

type RowMaker<State, Action> = (end: ChildNode<State, Action>) => StepwiseRow | undefined;

/** Siblings as a row shows them, each step once: made once, and shared by all rows that pass. */
interface Family<State, Action> {
  readonly steps: readonly LabelledStep[];
  /** The place of each step among them. */
  readonly places: ReadonlyMap<SearchNode<State, Action>, number>;
}

/** A step in its place. */
interface Taken {
  readonly step: LabelledStep;
  readonly alternatives: readonly LabelledStep[];
  /** Which of the alternatives it is. */
  readonly place: number;
}

function rowMaker<State, Action>(
  record: TreeRecord<State, Action>,
  rule: StepwiseRule,
  labelOf: LabelOf<State, Action>,
): RowMaker<State, Action> {
  const { tree, notation } = record;
  const { delimiter = notation.delimiter ?? '\n' } = rule.options;
  const stepOf = stepsIn(record, labelOf);
  const prompt: readonly Message[] = [{ role: 'user', content: questionAt(notation, tree.root) }];
  return (end) => {
    const path = stepsTo(end);
    const steps = path.map(stepOf);
    const unknown = steps.indexOf(undefined);
    const known = steps.slice(0, unknown < 0 ? undefined : unknown).filter(isDefined);
    const error = rule.untilError === true ? known.findIndex(({ step }) => step.rating < 0) : -1;
    const kept = error < 0 ? known : known.slice(0, error + 1);
    const last = path[kept.length - 1];
    if (last === undefined) return undefined;
    const origin = { rule: rule.name, nodes: pathTo(last), from: tree.root, prompt };
    // Who judges is offered no tools.
    const { tools: _, ...base } = rowBase(record, origin);
    return {
      kind: 'stepwise',
      ...base,
      steps: kept.map(({ step }) => step),
      alternatives: kept.map(({ alternatives }) => alternatives),
      taken: kept.map(({ place }) => place),
      delimiter,
      right: isEnd(last) ? isRight(record, last) : undefined,
    };
  };
}

/** The labelled step of a node, among all that were proposed in its place; `undefined` if nothing is known of it. */
function stepsIn<State, Action>(
  record: TreeRecord<State, Action>,
  labelOf: LabelOf<State, Action>,
): (node: ChildNode<State, Action>) => Taken | undefined {
  const { stepOf, placeOf, below } = pathsIn(record);
  const labelled = (node: ChildNode<State, Action>): LabelledStep | undefined => {
    const label = labelOf(node);
    return label && { text: stepText(record.notation, node), ...label };
  };
  const families = new Map<SearchNode<State, Action>, Family<State, Action>>();
  const familyAt = (place: SearchNode<State, Action>) => {
    const family = families.get(place) ?? familyOf(below(place));
    families.set(place, family);
    return family;
  };
  const familyOf = (siblings: readonly ChildNode<State, Action>[]): Family<State, Action> => {
    const places = new Map<SearchNode<State, Action>, number>();
    const steps: LabelledStep[] = [];
    for (const node of siblings) {
      // A duplicate says the same as its original, except for one from which a path continues.
      const isOut = places.has(stepOf(node)) || (!isPart(node) && node.children.length === 0);
      const step = isOut ? undefined : labelled(node);
      if (step === undefined) continue;
      places.set(stepOf(node), steps.length);
      steps.push(step);
    }
    return { places, steps };
  };
  return (node) => {
    const { places, steps } = familyAt(placeOf(node.parent));
    const place = places.get(stepOf(node)) ?? -1;
    const known = steps[place];
    if (known === undefined) return undefined;
    if (stepOf(node) === node) return { step: known, alternatives: steps, place };
    // The same step may have been answered in another way.
    const step = { ...known, text: stepText(record.notation, node) };
    return { step, alternatives: steps.with(place, step), place };
  };
}

function isDefined<Value>(value: Value | undefined): value is Value {
  return value !== undefined;
}
