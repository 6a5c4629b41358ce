import { EspalierError } from '../base/errors.ts';
import {
  expectation,
  expectInteger,
  expectMethods,
  expectNumber,
  expectText,
} from '../base/expect.ts';
import { expectOptions } from '../base/expect-options.ts';
import { failedBy, failureFrom } from '../base/failure.ts';
import { provenanceOfModel } from '../base/provenance.ts';
import type { CallContext } from '../contracts/context.ts';
import type { Environment } from '../contracts/environment.ts';
import type { Failure } from '../contracts/failure.ts';
import type { LanguageModel } from '../contracts/language-model.ts';
import type { Memory, Reflection } from '../contracts/memory.ts';
import type { SearchNode } from '../contracts/node.ts';
import type { Provenance } from '../contracts/provenance.ts';
import { notationOf } from '../prompting/notation.ts';
import { promptsOf, type Texts, withTexts } from '../prompting/prompts.ts';
import { contrastivePrompts } from './contrastive-prompts.ts';
import { type ReflectionContent, type Subject, writeLesson } from './contrastive-write.ts';
import { makeReflection } from './reflection.ts';
import { type SituationOptions, situationOf } from './situation.ts';
import { estimatedOutcome, mostSurprising, rewardedOutcome, surprisesOf } from './surprise.ts';

/** Options of {@link contrastive}. */
export interface ContrastiveOptions<State = any> extends SituationOptions<State> {
  /** The model that reflects. */
  readonly model: LanguageModel;
  /** The store of reflections. */
  readonly memory: Memory;
  /** The problem, as text. @defaultValue the name of the environment */
  readonly task?: string;
  /**
   * The steps to reflect on: `most` is the maximum number, `threshold` the least surprise, in [0, 1]. R-MCTS's scripts
   * use 3 from 0.5 on (its code: from 0.1 on). @defaultValue 3 from 0.5 on
   */
  readonly policy?: Partial<Readonly<Record<'most' | 'threshold', number>>>;
  /**
   * The judgements to reflect on, likewise. R-MCTS's scripts use 1 from 0.5 on (its code: 2). @defaultValue 1 from 0.5
   * on
   */
  readonly value?: Partial<Readonly<Record<'most' | 'threshold', number>>>;
  /** The mean of Q above which a path of unknown outcome counts as solved, in [0, 1]; R-MCTS's. @defaultValue 0.7 */
  readonly solvedAbove?: number;
  /** The requested maximum words of a lesson: an integer from 1 up; R-MCTS's. @defaultValue 100 */
  readonly maxWords?: number;
  /** The maximum tokens of one answer: an integer from 1 up. @defaultValue 512 */
  readonly maxTokens?: number;
  /**
   * Texts to replace. `expect`, with the slot `{action}`, asks what a step will lead to; `learn` shows what it led to
   * and asks for the lesson, with `{outcome}`, `{end}`, `{words}` and `{form}`; `judged`, with these and `{judgement}`
   * and `{reason}`, shows a judgement and what came of it. For slots: `noReason`; `ended` in place of what followed;
   * `solved` or `unsolved` for `{end}`; `asJson` or `asText` for `{form}`.
   */
  readonly prompts?: Texts<
    | 'asJson'
    | 'asText'
    | 'ended'
    | 'expect'
    | 'judged'
    | 'learn'
    | 'noReason'
    | 'solved'
    | 'unsolved'
  >;
}

/** The result of a reflection. */
export interface ReflectionReport {
  /** The known or estimated outcome of the path, in [0, 1]. */
  readonly outcome: number;
  /** Whether the outcome was estimated. */
  readonly estimated: boolean;
  /** All reflections written: first on judgements, then on steps, most surprising first. */
  readonly written: readonly Reflection[];
  /** Those that were new to the memory. */
  readonly learnt: readonly Reflection[];
  /** The number of answers without a readable lesson. */
  readonly unreadable: number;
  /** Failed calls and failures to store that lost reflections. */
  readonly failures: readonly Failure[];
  /** The number of reflections that the budget did not cover. */
  readonly unaffordable: number;
}

