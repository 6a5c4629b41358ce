import { expectation, expectInteger, expectMethods, expectOneOf } from '../runtime/expect.ts';
import { failureOf } from '../runtime/failure.ts';
import type { CallContext } from '../spec/context.ts';
import type { Notation } from '../spec/environment.ts';
import type { Evaluation, Evaluator } from '../spec/evaluator.ts';
import type { Failure } from '../spec/failure.ts';
import type {
  Completion,
  GenerateRequest,
  LanguageModel,
  Message,
  TokenLogprob,
} from '../spec/language-model.ts';
import type { SearchNode } from '../spec/node.ts';
import { noState } from './no-state.ts';

/** The words of a judgement, and the value in [0, 1] of each. Two or more, all different. */
export type JudgementScale = Readonly<Record<string, number>>;

/** How a language model is asked for a judgement. */
export interface JudgeOptions<State, Action> {
  /** The model. */
  readonly model: LanguageModel;
  /** How states and actions look to it: as a rule the `notation` of the environment. */
  readonly notation: Notation<State, Action>;
  /**
   * What is judged: the state that an action led to, or the action before it is taken.
   *
   * @defaultValue `'state'`
   */
  readonly about?: 'action' | 'state';
  /** The words it may answer with. @defaultValue sure 1, likely 0.5, impossible 0 */
  readonly scale?: JudgementScale;
  /**
   * Whether it is to give a reason, which becomes the rationale of the evaluation. Then the value is that
   * of the words it writes, also where the model tells log-probabilities.
   *
   * @defaultValue false
   */
  readonly reason?: boolean;
  /**
   * How many answers are averaged: an integer from 1 up.
   *
   * @defaultValue 1 where the value is read from log-probabilities, else 3
   */
  readonly samples?: number;
  /** The limit on the tokens of one answer. @defaultValue 1 where log-probabilities are read, 64 with a reason, else 8 */
  readonly maxTokens?: number;
}

const usual: JudgementScale = { sure: 1, likely: 0.5, impossible: 0 };

/**
 * The prompt of a judgement: that of the state, with the request behind its last message, so that the
 * judgement of a state and the proposals in it share their prefix.
 *
 * @param messages - The prompt of the state.
 * @param words - The words that may be answered.
 * @param options - The step that is judged, where it is not the state; and whether a reason is wanted.
 */
export function judgePrompt(
  messages: readonly Message[],
  words: readonly string[],
  options: { readonly step?: string; readonly reason?: boolean } = {},
): readonly Message[] {
  const request = judgeRequest(words, options);
  const last = messages.at(-1);
  return last?.role === 'user'
    ? [...messages.slice(0, -1), { role: 'user', content: `${last.content}\n\n${request}` }]
    : [...messages, { role: 'user', content: request }];
}

function judgeRequest(
  words: readonly string[],
  { step, reason = false }: { readonly step?: string; readonly reason?: boolean },
): string {
  const list = `${words.slice(0, -1).join(', ')} or ${words.at(-1)}`;
  const from = step === undefined ? 'from here' : 'after this step';
  return [
    ...(step === undefined ? [] : [`Proposed step: ${step}`, '']),
    `Do not write a step. Judge how likely the goal is to be reached ${from}, in one word:`,
    reason ? `${list}. Then write a colon and the reason.` : `${list}.`,
  ].join('\n');
}

/**
 * Values nodes by asking a language model for one of a few words, as Tree of Thoughts does.
 *
 * Where the model tells log-probabilities, one call is enough, and the value is the expectation over the
 * words: `Σ p(w) v(w) / Σ p(w)`, read from the first token of the answer. Elsewhere it is the mean over
 * samples; an answer that begins with none of the words does not count, and where none counts the node
 * fails.
 *
 * @see Yao et al., "Tree of Thoughts: Deliberate Problem Solving with Large Language Models", 2023,
 * section 3, value prompts.
 */
export function judge<State, Action>(
  options: JudgeOptions<State, Action>,
): Evaluator<State, Action> {
  const judgement = settingsOf(options);
  return {
    needs: judgement.about === 'action' ? 'proposed' : 'realised',
    evaluate: (nodes, { context }) =>
      Promise.all(nodes.map((node) => evaluate(judgement, node, context))),
  };
}

interface Judgement<State, Action> {
  readonly model: LanguageModel;
  readonly notation: Notation<State, Action>;
  readonly about: 'action' | 'state';
  readonly scale: JudgementScale;
  readonly reason: boolean;
  readonly reads: 'logprobs' | 'text';
  readonly settings: Omit<GenerateRequest, 'messages'>;
}

