import { expectBoolean, expectFunction, expectNumber } from '../../base/expect.ts';
import { expectOptions } from '../../base/expect-options.ts';
import type { Message } from '../../contracts/language-model.ts';
import type { ChildNode, SearchNode } from '../../contracts/node.ts';
import { distinct, textOfRow } from '../distinct.ts';
import { partsOf } from '../paths.ts';
import { rowBase } from '../provenance.ts';
import {
  critiqueOf,
  isEnd,
  isRight,
  promptAt,
  type TreeRecord,
  turnOf,
  worthOf,
} from '../record.ts';
import { rowRule } from '../row-rule.ts';
import type { RowRule, SftRow } from '../rows.ts';

/** Options of `refiner`. */
export interface RefinerOptions {
  /**
   * The critique that led to the rewritten answer; `undefined` without one.
   *
   * @defaultValue the rationale of the parent's last evaluation that is on the same side of 0.5 as their mean
   */
  readonly critique?: (parent: SearchNode, child: ChildNode) => string | undefined;
  /** The gain that the new answer must exceed: from 0 up. @defaultValue 0 */
  readonly minGain?: number;
  /**
   * Whether to include trees guided by a known answer, whose critiques may reveal it.
   *
   * @defaultValue `false`
   */
  readonly oracleGuided?: boolean;
  /** The request for a better answer, after the critique. @defaultValue two sentences */
  readonly request?: string;
}

const usualRequest =
  'Write the whole answer anew so that none of these faults is left. Write the answer and nothing else.';

/**
 * Data for a refiner: an answer and its critique, then the better answer.
 *
 * For environments whose states are answers shown by prompts. The prompt is that of the parent followed by the critique
 * as a user message; the completion is the child. An answer is valued by its score if it is an end, else by its
 * evaluation. A child that is not a right end must be better than its parent by more than `minGain`; a right one must
 * follow a wrong one.
 *
 * Policies that review before they rewrite keep the review as `reasoning` of the completion:
 * `critique: (_, { completion }) => completion?.reasoning`.
 *
 * @see Cheng et al., "SPaR: Self-Play with Tree-Search Refinement to Improve Instruction-Following in Large
 * Language Models", 2024 (arXiv 2412.11605), section 2.3.
 * @throws EspalierError `usage` if an option is out of range.
 */
export function refiner(options: RefinerOptions = {}): RowRule<SftRow> {
  expectOptions('refiner', options, 'critique minGain oracleGuided request');
  const { minGain = 0, request = usualRequest, oracleGuided = false } = options;
  expectBoolean('oracleGuided', oracleGuided);
  const critique = options.critique ?? ((parent: SearchNode) => critiqueOf(parent)?.rationale);
  expectFunction('critique', critique);
  expectNumber('minGain', minGain, { min: 0 });
  return rowRule({
    name: 'refiner',
    kind: 'sft',
    title: 'critiques and the refinements that they led to',
    paper: 'Cheng et al., 2024, arXiv 2412.11605',
    options,
    rows: (trees) =>
      distinct(
        withoutOracle(trees, oracleGuided).flatMap((record) =>
          partsOf(record).flatMap((node): readonly SftRow[] => {
            const words = critique(node.parent, node)?.trim() ?? '';
            if (words === '' || !isBetter(record, node, minGain)) return [];
            return [rowOf(record, node, `${words}\n\n${request}`)];
          }),
        ),
        textOfRow,
      ),
  });
}

function isBetter<State, Action>(
  record: TreeRecord<State, Action>,
  node: ChildNode<State, Action>,
  minGain: number,
): boolean {
  const wasRight = isRight(record, node.parent) === true;
  if (isRight(record, node) === true) return !wasRight;
  return !wasRight && worthOf(record, node, 1) - worthOf(record, node.parent, 1) > minGain;
}

function rowOf<State, Action>(
  record: TreeRecord<State, Action>,
  node: ChildNode<State, Action>,
  words: string,
): SftRow {
  const { parent } = node;
  const prompt = withWords(promptAt(record, parent), words);
  return {
    kind: 'sft',
    ...rowBase(record, { rule: 'refiner', nodes: [parent, node], from: parent, prompt }),
    completion: [turnOf(record, node)],
    ends: isEnd(node),
    score: worthOf(record, node, 1),
    weight: 1,
  };
}

/** The conversation with words of the user behind it. Two turns of the user in a row would be one. */
export function withWords(prompt: readonly Message[], words: string): readonly Message[] {
  const last = prompt.at(-1);
  if (last?.role !== 'user') return [...prompt, { role: 'user', content: words }];
  return [...prompt.slice(0, -1), { ...last, content: `${last.content}\n\n${words}` }];
}

/** Critiques that were written with the known answer at hand may tell it. */
export function withoutOracle<State, Action>(
  trees: readonly TreeRecord<State, Action>[],
  oracleGuided: boolean,
): readonly TreeRecord<State, Action>[] {
  return oracleGuided ? trees : trees.filter(({ tree }) => !tree.stamps.has('oracle-guided'));
}
