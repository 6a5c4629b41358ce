import { expectBoolean, expectFunction, expectOneOf, expectText } from '../../base/expect.ts';
import { expectModel } from '../../base/expect-capabilities.ts';
import { expectOptions } from '../../base/expect-options.ts';
import { provenanceOf, provenanceOfModel } from '../../base/provenance.ts';
import { mean } from '../../base/stats/mean.ts';
import type { Evaluation } from '../../contracts/evaluation.ts';
import type { EvaluateRequest, Evaluator } from '../../contracts/evaluator.ts';
import type { Failed } from '../../contracts/failure.ts';
import type { NodeWithState } from '../../contracts/node.ts';
import { notationOf } from '../../prompting/notation.ts';
import { expectParts, withParts } from '../../prompting/prompt-parts.ts';
import { promptsOf, withTexts } from '../../prompting/prompts.ts';
import { toolsShown } from '../../prompting/tools-shown.ts';
import { evaluateEach } from '../evaluate-each.ts';
import { requestSettings } from '../request-settings.ts';
import { valueInRange } from '../value-in-range.ts';
import {
  type CriticRankingOptions,
  criticRankingPrompts,
  type Placing,
  placeByBest,
  placeByList,
} from './question.ts';

/**
 * Values actions before they are taken, by a critic's ranking of all proposals of their node: Q̂(h, a) of Agent Q. It
 * is a prior estimate, to be mixed with the search's own values.
 *
 * All children of the parent are ranked, whichever of them are evaluated: those in one batch share the ranking, and so
 * do later ones, if no further child was proposed in between. A single proposal is worth `rankScore(1, 1)` without a
 * call; the root is worth 1.
 *
 * An answer counts only if it ranks every proposal: a list with a missing, repeated or unknown entry is counted in
 * `unscored`. If no list counts, all proposals of the node fail. If no answer names the best of the remaining
 * proposals, those fail, and the ones already ranked keep their rank.
 *
 * @see Putta et al., "Agent Q: Advanced Reasoning and Learning for Autonomous AI Agents", 2024.
 * @throws EspalierError `usage` if an option is out of range.
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
  expectModel('model', model);
  expectOneOf('by', by, ['best-of-remaining', 'list']);
  expectFunction('rankScore', rankScore);
  expectBoolean('reason', reason);
  expectParts(promptParts);
  const prompts = withTexts(criticRankingPrompts, options.prompts);
  const { texts } = prompts;
  const { samples = 1, maxTokens = reason ? 256 : 64, temperature, rubric } = options;
  if (rubric !== undefined) expectText('rubric', rubric);
  const sampling = { samples, maxTokens, temperature };

  /** The places of all children of a node, in order. */
  async function placesAt(
    parent: NodeWithState<State, Action>,
    request: EvaluateRequest<State, Action>,
  ): Promise<readonly Placing[] | Failed> {
    const notation = notationOf(request);
    const proposals = parent.children.map(({ action }) => notation.format(action));
    if (proposals.length <= 1) return proposals.map(() => ({ ranks: [1], unscored: 0 }));
    const prompt = notation.prompt(parent.state);
    const messages = await withParts(prompt, promptParts, { ...request, node: parent });
    const tools = toolsShown(notation);
    const asked = { model, texts, reason, rubric, sampling, messages, tools, proposals };
    return (by === 'list' ? placeByList : placeByBest)(asked, request.context);
  }

  return {
    ...provenanceOf(
      { needsNotation: ['criticRanking'] },
      provenanceOfModel(model, requestSettings(model, sampling)),
      { prompts: promptsOf(prompts) },
      ...promptParts,
    ),
    ...evaluateEach<State, Action>('action', (request) => {
      const known = new Map<unknown, Promise<readonly Placing[] | Failed>>();
      return async ({ place, step }) => {
        if (step === undefined) return { value: 1 };
        const asked = known.get(place) ?? placesAt(place, request);
        known.set(place, asked);
        const placings = await asked;
        if ('failure' in placings) return placings;
        const placing = placings[place.children.indexOf(step)] ?? noSibling;
        return 'failure' in placing ? placing : ranked(placing, placings.length, rankScore);
      };
    }),
  };
}

function ranked(
  { ranks, unscored, reason }: Exclude<Placing, Failed>,
  count: number,
  rankScore: typeof linearRank,
): Evaluation | Failed {
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

/** 1 for the best, 0 for the worst, and evenly spaced in between. */
export function linearRank(rank: number, count: number): number {
  return count <= 1 ? 1 : 1 - (rank - 1) / (count - 1);
}

const noSibling: Failed = {
  failure: {
    kind: 'invalid',
    message: 'Expected a node among the children of its parent, got another one.',
  },
};
