import { provenanceOf, provenanceOfModel } from '../../base/provenance.ts';
import type { Evaluator } from '../../contracts/evaluator.ts';
import { notationOf } from '../../prompting/notation.ts';
import { promptsOf, withTexts } from '../../prompting/prompts.ts';
import { toolsShown } from '../../prompting/tools-shown.ts';
import { actionsTo, pathTo } from '../../tree/summary.ts';
import type { JudgingOptions } from '../judging-options.ts';
import { requestSettings } from '../request-settings.ts';
import { criticRankingPrompts, votesFor } from './question.ts';

const prompts = {
  ...withTexts(criticRankingPrompts, {
    proposals: 'Ways to go about it, each as far as it was thought out:\n\n{list}',
    best: [
      'Do not write a step. Name the number of the one way that is most likely to lead to the goal. Their order here',
      'says nothing.',
    ].join(' '),
  }),
  name: 'vote',
};

/**
 * Values nodes by votes: a model sees all nodes of a batch, each as the steps that lead to it, and names the best. The
 * value of a node is its share of the answers. Values are relative, and not comparable between batches.
 *
 * @see Yao et al., "Tree of Thoughts: Deliberate Problem Solving with Large Language Models", 2023, section 3,
 * "vote across states".
 */
export function vote<State = any, Action = any>({
  model,
  samples = 5,
  maxTokens = 256,
  temperature = 1,
}: Pick<
  JudgingOptions<State, Action>,
  'maxTokens' | 'model' | 'samples' | 'temperature'
>): Evaluator<State, Action> {
  const sampling = { samples, maxTokens, temperature };
  return {
    ...provenanceOf(
      { needsNotation: ['vote'] },
      provenanceOfModel(model, requestSettings(model, sampling)),
      { prompts: promptsOf(prompts) },
    ),
    needs: 'realised',
    async evaluate(nodes, request) {
      const root = nodes[0] && pathTo(nodes[0])[0];
      if (root?.kind !== 'root' || nodes.length === 1) return nodes.map(() => ({ value: 1 }));
      const notation = notationOf(request);
      const { prompt, format } = notation;
      const question = {
        ...{ model, texts: prompts.texts, reason: true, rubric: undefined, sampling },
        messages: prompt(root.state),
        tools: toolsShown(notation),
        proposals: nodes.map((node) => actionsTo(node).map(format).join('\n')),
      };
      const counted = await votesFor(question, request.context);
      if ('failure' in counted) return nodes.map(() => counted);
      const { votes, unscored } = counted;
      return votes.map((count) => ({
        value: count / (samples - unscored),
        ...(unscored > 0 && { unscored }),
      }));
    },
  };
}
