import type { Message } from '../../contracts/language-model.ts';
import type { ChildNode, SearchNode } from '../../contracts/node.ts';
import { bestOfEqual, keyOfTurns } from '../distinct.ts';
import { rowPrompt } from '../path-completion.ts';
import { infoOf, rowBase } from '../provenance.ts';
import { isEnd, type TreeRecord, turnOf } from '../record.ts';
import { rowRule } from '../row-rule.ts';
import type { PreferenceRow, RowRule, RuleInfo } from '../rows.ts';
import { keepLargest, keepLargestAtEach } from './candidates.ts';
import { checkRule } from './matching.ts';
import type { PairRule, PreferencePair } from './pair-rule.ts';
import { pairsOf } from './pairs-of.ts';

/** Makes preference rows by a rule on siblings, which also gives pairs of nodes. */
export interface PairRowRule extends RowRule<PreferenceRow> {
  /** The rule on siblings. */
  readonly pairs: PairRule;
}

/**
 * Makes preference rows by a rule on siblings: the prompt is the conversation at the parent, the sides are the
 * turns of the two children. Of equal rows the one with the largest margin is kept, ties going to the first; of rows
 * that prefer opposite sides, as two paths to one prompt may, the one with the larger margin, and neither if the margins
 * are equal. Rows are in the order of the trees and, within each, of {@link pairsOf}.
 *
 * @throws EspalierError `usage` for an invalid rule; when making rows, for an empty prompt.
 */
export function preferences(rule: PairRule): PairRowRule {
  checkRule(rule);
  const rows = pairRows(rule, {
    ...rule,
    pairs: (record) => pairsOf(record, rule),
    completion: (record, _from, node) => [turnOf(record, node)],
  });
  return { ...rows, pairs: rule };
}

/** How the pairs of a tree become rows. */
interface PairReading {
  readonly parts?: (node: SearchNode) => Readonly<Record<string, number>>;
  readonly perDepth?: number | undefined;
  readonly maxPairsPerProblem?: number | undefined;
  pairs<State, Action>(record: TreeRecord<State, Action>): readonly PreferencePair<State, Action>[];
  /** A side of a pair as turns. */
  completion<State, Action>(
    record: TreeRecord<State, Action>,
    from: SearchNode<State, Action>,
    node: ChildNode<State, Action>,
  ): readonly Message[];
}

/** The rule that makes rows of the pairs of each tree. */
export function pairRows(info: RuleInfo, reading: PairReading): RowRule<PreferenceRow> {
  const { name } = info;
  return rowRule({
    name,
    ...infoOf(info),
    kind: 'preference',
    *rows<State, Action>(
      trees: readonly TreeRecord<State, Action>[],
      leaveOut?: (reason: string) => void,
    ) {
      const names = new Map<string, number>();
      const drafts = trees.flatMap((record) => draftsOf(record, reading, names));
      const agreed = withoutOpposites(drafts, leaveOut);
      const balanced = keepLargestAtEach(({ pair }) => pair.parent.depth, agreed, reading.perDepth);
      for (const draft of keepLargest(balanced, reading.maxPairsPerProblem)) {
        yield toRow(draft, name, reading.parts);
      }
    },
  });
}

/** Messages, and a number that is the same for equal messages of one problem. */
interface Rendered {
  readonly messages: readonly Message[];
  readonly name: number;
}

/** A pair on its way to a row: most of what makes a row dear is made only for those that stay. */
interface Draft<State, Action> {
  readonly record: TreeRecord<State, Action>;
  readonly pair: PreferencePair<State, Action>;
  readonly prompt: readonly Message[];
  readonly chosen: readonly Message[];
  readonly rejected: readonly Message[];
  readonly margin: number;
  /** The same for equal rows of one problem. */
  readonly key: string;
  /** The key of the row that prefers the other side. */
  readonly opposite: string;
}

/** Drafts of which no two are equal, and no two prefer opposite sides of one pair. */
function withoutOpposites<State, Action>(
  drafts: readonly Draft<State, Action>[],
  leaveOut?: (reason: string) => void,
): readonly Draft<State, Action>[] {
  const unlike = bestOfEqual(
    drafts,
    ({ key }) => key,
    ({ margin }) => margin,
  );
  const margins = new Map(unlike.map(({ key, margin }) => [key, margin]));
  return unlike.filter(({ opposite, margin }) => {
    const isKept = margin > (margins.get(opposite) ?? 0);
    if (!isKept) leaveOut?.(contradicted);
    return isKept;
  });
}

const contradicted =
  'Another row of the problem says the opposite, with a margin at least as large.';

function draftsOf<State, Action>(
  record: TreeRecord<State, Action>,
  reading: PairReading,
  names: Map<string, number>,
): readonly Draft<State, Action>[] {
  // A prompt is made once for each parent and a completion once for each node, whatever the number of pairs.
  const prompts: (Rendered | undefined)[] = [];
  const completions: (Rendered | undefined)[] = [];
  const promptOf = (node: SearchNode<State, Action>) =>
    (prompts[node.id] ??= rendered(rowPrompt(record, node), JSON.stringify, names));
  const completionOf = (from: SearchNode<State, Action>, node: ChildNode<State, Action>) =>
    (completions[node.id] ??= rendered(reading.completion(record, from, node), keyOfTurns, names));
  return reading.pairs(record).flatMap((pair) => {
    const { parent, margin } = pair;
    const chosen = completionOf(parent, pair.chosen);
    const rejected = completionOf(parent, pair.rejected);
    // Different texts may still be the same turn, such as a call that is written in two ways.
    if (chosen.name === rejected.name) return [];
    const prompt = promptOf(parent);
    return [
      {
        record,
        pair,
        prompt: prompt.messages,
        chosen: chosen.messages,
        rejected: rejected.messages,
        margin,
        key: `${prompt.name} ${chosen.name} ${rejected.name}`,
        opposite: `${prompt.name} ${rejected.name} ${chosen.name}`,
      },
    ];
  });
}

function rendered(
  messages: readonly Message[],
  keyOf: (messages: readonly Message[]) => string,
  names: Map<string, number>,
): Rendered {
  const text = keyOf(messages);
  const name = names.get(text) ?? names.size;
  names.set(text, name);
  return { messages, name };
}

function toRow<State, Action>(
  { record, pair, prompt, chosen, rejected }: Draft<State, Action>,
  rule: string,
  parts: PairReading['parts'],
): PreferenceRow {
  const { parent, ...numbers } = pair;
  const nodes = [parent, pair.chosen, pair.rejected];
  const base = rowBase(record, { rule, nodes, from: parent, prompt });
  return {
    kind: 'preference',
    ...base,
    ...numbers,
    chosen,
    rejected,
    chosenEnds: isEnd(pair.chosen),
    rejectedEnds: isEnd(pair.rejected),
    ...(parts !== undefined && {
      provenance: {
        ...base.provenance,
        parts: base.provenance.parts.map((own, place) => ({
          ...own,
          ...partsOf(nodes[place], parts),
        })),
      },
    }),
  };
}

function partsOf(
  node: SearchNode | undefined,
  parts: (node: SearchNode) => Readonly<Record<string, number>>,
): Readonly<Record<string, number>> {
  return node === undefined || node.kind === 'root' ? {} : parts(node);
}
