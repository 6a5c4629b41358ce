import { expectation, expectFunction, expectMethods, expectOneOf } from '../../base/expect.ts';
import { expectOptions } from '../../base/expect-options.ts';
import { failedBy } from '../../base/failure.ts';
import { provenanceOf, provenanceOfModel } from '../../base/provenance.ts';
import { mean } from '../../base/stats/mean.ts';
import type { Evaluation } from '../../contracts/evaluation.ts';
import type { EvaluateRequest, Evaluator } from '../../contracts/evaluator.ts';
import type { Failed } from '../../contracts/failure.ts';
import type { LanguageModel } from '../../contracts/language-model.ts';
import type { SearchNode } from '../../contracts/node.ts';
import type { PromptPart } from '../../contracts/prompt-part.ts';
import { notationOf } from '../../prompting/notation.ts';
import { withParts } from '../../prompting/prompt-parts.ts';
import { promptsOf, withTexts } from '../../prompting/prompts.ts';
import { evaluateEach } from '../evaluate-each.ts';
import { noState } from '../no-state.ts';
import { requestSettings } from '../request-settings.ts';
import { valueInRange } from '../value-in-range.ts';
import {
  type CriticRankingText,
  criticRankingPrompts,
  type Placing,
  placeByBest,
  placeByList,
  type Question,
} from './question.ts';
import { linearRank, type RankScore } from './rank-score.ts';

export type { CriticRankingText } from './question.ts';
export { linearRank, type RankScore, reciprocalRank } from './rank-score.ts';

/** How a critic ranks the proposals of a node. */
export interface CriticRankingOptions<State = any, Action = any> {
  /** The critic: in Agent Q the model that proposes. */
  readonly model: LanguageModel;
  /**
   * How it is asked about K proposals: for all places at once, in one call; or K − 1 times, one after the other,
   * for the best of those that are left, as in Agent Q.
   *
   * @defaultValue `'best-of-remaining'`
   */
  readonly by?: 'best-of-remaining' | 'list';
  /**
   * The value of a place. Agent Q does not tell its own.
   *
   * @defaultValue {@link linearRank}
   */
  readonly rankScore?: RankScore;
  /**
   * Whether it is to give a reason, which becomes part of the rationale.
   *
   * @defaultValue true
   */
  readonly reason?: boolean;
  /**
   * How many answers are drawn to a question: an integer from 1 up. Lists are averaged over their values; of the
   * best ones the most named one is taken, and of equally named ones the one proposed first.
   *
   * @defaultValue 1
   */
  readonly samples?: number;
  /** The limit on the tokens of one answer: an integer from 1 up. @defaultValue 256 with a reason, else 64 */
  readonly maxTokens?: number;
  /** The temperature of sampling: from 0 up, for models that take one. @defaultValue 0 for one sample, else 1 */
  readonly temperature?: number;
  /** What is ranked by, in words. @defaultValue none */
  readonly rubric?: string;
  /** What the critic is told behind the state in which the actions are proposed, such as lessons. @defaultValue none */
  readonly promptParts?: readonly PromptPart<State, Action>[];
  /**
   * Texts to replace: `proposals` with the slot `{list}`, `rubric`, `list` with `{count}`, `best`, `listAnswer`,
   * `bestAnswer`, `reasonedListAnswer`, `reasonedBestAnswer`.
   */
  readonly prompts?: Partial<Readonly<Record<CriticRankingText, string>>>;
}

/**
 * Values actions before they are taken by the place that a critic gives them among all the proposals of their
 * node: Q̂(h, a) of Agent Q. It is a prior opinion, to be mixed with what the search finds.
 *
 * All children of the parent are ranked, whichever of them are asked about: those in one batch share the ranking,
 * and so do those asked about later, where no further child was proposed in between. A single proposal is worth
 * `rankScore(1, 1)` without a call; the root, which nobody proposed, 1.
 *
 * An answer counts only if it is clear about every place: a list that leaves one out, names one twice or knows
 * one that is not there does not, and is told in `unscored`. Where no list counts, all proposals of the node fail.
 * Where no answer names the best of those that are left, these fail, and those that have their place keep it.
 *
 * @see Putta et al., "Agent Q: Advanced Reasoning and Learning for Autonomous AI Agents", 2024.
 * @throws EspalierError `usage` where an option is out of its range.
 */
