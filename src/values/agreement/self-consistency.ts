import {
  expectation,
  expectFunction,
  expectInteger,
  expectMethods,
  expectOneOf,
} from '../../base/expect.ts';
import { expectModel } from '../../base/expect-capabilities.ts';
import { expectOptions } from '../../base/expect-options.ts';
import { failedBy } from '../../base/failure.ts';
import { provenanceOf, provenanceOfModel } from '../../base/provenance.ts';
import { contextWith } from '../../calls/door.ts';
import type { Evaluation } from '../../contracts/evaluation.ts';
import type { EvaluateRequest, Evaluator } from '../../contracts/evaluator.ts';
import type { Failed, Failure } from '../../contracts/failure.ts';
import type { LanguageModel } from '../../contracts/language-model.ts';
import type { NodeWithState } from '../../contracts/node.ts';
import type { Policy } from '../../contracts/policy.ts';
import type { PromptPart } from '../../contracts/prompt-part.ts';
import { notationOf } from '../../prompting/notation.ts';
import { expectParts, withInstruction, withParts } from '../../prompting/prompt-parts.ts';
import { fill, type PromptSet, promptsOf, type Texts, withTexts } from '../../prompting/prompts.ts';
import { toolsShown } from '../../prompting/tools-shown.ts';
import { evaluateEach } from '../evaluate-each.ts';
import { requestSettings } from '../request-settings.ts';
import { valueInRange } from '../value-in-range.ts';

/** Options of {@link selfConsistency}: samples come from a model or from a policy. */
export type SelfConsistencyOptions<State = any, Action = any> = {
  /**
   * What is valued: the `state`, by the share of the most frequent answer among samples drawn there, which is RAP's
   * confidence; or the `action`, by the share of samples drawn at the parent that agree with it, which is rStar's vote.
   *
   * @defaultValue `'state'`
   */
  readonly about?: 'action' | 'state';
  /** The number of samples: an integer from 1 up. RAP draws up to 8, rStar 32. @defaultValue 8 */
  readonly samples?: number;
} & (
  | {
      /**
       * Proposes actions, one per sample; samples it already drew at a node are reused. A policy that lists its actions
       * has no agreement to measure.
       */
      readonly policy: Policy<State, Action>;
      /** Not with a policy. */
      readonly model?: undefined;
      /** The key by which actions agree; `undefined` if one cannot be read. @defaultValue the action as text */
      readonly key?: (action: NoInfer<Action>) => string | undefined;
    }
  | {
      /** A model that continues from a state to the end or, for `about: 'action'`, proposes an action. */
      readonly model: LanguageModel;
      /** Not with a model. */
      readonly policy?: undefined;
      /** The key by which texts agree, usually the answer in them; `undefined` if one cannot be read. */
      readonly key: (text: string) => string | undefined;
      /** The sampling temperature: from 0 up, for models that take one. @defaultValue 1 */
      readonly temperature?: number;
      /** The probability mass to sample from, in (0, 1], for models that take a temperature. @defaultValue the model's default */
      readonly topP?: number;
      /** The maximum tokens of one sample: an integer from 1 up. @defaultValue 512 */
      readonly maxTokens?: number;
      /** Text added to the prompt after the state, such as lessons. @defaultValue none */
      readonly promptParts?: readonly PromptPart<State, Action>[];
      /** Texts to replace: `finish`, which asks for the complete remaining solution. */
      readonly prompts?: Texts<'finish'>;
    }
);

type ModelSamples<State, Action> = Extract<
  SelfConsistencyOptions<State, Action>,
  { readonly model: LanguageModel }
>;
type PolicySamples<State, Action> = Exclude<
  SelfConsistencyOptions<State, Action>,
  ModelSamples<State, Action>
>;

const selfConsistencyPrompts = {
  name: 'self-consistency',
  version: 1,
  texts: {
    finish: [
      'Do not stop after one step: work the problem out from here to its end, and state the final answer in the',
      'last line.',
    ].join(' '),
  },
} satisfies PromptSet;

/**
 * Values nodes by the agreement of k samples: `v = max_y |{i : key(yᵢ) = y}| / k` for samples drawn at a state or,
 * about an action a, `v = |{i : key(yᵢ) = key(a)}| / k` for samples drawn at its parent.
 *
 * An unreadable sample agrees with none, and is counted in `unscored`; if none can be read, the node fails.
 * Nodes of one batch with the same parent share its samples.
 *
 * @see Wang et al., "Self-Consistency Improves Chain of Thought Reasoning in Language Models", 2023.
 * @see Hao et al., "Reasoning with Language Model is Planning with World Model", 2023, confidence.
 * @see Qi et al., "Mutual Reasoning Makes Smaller LLMs Stronger Problem-Solvers", 2024.
 * @throws EspalierError `usage` if an option is out of range.
 */
export function selfConsistency<State = any, Action = any>(
  options: SelfConsistencyOptions<State, Action>,
): Evaluator<State, Action> {
  expectOptions(
    'selfConsistency',
    options,
    'about samples model policy key temperature topP maxTokens promptParts prompts',
  );
  const { about = 'state', samples = 8 } = options;
  expectOneOf('about', about, ['state', 'action']);
  expectInteger('samples', samples, { min: 1 });
  const { draw, keyOf, provenance } =
    options.model === undefined ? policySource(options) : modelSource(options);
  return {
    ...provenanceOf({ needsNotation: ['selfConsistency'] }, provenance),
    ...evaluateEach<State, Action>(about, (request) => {
      const drawn = new Map<unknown, Promise<Draws>>();
      return async ({ place, step }) => {
        const asked = drawn.get(place) ?? draw(place, request);
        drawn.set(place, asked);
        const draws = await asked;
        if (step === undefined) return shareOf(draws, mostCommon(draws.keys));
        try {
          const own = keyOf(step.action, request);
          return own === undefined ? noKey : shareOf(draws, own);
        } catch (error) {
          return failedBy(error, 'invalid', request.context);
        }
      };
    }),
  };
}

