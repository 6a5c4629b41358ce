import {
  expectFunction,
  expectInteger,
  expectNumber,
  expectOneOf,
  expectTexts,
} from '../../base/expect.ts';
import { expectOptions } from '../../base/expect-options.ts';
import { seededRandom } from '../../base/random.ts';
import type { Message } from '../../contracts/language-model.ts';
import { pathTo } from '../../tree/summary.ts';
import { distinct, keyOfTurns } from '../distinct.ts';
import { pathCompletion } from '../path-completion.ts';
import { rowBase } from '../provenance.ts';
import type { TreeRecord } from '../record.ts';
import { rowRule } from '../row-rule.ts';
import type { RowRule, SftRow } from '../rows.ts';
import { delimiterOf, type Prefix, prefixTo } from './prefix.ts';
import { revisionThoughts } from './revision-thoughts.ts';
import { type Splice, type SpliceOptions, splicesOf } from './splices.ts';

/** Options of `agentR`. */
export interface AgentROptions extends SpliceOptions {
  /**
   * Whether the good actions are tried after the bad ones. `naive`: no; they were taken from the common node, before
   * the mistake. `replay-verified`: only splices that `verify` accepts become rows.
   *
   * @defaultValue `'naive'`
   */
  readonly splice?: 'naive' | 'replay-verified';
  /** Whether the actions work after the bad step. Required for `replay-verified`. @see {@link verifySplices} */
  readonly verify?: (splice: Splice) => boolean;
  /** The sentences that introduce a correction; one is drawn per row. @defaultValue eight sentences */
  readonly thoughts?: readonly string[];
}

/**
 * Revision trajectories of Agent-R: a bad path up to its first wrong step, a thought that admits the mistake, and the
 * good path from the last common node on.
 *
 * The bad beginning is part of the prompt, so it is not learnt. If prompts grow as a conversation, it is written as
 * turns, and the thought is a separate turn that the user answers with *OK.*, as in the paper. Otherwise it is the
 * beginning of the assistant's turn, and thought and good actions are the rest of it.
 *
 * Unlike in the paper, a step is judged by the ends below it unless a judge is given, the number of splices per tree is
 * limited, and the continuation after a mistake can be verified. The score of a row is that of its good end.
 *
 * @see Yuan et al., "Agent-R: Training Language Model Agents to Reflect via Iterative Self-Training", 2025
 * (arXiv 2501.11425), section 3.
 * @throws EspalierError `usage` if an option is out of range, or `verify` is missing.
 */
export function agentR(options: AgentROptions = {}): RowRule<SftRow> {
  expectOptions('agentR', options, 'splice verify thoughts alpha beta maxSplices isWrong');
  const { splice = 'naive', verify, thoughts = revisionThoughts } = options;
  expectOneOf('splice', splice, ['naive', 'replay-verified']);
  if (splice === 'replay-verified') expectFunction('verify', verify);
  expectTexts('thoughts', thoughts);
  expectInteger('thoughts.length', thoughts.length, { min: 1 });
  expectNumber('alpha', options.alpha ?? 0);
  expectNumber('beta', options.beta ?? 0, { min: 0 });
  expectInteger('maxSplices', options.maxSplices ?? 1, { min: 1 });
  if (options.isWrong !== undefined) expectFunction('isWrong', options.isWrong);
  const isVerified = splice === 'naive' ? () => true : (verify ?? (() => false));
  return rowRule({
    name: 'agent-r',
    kind: 'sft',
    title: 'wrong beginnings that are noticed and corrected',
    paper: 'Yuan et al., 2025, arXiv 2501.11425',
    options,
    *rows<State, Action>(trees: readonly TreeRecord<State, Action>[]) {
      const drafts = trees.flatMap((record) =>
        splicesOf(record, options)
          .filter(isVerified)
          .map((own) => ({
            row: rowOf(record, own, thoughtFor(record, own, thoughts)),
            rest: pathCompletion(record, own.ancestor, own.good),
          })),
      );
      // Rows that differ in their thought alone say the same.
      for (const { row } of distinct(drafts, ({ row: { prompt }, rest }) => [
        prompt,
        keyOfTurns(rest),
      ])) {
        yield row;
      }
    },
  });
}

function thoughtFor<State, Action>(
  { tree, problem, id = problem }: TreeRecord<State, Action>,
  { bad, good }: Splice<State, Action>,
  thoughts: readonly string[],
): string {
  const random = seededRandom(tree.origin.seed).split('thought', id, bad.id, good.id);
  return thoughts[random.integer(thoughts.length)] ?? '';
}

function rowOf<State, Action>(
  record: TreeRecord<State, Action>,
  { bad, good, ancestor, goodScore }: Splice<State, Action>,
  thought: string,
): SftRow {
  const prefix = prefixTo(record, bad);
  const rest = pathCompletion(record, ancestor, good);
  return {
    kind: 'sft',
    ...rowBase(record, {
      rule: 'agent-r',
      nodes: [...pathTo(bad), ...pathTo(good).slice(ancestor.depth + 1)],
      from: bad,
      prompt: prefix.messages,
    }),
    completion: revised(prefix, [thought, rest], delimiterOf(record)),
    ends: true,
    score: goodScore,
    weight: 1,
  };
}

function revised(
  { form }: Prefix,
  [thought, rest]: readonly [string, readonly Message[]],
  delimiter: string,
): readonly Message[] {
  if (form === 'turns') {
    return [{ role: 'assistant', content: thought }, { role: 'user', content: 'OK.' }, ...rest];
  }
  const content = [thought, ...rest.map((turn) => turn.content)].join(delimiter);
  return [{ role: 'assistant', content }];
}
