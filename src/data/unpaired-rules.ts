/**
 * Rules that label single completions, as KTO trains on.
 *
 * @module
 */

import {
  expectation,
  expectFunction,
  expectInteger,
  expectNumber,
  expectOneOf,
} from '../base/expect.ts';
import { expectOptions } from '../base/expect-options.ts';
import type { Message } from '../contracts/language-model.ts';
import type { ChildNode, SearchNode } from '../contracts/node.ts';
import { pathTo } from '../tree/summary.ts';
import { bestOfEqual, keyOfTurns } from './distinct.ts';
import type { PairScore } from './pairs/pair-rule.ts';
import * as pairScores from './pairs/pair-scores.ts';
import { pathCompletion, rowPrompt } from './path-completion.ts';
import { partsOf, pathsIn } from './paths.ts';
import { rowBase } from './provenance.ts';
import { isEnd, isRight, type TreeRecord, turnOf } from './record.ts';
import { rowRule } from './row-rule.ts';
import type { RowRule, RuleInfo, UnpairedRow } from './rows.ts';

/** Options common to the rules for single completions. */
export interface UnpairedOptions {
  /** The minimum visits of a node: an integer from 0 up. @defaultValue 1 for steps, 0 for ends */
  readonly minVisits?: number;
  /**
   * The maximum ratio of rows with the commoner label to those with the rarer one, within a problem: a number from 1
   * up. The most extreme scores are kept, ties going to the first. A problem with only one label then has no rows. Rows that an
   * export leaves out since another problem made them too are still counted here.
   *
   * @defaultValue Infinity: all are kept
   */
  readonly maxRatio?: number;
}

/** Options of {@link siblings}. */
export interface SiblingLabelOptions extends UnpairedOptions {
  /** The least score of a desirable step. @defaultValue 0.75 */
  readonly from?: number;
  /** The greatest score of an undesirable step: less than `from`. Steps between have no row. @defaultValue 0.25 */
  readonly to?: number;
  /** The score of a step. @defaultValue `pairScores.q` */
  readonly score?: PairScore;
  /** The steps to use: all, or the children along the path to the best node. @defaultValue 'all' */
  readonly nodes?: 'all' | 'path';
}

/**
 * Labels each step by its score: desirable from `from` up, undesirable up to `to`. Of equal completions of a prompt,
 * the most visited is kept.
 *
 * @see Ethayarajh et al., "KTO: Model Alignment as Prospect Theoretic Optimization", 2024 (arXiv 2402.01306), for
 * what such rows are for.
 */
export function siblings(options: SiblingLabelOptions = {}): RowRule<UnpairedRow> {
  expectOptions('siblings', options, 'from to score nodes minVisits maxRatio');
  const { from = 0.75, to = 0.25, score = pairScores.q, nodes = 'all', minVisits = 1 } = options;
  expectNumber('from', from);
  expectNumber('to', to);
  if (!(to < from)) throw expectation('to', `less than \`from\`, ${from}`, to);
  expectOneOf('nodes', nodes, ['all', 'path']);
  expectFunction('score', score);
  const title = 'steps with a high or a low value';
  return unpairedRows({ name: 'unpaired-siblings', title, options }, options, (record) => {
    const { endsAt } = pathsIn(record);
    const path = new Set<SearchNode>(pathTo(record.tree.best));
    return withText(record, partsOf(record)).flatMap((node) => {
      if (node.visits < minVisits || (nodes === 'path' && !path.has(node.parent))) return [];
      const own = score(node, { ...endsAt(node), discount: record.tree.discount });
      if (own === undefined || (own < from && own > to) || !Number.isFinite(own)) return [];
      return [{ node, start: node.parent, score: own, label: own >= from }];
    });
  });
}

/**
 * Labels each complete path to a scored end: desirable if the end is right. The prompt is that of the root. Of equal
 * completions, the most visited is kept.
 */
export function ends(options: UnpairedOptions = {}): RowRule<UnpairedRow> {
  expectOptions('ends', options, 'minVisits maxRatio');
  const { minVisits = 0 } = options;
  const title = 'whole paths, right or wrong';
  return unpairedRows({ name: 'unpaired-ends', title, options }, options, (record) =>
    withText(record, pathsIn(record).to(isEnd)).flatMap((node) => {
      const label = isRight(record, node);
      const score = record.tree.score(node);
      if (label === undefined || score === undefined || node.visits < minVisits) return [];
      return [{ node, start: record.tree.root, score, label }];
    }),
  );
}