/**
 * Values actions by the share of the samples at their parent that proposed them: SC(s) of LATS. It is the node's prior,
 * and costs no call; if a policy gives explicit priors, those are the values.
 *
 * @see Zhou et al., "Language Agent Tree Search Unifies Reasoning, Acting, and Planning in Language Models", 2024,
 * evaluation.
 */
export function actionShare(): Evaluator {
  return {
    needs: 'proposed',
    evaluate: (nodes) => nodes.map(({ prior }) => valueInRange('the prior of a node', prior)),
  };
}

/** The keys of the readable samples, the number of all samples, and the failures of the others. */
interface Draws {
  readonly keys: readonly string[];
  readonly count: number;
  readonly failure: Failure | undefined;
}

interface Source<State, Action> {
  readonly draw: (
    place: NodeWithState<State, Action>,
    request: EvaluateRequest<State, Action>,
  ) => Promise<Draws>;
  /** The key of a node's own action. */
  readonly keyOf: (action: Action, request: EvaluateRequest<State, Action>) => string | undefined;
  readonly provenance: ReturnType<typeof provenanceOf>;
}

function policySource<State, Action>(options: PolicySamples<State, Action>): Source<State, Action> {
  const { policy, key, samples = 8 } = options;
  expectMethods('policy', policy, ['propose']);
  if (key !== undefined) expectFunction('key', key);
  const keyOf: Source<State, Action>['keyOf'] = (action, request) =>
    key === undefined ? notationOf(request).format(action).trim() : key(action);
  return {
    keyOf,
    provenance: provenanceOf(policy),
    async draw(place, request) {
      const { context, environment } = request;
      const random = context.random.split('self-consistency', place.id);
      const proposals = await policy.propose(place, {
        environment,
        context: contextWith(context, { random }),
        count: samples,
        offset: 0,
        independent: true,
        get remaining() {
          return request.remaining;
        },
      });
      const read = proposals.map((proposal) =>
        'failure' in proposal ? proposal.failure : keyOf(proposal.action, request),
      );
      return {
        keys: read.filter((one) => typeof one === 'string'),
        count: proposals.length,
        failure: read.find((one) => typeof one === 'object'),
      };
    },
  };
}

function modelSource<State, Action>(options: ModelSamples<State, Action>): Source<State, Action> {
  const { model, key, about, samples = 8, promptParts = [] } = options;
  // Excluded by the types, but not in JavaScript.
  const { policy }: { readonly policy?: unknown } = options;
  if (policy !== undefined) throw expectation('policy', 'left out beside a model', policy);
  expectModel('model', model);
  expectFunction('key', key);
  expectParts(promptParts);
  const { temperature = 1, topP, maxTokens = 512 } = options;
  const settings = requestSettings(model, { samples, maxTokens, temperature, topP });
  const prompts = withTexts(selfConsistencyPrompts, options.prompts);
  const finish = about === 'action' ? undefined : fill(prompts.texts.finish, {});
  return {
    keyOf: (action, request) => key(notationOf(request).format(action)),
    provenance: provenanceOf(
      provenanceOfModel(model, settings),
      { prompts: promptsOf(prompts) },
      ...promptParts,
    ),
    async draw(place, request) {
      const { context } = request;
      const notation = notationOf(request);
      const prompt = notation.prompt(place.state);
      const told = await withParts(prompt, promptParts, { ...request, node: place });
      const messages = finish === undefined ? told : withInstruction(told, finish);
      const asked = { ...settings, ...toolsShown(notation), messages };
      const { completions } = await context.generate(model, asked);
      const texts = completions.map(({ text }) => text);
      const keys = texts.flatMap((text) => key(text) ?? []);
      const message = `Expected a text with a key, got \`${texts[0]?.trim().slice(0, 80) ?? ''}\`.`;
      return { keys, count: texts.length, failure: { kind: 'parse', message } };
    },
  };
}

const noKey: Failed = {
  failure: {
    kind: 'invalid',
    message: 'Expected `key` to read the action of the node, got `undefined`.',
  },
};
const nothing: Failed = { failure: { kind: 'empty', message: 'Expected samples, got none.' } };

function shareOf({ keys, count, failure }: Draws, key: string | undefined): Evaluation | Failed {
  if (keys.length === 0 || key === undefined) {
    return count > 0 && failure !== undefined ? { failure } : nothing;
  }
  const agreeing = keys.filter((one) => one === key).length;
  const unscored = count - keys.length;
  const shown = key.length > 80 ? `${key.slice(0, 79)}…` : key;
  return {
    value: agreeing / count,
    rationale: `${agreeing} of ${count} agree on \`${shown}\`.`,
    ...(unscored > 0 && { unscored }),
  };
}

/** The most frequent key, ties going to the first. */
function mostCommon(keys: readonly string[]): string | undefined {
  const counts = new Map<string, number>();
  for (const key of keys) counts.set(key, (counts.get(key) ?? 0) + 1);
  const most = Math.max(...counts.values());
  return keys.find((key) => counts.get(key) === most);
}