export function criticRanking<State = any, Action = any>(
  options: CriticRankingOptions<State, Action>,
): Evaluator<State, Action> {
  expectOptions(
    'criticRanking',
    options,
    'model by rankScore reason samples maxTokens temperature rubric promptParts prompts',
  );
  const { model, promptParts = [], by = 'best-of-remaining' } = options;
  const { rankScore = linearRank, reason = true } = options;
  expectMethods('model', model, ['generate']);
  expectOneOf('by', by, ['best-of-remaining', 'list']);
  expectFunction('rankScore', rankScore);
  if (typeof reason !== 'boolean') throw expectation('reason', 'true or false', reason);
  const prompts = withTexts<CriticRankingText>(criticRankingPrompts, options.prompts);
  const { samples = 1, maxTokens = reason ? 256 : 64, temperature, rubric } = options;
  const sampling = { samples, maxTokens, temperature };
  const settings = requestSettings(model, sampling);
  const question: Omit<Question, 'messages' | 'proposals'> = {
    model,
    texts: prompts.texts,
    reason,
    rubric,
    sampling,
  };
  const ranking = { promptParts, by, rankScore, question };
  return {
    needs: 'proposed',
    ...provenanceOf(
      { needsNotation: ['criticRanking'] },
      provenanceOfModel(model, settings),
      { prompts: promptsOf(prompts) },
      ...promptParts,
    ),
    evaluate(nodes, request) {
      const placings = new Map<unknown, Promise<readonly Placing[] | Failed>>();
      const placingsAt = (parent: SearchNode<State, Action>) => {
        const known = placings.get(parent) ?? place(ranking, parent, request);
        placings.set(parent, known);
        return known;
      };
      return evaluateEach({ about: 'action' }, nodes, (node) =>
        evaluate(ranking, node, placingsAt),
      );
    },
  };
}

interface Ranking<State, Action> {
  readonly promptParts: readonly PromptPart<State, Action>[];
  readonly by: 'best-of-remaining' | 'list';
  readonly rankScore: RankScore;
  readonly question: Omit<Question, 'messages' | 'proposals'>;
}

/** The places of all children of a node, in their order. */
async function place<State, Action>(
  { promptParts, by, question }: Ranking<State, Action>,
  parent: SearchNode<State, Action>,
  request: EvaluateRequest<State, Action>,
): Promise<readonly Placing[] | Failed> {
  if (parent.kind === 'proposed') return noState;
  const { context } = request;
  try {
    const notation = notationOf(request);
    const proposals = parent.children.map(({ action }) => notation.format(action));
    if (proposals.length <= 1) return proposals.map(() => ({ ranks: [1], unscored: 0 }));
    const prompt = notation.prompt(parent.state);
    const messages = await withParts(prompt, promptParts, { ...request, node: parent });
    const asked = { ...question, messages, proposals };
    return await (by === 'list' ? placeByList(asked, context) : placeByBest(asked, context));
  } catch (error) {
    return failedBy(error, 'call', context);
  }
}

async function evaluate<State, Action>(
  { rankScore }: Ranking<State, Action>,
  node: SearchNode<State, Action>,
  placingsAt: (parent: SearchNode<State, Action>) => Promise<readonly Placing[] | Failed>,
): Promise<Evaluation | Failed> {
  if (node.kind === 'root') return { value: 1 };
  const placings = await placingsAt(node.parent);
  if ('failure' in placings) return placings;
  const placing = placings[node.parent.children.indexOf(node)];
  if (placing === undefined) return noSibling;
  if ('failure' in placing) return placing;
  const { ranks, unscored, reason } = placing;
  const count = placings.length;
  const score = mean(ranks.map((rank) => rankScore(rank, count)));
  const evaluation = valueInRange('the result of `rankScore`', score);
  if ('failure' in evaluation) return evaluation;
  const told = `Rank ${ranks.join(', ')} of ${count}`;
  return {
    ...evaluation,
    rationale: reason === undefined ? `${told}.` : `${told}: ${reason}`,
    ...(unscored > 0 && { unscored }),
  };
}

const noSibling: Failed = {
  failure: {
    kind: 'invalid',
    message: 'Expected a node among the children of its parent, got another one.',
  },
};
