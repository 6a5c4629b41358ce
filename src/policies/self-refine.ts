import { expectFunction, expectInteger, expectMethods } from '../base/expect.ts';
import { expectOptions } from '../base/expect-options.ts';
import { failedBy } from '../base/failure.ts';
import { provenanceOf, provenanceOfModel } from '../base/provenance.ts';
import type { CallContext } from '../contracts/context.ts';
import type { Parsed } from '../contracts/environment.ts';
import type { Failed } from '../contracts/failure.ts';
import type { Completion, LanguageModel, Message } from '../contracts/language-model.ts';
import type { SearchNode } from '../contracts/node.ts';
import type { Policy, Proposal } from '../contracts/policy.ts';
import { notationOf } from '../prompting/notation.ts';
import { withParts } from '../prompting/prompt-parts.ts';
import { fill, type PromptSet, promptsOf, withTexts } from '../prompting/prompts.ts';
import { repairProvenance, withRequest } from './from-model/prompts.ts';
import { proposeSamples, type Settings } from './from-model/samples.ts';
import { readerOf, type SamplingOptions, settingsFor, settingsOf } from './from-model/settings.ts';
import { stateOf } from './state-of.ts';

/** The texts of {@link selfRefine}. */
export interface SelfRefineTexts {
  /** Asks what is wrong with the answer, behind the prompt of the state. */
  readonly critique: string;
  /** Asks for a better answer, behind the critique. */
  readonly rewrite: string;
}

const usual: PromptSet<keyof SelfRefineTexts> = {
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
};

/** How a language model is asked to better an answer. */
export interface SelfRefineOptions<State = any, Action = any>
  extends SamplingOptions<State, Action> {
  /** The model that reviews. @defaultValue `model`, which rewrites */
  readonly critic?: LanguageModel;
  /**
   * How many proposals are made where an algorithm asks for all of them: an integer from 1 up.
   *
   * @defaultValue 2
   */
  readonly samples?: number;
  /** The limit on the tokens of a review: an integer from 1 up. @defaultValue 512 */
  readonly critiqueTokens?: number;
  /**
   * Which nodes hold an answer. At the others the model is asked for one with the prompt of the state alone,
   * for one call a proposal.
   *
   * @defaultValue all of them
   */
  readonly refines?: (node: SearchNode<State, Action>) => boolean;
  /**
   * How often an answer that cannot be read is sent back with the reason: an integer from 0 up. Each time
   * costs a call.
   *
   * @defaultValue 0
   */
  readonly repairs?: number;
  /** Other texts. @defaultValue the ones that come with it */
  readonly prompts?: Partial<SelfRefineTexts>;
}

/**
 * A policy that betters whole answers: it asks for a review of the answer that the state holds, then for the
 * answer rewritten after that review. A proposal costs two calls. An action is the text of the new answer, and
 * the review is kept as the `reasoning` of its completion.
 *
 * It works where the states are answers: the prompt of a state shows the problem and the answer as it is. The
 * limit of 1024 tokens is by default that of a whole answer.
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
  const { critiqueTokens = 512, refines = () => true, promptParts = [] } = options;
  expectMethods('model', model, ['generate']);
  expectMethods('critic', critic, ['generate']);
  expectInteger('samples', samples, { min: 1 });
  expectInteger('repairs', repairs, { min: 0 });
  expectInteger('critiqueTokens', critiqueTokens, { min: 1 });
  expectFunction('refines', refines);
  const set = withTexts(usual, options.prompts);
  const sampling = settingsOf({ ...options, maxTokens });
  // A review is free text: nothing that ends an action ends it.
  const { stop: _, ...reviewed } = options;
  const critiqueSettings = settingsOf({ ...reviewed, model: critic, maxTokens: critiqueTokens });
  return {
    ...provenanceOf(
      { needsNotation: ['selfRefine'] },
      provenanceOfModel(model, sampling),
      provenanceOfModel(critic, critiqueSettings),
      ...promptParts,
      repairProvenance(repairs),
      { prompts: promptsOf(set) },
    ),
    async propose(node, request) {
      const { context, count, offset } = request;
      const state = stateOf(node);
      const notation = notationOf(request);
      const settings = settingsFor(notation, sampling, { model });
      const read = readerOf(notation);
      const range = { offset, count: Number.isFinite(count) ? count : samples };
      const prompt = await withParts(notation.prompt(state), promptParts, { ...request, node });
      const base = { model, settings, context, repairs, texts: set.texts };
      const dialogue = { ...base, read: (completion: Completion) => read(state, completion) };
      if (!refines(node)) return proposeSamples({ ...dialogue, messages: prompt }, range);

      const question = withRequest(prompt, fill(set.texts.critique, {}));
      const review = { ...critiqueSettings, messages: question, samples: range.count, offset };
      const { completions } = await context.generate(critic, review);
      return Promise.all(
        completions.map((critique, place) =>
          rewrite({ ...dialogue, question }, critique, offset + place),
        ),
      );
    },
  };
}

interface Rewriting<Action> {
  readonly model: LanguageModel;
  readonly settings: Settings;
  readonly context: CallContext;
  readonly repairs: number;
  readonly texts: SelfRefineTexts;
  readonly read: (completion: Completion) => Parsed<Action>;
  /** The prompt with which the review was asked for. */
  readonly question: readonly Message[];
}

/** One proposal. What goes wrong with it is no matter of the others. */
async function rewrite<Action>(
  { question, texts, ...base }: Rewriting<Action>,
  { text, finishReason }: Completion,
  index: number,
): Promise<Proposal<Action>> {
  const critique = text.replace(/^.*<\/think>/s, '').trim();
  if (critique === '' || finishReason === 'refusal') return noCritique;
  const messages: readonly Message[] = [
    ...question,
    { role: 'assistant', content: critique },
    { role: 'user', content: fill(texts.rewrite, {}) },
  ];
  try {
    const [proposal] = await proposeSamples({ ...base, messages }, { offset: index, count: 1 });
    if (proposal === undefined) return noCritique;
    if ('failure' in proposal) return proposal;
    const { completion = { text: '' } } = proposal;
    const thoughts = [critique, completion.reasoning ?? ''].filter((part) => part !== '');
    return { ...proposal, completion: { ...completion, reasoning: thoughts.join('\n\n') } };
  } catch (error) {
    return failedBy(error, 'call', base.context);
  }
}

const noCritique: Failed = {
  failure: { kind: 'empty', message: 'Expected a review, got no text.' },
};