function settingsOf<State, Action>(options: JudgeOptions<State, Action>): Judgement<State, Action> {
  const { model, notation, about = 'state', scale = usual, reason = false } = options;
  expectMethods('model', model, ['generate']);
  expectMethods('notation', notation, ['prompt', 'format']);
  expectOneOf('about', about, ['state', 'action']);
  expectScale(scale);
  const reads = model.capabilities.logprobs === true && !reason ? 'logprobs' : 'text';
  const { samples = reads === 'logprobs' ? 1 : 3 } = options;
  const { maxTokens = reads === 'logprobs' ? 1 : reason ? 64 : 8 } = options;
  expectInteger('samples', samples, { min: 1 });
  expectInteger('maxTokens', maxTokens, { min: 1 });
  const temperature = samples === 1 ? 0 : 1;
  const settings = {
    samples,
    maxTokens,
    ...(model.capabilities.temperature === true && { temperature }),
    ...(reads === 'logprobs' && { logprobs: true, topLogprobs: 20 }),
  };
  return { model, notation, about, scale, reason, reads, settings };
}

function expectScale(scale: JudgementScale): void {
  const words = Object.keys(scale);
  const isSound =
    words.length >= 2 &&
    Object.values(scale).every((value) => value >= 0 && value <= 1) &&
    new Set(words.map((word) => word[0]?.toLowerCase())).size === words.length;
  if (isSound) return;
  throw expectation(
    'scale',
    'two or more words that begin with different letters, each with a value from 0 to 1',
    scale,
  );
}

async function evaluate<State, Action>(
  judgement: Judgement<State, Action>,
  node: SearchNode<State, Action>,
  context: CallContext,
): Promise<Evaluation | Failure> {
  const { model, settings, reads } = judgement;
  try {
    const messages = questionOf(judgement, node);
    if (messages === undefined) return noState;
    const { completions } = await context.generate(model, { ...settings, messages });
    return reads === 'logprobs'
      ? average(judgement, completions, valueOfTokens)
      : average(judgement, completions, valueOfText);
  } catch (error) {
    return failureOf(error, 'call', context);
  }
}

/** The prompt of the state, with the request behind its last message. */
function questionOf<State, Action>(
  { notation, about, scale, reason }: Judgement<State, Action>,
  node: SearchNode<State, Action>,
): readonly Message[] | undefined {
  const words = Object.keys(scale);
  if (about === 'state' || node.kind === 'root') {
    if (node.kind === 'proposed') return undefined;
    return judgePrompt(notation.prompt(node.state), words, { reason });
  }
  const { parent, action } = node;
  if (parent.kind === 'proposed') return undefined;
  const step = notation.format(action);
  return judgePrompt(notation.prompt(parent.state), words, { step, reason });
}

/** A value, or nothing where an answer could not be read. */
type Reader = (scale: JudgementScale, completion: Completion) => number | undefined;

function average<State, Action>(
  { scale, reason }: Judgement<State, Action>,
  completions: readonly Completion[],
  reader: Reader,
): Evaluation | Failure {
  const read = completions.flatMap((completion) => {
    const value = reader(scale, completion);
    return value === undefined ? [] : [{ value, text: completion.text.trim() }];
  });
  const [first] = read;
  if (first === undefined) {
    const words = Object.keys(scale).join(', ');
    const text = completions[0]?.text.trim().slice(0, 80) ?? '';
    return { kind: 'parse', message: `Expected one of the words ${words}, got \`${text}\`.` };
  }
  const sum = read.reduce((total, { value }) => total + value, 0);
  return {
    value: Math.min(1, sum / read.length),
    ...(reason && { rationale: first.text }),
  };
}

/** The expectation over the words, from what the model could have written first. */
function valueOfTokens(scale: JudgementScale, { logprobs = [], text }: Completion) {
  const first = logprobs[0];
  if (first === undefined) return valueOfText(scale, { text });
  const { mass, value } = expectationOf(scale, first);
  return mass > 0 ? value / mass : undefined;
}

function expectationOf(scale: JudgementScale, first: TokenLogprob) {
  let mass = 0;
  let value = 0;
  for (const { token, logprob } of first.top ?? [first]) {
    const word = wordOf(scale, token);
    if (word === undefined) continue;
    const probability = Math.exp(logprob);
    mass += probability;
    value += probability * (scale[word] ?? 0);
  }
  return { mass, value };
}

function valueOfText(scale: JudgementScale, { text }: Completion): number | undefined {
  const word = wordOf(scale, /[\p{L}\p{N}]+/u.exec(text)?.[0] ?? '', { whole: true });
  return word === undefined ? undefined : scale[word];
}

/** The word of the scale that a token begins or holds. */
function wordOf(
  scale: JudgementScale,
  token: string,
  { whole = false }: { readonly whole?: boolean } = {},
): string | undefined {
  const text = token.trim().toLowerCase();
  if (text === '') return undefined;
  return Object.keys(scale).find((word) => {
    const lower = word.toLowerCase();
    return whole ? lower === text : lower.startsWith(text) || text.startsWith(lower);
  });
}