interface Labelled<State, Action> {
  readonly node: ChildNode<State, Action>;
  readonly start: SearchNode<State, Action>;
  readonly score: number;
  readonly label: boolean;
}

interface Draft<State, Action> extends Labelled<State, Action> {
  readonly record: TreeRecord<State, Action>;
  readonly prompt: readonly Message[];
  readonly completion: readonly Message[];
  readonly key: string;
}

function unpairedRows(
  info: RuleInfo,
  { minVisits = 0, maxRatio = Number.POSITIVE_INFINITY }: UnpairedOptions,
  labelled: <State, Action>(
    record: TreeRecord<State, Action>,
  ) => readonly Labelled<State, Action>[],
): RowRule<UnpairedRow> {
  expectInteger('minVisits', minVisits, { min: 0 });
  if (typeof maxRatio !== 'number' || !(maxRatio >= 1))
    throw expectation('maxRatio', 'a number from 1 up', maxRatio);
  return rowRule({
    ...info,
    kind: 'unpaired',
    *rows<State, Action>(
      trees: readonly TreeRecord<State, Action>[],
      leaveOut?: (reason: string) => void,
    ) {
      const all = trees.flatMap((record) => draftsOf(record, labelled(record)));
      const drafts = bestOfEqual(
        all,
        ({ key }) => key,
        ({ node }) => node.visits,
      );
      const labels = new Map(drafts.map(({ key, label }) => [key, label]));
      for (const { key, label } of all) if (labels.get(key) !== label) leaveOut?.(contradicted);
      for (const draft of balanced(drafts, maxRatio)) yield toRow(draft, info.name);
    },
  });
}

const contradicted =
  'Another row of the problem, visited at least as often, has the same completion and the other label.';

function withText<State, Action>(
  { notation }: TreeRecord<State, Action>,
  nodes: readonly ChildNode<State, Action>[],
): readonly ChildNode<State, Action>[] {
  return nodes.filter(({ action }) => notation.format(action).trim() !== '');
}

function draftsOf<State, Action>(
  record: TreeRecord<State, Action>,
  labelled: readonly Labelled<State, Action>[],
): readonly Draft<State, Action>[] {
  const prompts = new Map<SearchNode, { messages: readonly Message[]; text: string }>();
  return labelled.map((one) => {
    const { node, start } = one;
    const messages = prompts.get(start)?.messages ?? rowPrompt(record, start);
    const prompt = prompts.get(start) ?? { messages, text: JSON.stringify(messages) };
    prompts.set(start, prompt);
    const completion =
      start === node.parent ? [turnOf(record, node)] : pathCompletion(record, start, node);
    const key = `${prompt.text}${keyOfTurns(completion)}`;
    return { ...one, record, prompt: prompt.messages, completion, key };
  });
}

function balanced<State, Action>(
  drafts: readonly Draft<State, Action>[],
  maxRatio: number,
): readonly Draft<State, Action>[] {
  const ranked = (label: boolean) =>
    drafts
      .filter((draft) => draft.label === label)
      .toSorted((a, b) => (label ? b.score - a.score : a.score - b.score));
  const wanted = ranked(true);
  const unwanted = ranked(false);
  const rarer = Math.min(wanted.length, unwanted.length);
  // Infinity times 0 is no number.
  const most = maxRatio === Number.POSITIVE_INFINITY ? maxRatio : Math.floor(maxRatio * rarer);
  const kept = new Set([...wanted.slice(0, most), ...unwanted.slice(0, most)]);
  return drafts.filter((draft) => kept.has(draft));
}

function toRow<State, Action>(draft: Draft<State, Action>, rule: string): UnpairedRow {
  const { record, node, start, prompt, completion, score, label } = draft;
  const nodes = pathTo<State, Action>(node).slice(start.depth);
  return {
    kind: 'unpaired',
    ...rowBase(record, { rule, nodes, from: start, prompt }),
    completion,
    label,
    score,
    ends: isEnd(node),
  };
}