/**
 * Contrastive reflection: where expectation and reality differ most, a model first states what it expects, then sees
 * the outcome, and writes a lesson from the difference.
 *
 * - For the policy: `u_t = |V(s_{t+1}) − Q(s_t, a_t)|`, V at the last step replaced by the outcome. Two turns.
 * - For the value: `u_t = |V(s_{t+1}) − Q(s_{t+1}, a_{t+1})|`, the last Q replaced by the outcome. One turn, which
 *   shows the judgement and its outcome.
 *
 * Failed steps are never picked. Each reflection names its node. Values and outcomes are in
 * [0, 1] here; R-MCTS's judges give up to ±1, and its outcome of a judgement is ±1.
 *
 * @throws EspalierError `usage` for options out of range; from `reflect`, errors that end the search (an abort, a full
 * disk).
 * @see Yu et al., "ExACT: Teaching AI Agents to Explore with Reflective-MCTS and Exploratory Learning", 2024,
 * contrastive self-reflection, and its code.
 */
export function contrastive<State = any, Action = any>(
  options: ContrastiveOptions<State>,
): Provenance & {
  /**
   * Reflects on the steps and judgements of a path that did not turn out as expected, and stores the lessons. A failed
   * call or a spent budget loses only that reflection.
   *
   * @param path - The nodes from the root to the end. They may come from several trees, one for each step.
   */
  reflect(
    path: readonly SearchNode<State, Action>[],
    request: {
      /** The environment, with its dynamics and notation. */
      readonly environment: Environment<State, Action>;
      /** Access to the model and the memory. */
      readonly context: CallContext;
      /**
       * The known outcome, in [0, 1]. Lessons from a gold answer depend on it: stamp the trees and data that use them.
       *
       * @defaultValue the sum of the rewards, within [0, 1], if the environment has rewarded the end of the path; else 1
       * if the mean of Q over the steps taken is above `solvedAbove`, and 0 if not
       */
      readonly outcome?: number;
    },
  ): Promise<ReflectionReport>;
} {
  expectOptions(
    'contrastive',
    options,
    'model memory task policy value solvedAbove maxWords maxTokens prompts situation',
  );
  const rules = rulesOf(options);
  return {
    needsNotation: ['contrastive'],
    ...provenanceOfModel(options.model, { maxTokens: rules.maxTokens }),
    prompts: promptsOf(rules.prompts),
    reflect: (path, request) => reflect({ ...options, ...rules }, path, request),
  };
}

type Rules = ReturnType<typeof rulesOf>;

/** Options with their defaults. */
type ContrastiveSettings<State> = Omit<ContrastiveOptions<State>, keyof Rules> & Rules;

function rulesOf<State>(options: ContrastiveOptions<State>) {
  const { solvedAbove = 0.7, maxWords = 100, maxTokens = 512 } = options;
  expectMethods('model', options.model, ['generate']);
  expectMethods('memory', options.memory, ['remember']);
  if (options.task !== undefined) expectText('task', options.task);
  expectNumber('solvedAbove', solvedAbove, { min: 0, max: 1 });
  expectInteger('maxWords', maxWords, { min: 1 });
  expectInteger('maxTokens', maxTokens, { min: 1 });
  expectOptions('policy', options.policy ?? {}, 'most threshold');
  expectOptions('value', options.value ?? {}, 'most threshold');
  const policy = { most: 3, threshold: 0.5, ...options.policy };
  const value = { most: 1, threshold: 0.5, ...options.value };
  for (const [name, { most, threshold }] of Object.entries({ policy, value })) {
    expectInteger(`${name}.most`, most, { min: 0 });
    expectNumber(`${name}.threshold`, threshold, { min: 0, max: 1 });
  }
  const prompts = withTexts(contrastivePrompts, options.prompts);
  return { policy, value, solvedAbove, maxWords, maxTokens, prompts };
}

/** The result of one reflection. */
type Attempt =
  | { readonly failure: Failure }
  | { readonly lost: 'budget' | 'unreadable' }
  | { readonly reflection: Reflection };

