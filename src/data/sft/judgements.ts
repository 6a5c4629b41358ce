import { expectBoolean, expectFunction, expectOneOf } from '../../base/expect.ts';
import { expectOptions } from '../../base/expect-options.ts';
import type { Evaluation } from '../../contracts/evaluation.ts';
import type { SearchNode } from '../../contracts/node.ts';
import { distinct, textOfRow } from '../distinct.ts';
import { rowBase } from '../provenance.ts';
import { critiqueOf, isPart, promptAt, type TreeRecord } from '../record.ts';
import { rowRule } from '../row-rule.ts';
import type { RowRule, SftRow } from '../rows.ts';
import { withoutOracle, withWords } from './refiner.ts';

/** Options of `judgements`. */
export interface JudgementsOptions {
  /**
   * The verdict of the critique on the node; `undefined` if it cannot be determined.
   *
   * @defaultValue that of its evaluation, if that is 1 or 0; else `undefined`
   */
  readonly verdict?: (node: SearchNode) => boolean | undefined;
  /** The nodes to use: all, or those on which the samples were split, as in the paper. @defaultValue `'all'` */
  readonly only?: 'all' | 'split';
  /**
   * Whether to include trees guided by a known answer, whose critiques may reveal it.
   *
   * @defaultValue `false`
   */
  readonly oracleGuided?: boolean;
  /** The request for a judgement, after the prompt of the state. @defaultValue a sentence */
  readonly question?: string;
  /** The answer to learn. @defaultValue the critique, then on a separate line *Verdict: yes* or *no* */
  readonly reply?: (critique: string, verdict: boolean) => string;
}

const usualQuestion =
  'Does the answer above do all that was asked? Say what is wrong with it or why nothing is, then give a verdict.';

/**
 * Data for a judge: a state, and a critique of it that agrees with the majority of the samples.
 *
 * The value of a node, the mean of its evaluations, is the share of samples that approve, and the majority says yes
 * above 0.5, no below, and nothing at 0.5. The critique is the rationale of the last evaluation that agrees with it.
 * If one evaluation summarises split samples, its rationale may be from either side, which only `verdict` can
 * determine; so by default these nodes give no rows. Neither do values about actions, which judge no state. Values must
 * be shares of verdicts.
 *
 * @see Cheng et al., "SPaR: Self-Play with Tree-Search Refinement to Improve Instruction-Following in Large
 * Language Models", 2024 (arXiv 2412.11605), section 2.3.
 * @throws EspalierError `usage` if an option is out of range.
 */
export function judgements(options: JudgementsOptions = {}): RowRule<SftRow> {
  expectOptions('judgements', options, 'verdict only oracleGuided question reply');
  const { verdict, only = 'all', question = usualQuestion } = options;
  const { reply = usualReply, oracleGuided = false } = options;
  expectBoolean('oracleGuided', oracleGuided);
  if (verdict !== undefined) expectFunction('verdict', verdict);
  expectOneOf('only', only, ['all', 'split']);
  expectFunction('reply', reply);
  return rowRule({
    name: 'judge',
    kind: 'sft',
    title: 'judgements that agree with the majority',
    paper: 'Cheng et al., 2024, arXiv 2412.11605',
    options,
    rows: (trees) =>
      distinct(
        withoutOracle(trees, oracleGuided).flatMap((record) =>
          rowsOf(record, { verdict, only, question, reply }),
        ),
        textOfRow,
      ),
  });
}

function rowsOf<State, Action>(
  record: TreeRecord<State, Action>,
  {
    verdict,
    only,
    question,
    reply,
  }: Required<Pick<JudgementsOptions, 'only' | 'question' | 'reply'>> &
    Record<'verdict', JudgementsOptions['verdict']>,
): readonly SftRow[] {
  return [...record.tree.nodes()].flatMap((node): readonly SftRow[] => {
    const { rawValue: value = 0.5 } = node;
    const isOut = value === 0.5 || (only === 'split' && (value === 0 || value === 1));
    const critique = critiqueOf(node);
    if (isOut || critique === undefined || !isShown(node)) return [];
    const majority = value > 0.5;
    const says = verdict === undefined ? unanimous(critique) : verdict(node);
    if (says !== majority) return [];
    const prompt = withWords(promptAt(record, node), question);
    // Who judges is offered no tools.
    const { tools: _, ...base } = rowBase(record, {
      rule: 'judge',
      nodes: [node],
      from: node,
      prompt,
    });
    return [
      {
        kind: 'sft',
        ...base,
        completion: [
          { role: 'assistant', content: reply((critique.rationale ?? '').trim(), majority) },
        ],
        ends: true,
        // How many of the samples agree.
        score: majority ? value : 1 - value,
        weight: 1,
      },
    ];
  });
}

function isShown(node: SearchNode): boolean {
  return isPart(node) && node.kind !== 'proposed';
}

function unanimous({ value }: Evaluation): boolean | undefined {
  return value === 1 ? true : value === 0 ? false : undefined;
}

function usualReply(critique: string, verdict: boolean): string {
  return `${critique}\nVerdict: ${verdict ? 'yes' : 'no'}`;
}
