import { expectFunction, expectInteger, expectMethods } from '../base/expect.ts';
import { expectOptions } from '../base/expect-options.ts';
import { failedBy } from '../base/failure.ts';
import { provenanceOfModel } from '../base/provenance.ts';
import type { Failed } from '../contracts/failure.ts';
import type { LanguageModel } from '../contracts/language-model.ts';
import type { SearchNode } from '../contracts/node.ts';
import type { Policy, Proposal } from '../contracts/policy.ts';
import { askBehind } from '../prompting/prompt-parts.ts';
import { fill, type PromptSet, promptsOf, type Texts, withTexts } from '../prompting/prompts.ts';
import { replyText } from '../prompting/read-reply.ts';
import { toolsShown } from '../prompting/tools-shown.ts';
import { asking, expectSampling } from './from-model/asking.ts';
import { repairProvenance } from './from-model/prompts.ts';
import { type Dialogue, proposeSamples } from './from-model/samples.ts';
import { type SamplingOptions, settingsOf } from './from-model/settings.ts';

const usual = {
  name: 'self-refine',
  version: 1,
  texts: {
    critique: [
      'Do not write an answer now. Examine the answer above as a strict reviewer who wants it to be right: go',
      'through it part by part, name each error, gap and needless detour, say why it is one and how it can be',
      'mended. If a part is sound, say so briefly. Write the review, and nothing else.',
    ].join('\n'),
    rewrite: [
      'Write the whole answer anew, so that no fault which the review has found is left. Keep what is sound. Give it',
      'in the form asked for at the beginning, and nothing else: no word about the review.',
    ].join('\n'),
  },
} satisfies PromptSet;

/** Options of {@link selfRefine}. */
export interface SelfRefineOptions<State = any, Action = any>
  extends SamplingOptions<State, Action> {
  /** The model that writes reviews. @defaultValue `model`, which rewrites */
  readonly critic?: LanguageModel;
  /** The maximum tokens of a review: an integer from 1 up. @defaultValue 512 */
  readonly critiqueTokens?: number;
  /**
   * Whether a node holds an answer. If not, the model is asked for one with the prompt of the state alone, at one call
   * per proposal.
   *
   * @defaultValue all nodes
   */
  readonly refines?: (node: SearchNode<State, Action>) => boolean;
  /** Texts to replace: `critique` asks what is wrong with the answer, `rewrite` for a better one. */
  readonly prompts?: Texts<'critique' | 'rewrite'>;
}

/**
 * A policy that improves complete answers: it asks for a review of the state's answer, then for a rewrite that follows
 * the review. A proposal costs two calls. An action is the text of the new answer, and the review is kept as the
 * `reasoning` of its completion.
 *
 * For environments whose states are answers: the prompt of a state shows the problem and the current answer. The
 * default limit of 1024 tokens is for a complete answer.
 *
 * @see Zhang et al., "Accessing GPT-4 level Mathematical Olympiad Solutions via Monte Carlo Tree Self-refine
 * with LLaMa-3 8B", 2024; Cheng et al., "SPaR: Self-Play with Tree-Search Refinement to Improve
 * Instruction-Following in Large Language Models", 2024.
 */
export function selfRefine<State = any, Action = any>(
  options: SelfRefineOptions<State, Action>,
): Policy<State, Action> {
  expectOptions(
    'selfRefine',
    options,
    'critic samples critiqueTokens refines repairs prompts model temperature topP maxTokens stop seed promptParts',
  );
  const { model, critic = model, samples = 2, repairs = 0, maxTokens = 1024 } = options;
  const { critiqueTokens = 512, refines = () => true } = options;
  expectSampling(options);
  expectMethods('critic', critic, ['generate']);
  expectInteger('critiqueTokens', critiqueTokens, { min: 1 });
  expectFunction('refines', refines);
  const set = withTexts(usual, options.prompts);
  const { texts } = set;
  // A review is free text: the stop texts of an action do not apply.
  const { stop: _, ...reviewed } = options;
  const reviewing = settingsOf({ ...reviewed, model: critic, maxTokens: critiqueTokens });
  const settings = {
    name: 'selfRefine',
    options: { ...options, samples, maxTokens },
    provenance: [
      provenanceOfModel(critic, reviewing),
      repairProvenance(repairs),
      { prompts: promptsOf(set) },
    ],
  };
  return asking<State, Action>(settings, async ({ node, request, notation, range, ...asked }) => {
    const prompt = await asked.prompt();
    if (!refines(node)) return proposeSamples(asked.dialogue(prompt), range);
    const question = askBehind(prompt, fill(texts.critique, {}));
    const { count: wanted, offset } = range;
    const shown = toolsShown(notation);
    const review = { ...reviewing, ...shown, messages: question, samples: wanted, offset };
    const { completions } = await request.context.generate(critic, review);
    return Promise.all(
      completions.map(async (completion, place) => {
        const critique = replyText(completion);
        if (critique === '' || completion.finishReason === 'refusal') return noCritique;
        const dialogue = asked.dialogue([
          ...question,
          { role: 'assistant', content: critique },
          { role: 'user', content: fill(texts.rewrite, {}) },
        ]);
        return rewrite(dialogue, critique, offset + place);
      }),
    );
  });
}

/** Makes one proposal. If it fails, the others are not affected. */
async function rewrite<Action>(
  dialogue: Dialogue<Action>,
  critique: string,
  offset: number,
): Promise<Proposal<Action>> {
  try {
    const [proposal = noCritique] = await proposeSamples(dialogue, { offset, count: 1 });
    if ('failure' in proposal) return proposal;
    const { completion = { text: '' } } = proposal;
    const thoughts = [critique, completion.reasoning ?? ''].filter((part) => part !== '');
    return { ...proposal, completion: { ...completion, reasoning: thoughts.join('\n\n') } };
  } catch (error) {
    return failedBy(error, 'call', dialogue.context);
  }
}

const noCritique: Failed = {
  failure: { kind: 'empty', message: 'Expected a review, got no text.' },
};