async function reflect<State, Action>(
  settings: ContrastiveSettings<State>,
  path: readonly SearchNode<State, Action>[],
  {
    context,
    environment,
    outcome: given,
  }: Pick<Subject<State, Action>, 'context' | 'environment'> & { readonly outcome?: number },
): Promise<ReflectionReport> {
  if (given !== undefined) expectNumber('outcome', given, { min: 0, max: 1 });
  const known = given ?? rewardedOutcome(path);
  const outcome = known ?? estimatedOutcome(path, settings.solvedAbove);
  const kinds = ['value', 'policy'] as const;
  // Nodes are live, so the needed values are read before the first call.
  const attempts = await Promise.all(
    kinds.flatMap((kind) =>
      mostSurprising(surprisesOf(kind, path, outcome), settings[kind]).map((surprise) =>
        attempt(settings, { context, environment, outcome, kind, surprise }),
      ),
    ),
  );
  const written = attempts.flatMap((one) => ('reflection' in one ? [one.reflection] : []));
  const kept = await keep(settings.memory, written, context);
  const countOf = (reason: string) =>
    attempts.filter((one) => 'lost' in one && one.lost === reason).length;
  return {
    ...{ outcome, estimated: known === undefined, written, learnt: kept.learnt },
    unreadable: countOf('unreadable'),
    failures: [
      ...attempts.flatMap((one) => ('failure' in one ? [one.failure] : [])),
      ...kept.failures,
    ],
    unaffordable: countOf('budget'),
  };
}

/** Reflections that were paid for are reported even if they cannot be stored. */
async function keep(
  memory: Memory,
  written: readonly Reflection[],
  context: CallContext,
): Promise<Pick<ReflectionReport, 'failures' | 'learnt'>> {
  if (written.length === 0) return { learnt: [], failures: [] };
  try {
    return { learnt: await memory.remember(written, context), failures: [] };
  } catch (error) {
    if (isSpent(error, context)) return { learnt: [], failures: [failureFrom(error, 'call')] };
    return { learnt: [], failures: [failedBy(error, 'call', context).failure] };
  }
}

function isSpent(error: unknown, { signal }: CallContext): boolean {
  return EspalierError.isInstance(error) && error.code === 'budget' && !signal.aborted;
}

async function attempt<State, Action>(
  settings: ContrastiveSettings<State>,
  subject: Subject<State, Action>,
): Promise<Attempt> {
  const { context } = subject;
  try {
    const content = contentOf(settings, subject);
    const lesson = await writeLesson(settings, subject, content);
    if (lesson === undefined) return { lost: 'unreadable' };
    return { reflection: makeReflection({ ...content, lesson }) };
  } catch (error) {
    if (isSpent(error, context)) return { lost: 'budget' };
    return failedBy(error, 'call', context);
  }
}

/** The content of a reflection: a step and its situation, or a judged state; and what followed. */
function contentOf<State, Action>(
  settings: ContrastiveSettings<State>,
  subject: Subject<State, Action>,
): ReflectionContent {
  const { kind, surprise, outcome, environment } = subject;
  const { task = environment.name, model, prompts } = settings;
  const { node, next, expected, realised } = surprise;
  const before = node.parent;
  if (before.kind === 'proposed') throw expectation('path', 'nodes with states', before.kind);
  const { ended, solved, unsolved } = prompts.texts;
  const end = `${ended} ${outcome > 0.5 ? solved : unsolved}`;
  const after = situationOf(settings, subject, node.state);
  const led = next === undefined ? `${after}\n\n${end}` : after;
  const followed = next === undefined ? end : situationOf(settings, subject, next.state);
  return {
    ...{ kind, task },
    situation: kind === 'policy' ? situationOf(settings, subject, before.state) : after,
    action: notationOf(subject).format(node.action),
    outcome: kind === 'policy' ? led : followed,
    source: {
      ...{ environment: environment.name, node: node.id, expected, realised },
      model: `${model.provider}:${model.modelId}`,
    },
  };
}
