import { expectInteger, expectMethods, expectNumber } from '../runtime/expect.ts';
import { failureOf, isFailure } from '../runtime/failure.ts';
import type { CallContext } from '../spec/context.ts';
import type { Notation } from '../spec/environment.ts';
import type { Failure } from '../spec/failure.ts';
import type {
  Completion,
  GenerateRequest,
  LanguageModel,
  Message,
} from '../spec/language-model.ts';
import type { Policy, Proposal } from '../spec/policy.ts';
import { stateOf } from './state-of.ts';

/** How a language model is asked for actions. */
export interface FromModelOptions<State, Action> {
  /** The model. */
  readonly model: LanguageModel;
  /** How states and actions look to it: as a rule the `notation` of the environment. */
  readonly notation: Notation<State, Action>;
  /**
   * How many samples are drawn where an algorithm asks for all actions, because a model cannot list them:
   * an integer from 1 up.
   *
   * @defaultValue 5
   */
  readonly samples?: number;
  /**
   * The temperature of sampling: a number from 0 up. At 0 all samples of a state are alike.
   *
   * @defaultValue 1
   */
  readonly temperature?: number;
  /** The probability mass to sample from, in (0, 1]. @defaultValue what the model does */
  readonly topP?: number;
  /** The limit on the tokens of one sample: an integer from 1 up. @defaultValue 256 */
  readonly maxTokens?: number;
  /** Texts at which a sample ends. @defaultValue none */
  readonly stop?: readonly string[];
  /** The seed of sampling, for models that take one. @defaultValue none */
  readonly seed?: number;
  /**
   * How often a sample that cannot be read as an action is sent back with the reason: an integer from 0
   * up. Each time costs a call.
   *
   * @defaultValue 0
   */
  readonly repairs?: number;
}

/** The prompt after an answer that is no action: the conversation, the answer, and what is wrong with it. */
export function repairPrompt(
  messages: readonly Message[],
  answer: string,
  { message }: Failure,
): readonly Message[] {
  return [
    ...messages,
    { role: 'assistant', content: answer },
    { role: 'user', content: `${message} Answer again, in the same form.` },
  ];
}

/**
 * A policy that asks a language model: the prompt of the state is the question, each sample is an action
 * or a failure that says why it is none.
 *
 * It gives no priors, so that the prior of an action is its share of the samples drawn at its node: an
 * unbiased estimate of π(a | s) at the temperature of sampling. All calls go through the context: each
 * sample is one call in the ledger, and equal states share their samples.
 */
export function fromModel<State, Action>(
  options: FromModelOptions<State, Action>,
): Policy<State, Action> {
  const { model, notation, samples = 5, repairs = 0 } = options;
  expectMethods('model', model, ['generate']);
  expectMethods('notation', notation, ['prompt', 'format', 'parse']);
  expectInteger('samples', samples, { min: 1 });
  expectInteger('repairs', repairs, { min: 0 });
  const settings = settingsOf(options);
  return {
    async propose(node, { context, count, offset }) {
      const state = stateOf(node);
      const messages = notation.prompt(state);
      const wanted = Number.isFinite(count) ? count : samples;
      const request = { ...settings, messages, samples: wanted, offset };
      const { completions } = await context.generate(model, request);
      const dialogue = { model, settings, notation, state, context };
      return Promise.all(
        completions.map((completion, place) =>
          readOrRepair(dialogue, { messages, completion, index: offset + place, repairs }),
        ),
      );
    },
  };
}

type Settings = Omit<GenerateRequest, 'messages' | 'samples' | 'offset'>;

function settingsOf<State, Action>(options: FromModelOptions<State, Action>): Settings {
  const { model, temperature = 1, maxTokens = 256, topP, stop, seed } = options;
  expectNumber('temperature', temperature, { min: 0 });
  expectInteger('maxTokens', maxTokens, { min: 1 });
  if (topP !== undefined) expectNumber('topP', topP, { min: 0, max: 1 });
  if (seed !== undefined) expectInteger('seed', seed, { min: 0 });
  return {
    maxTokens,
    ...(model.capabilities.temperature === true && { temperature }),
    ...(topP !== undefined && { topP }),
    ...(stop !== undefined && { stop }),
    ...(seed !== undefined && { seed }),
  };
}

interface Dialogue<State, Action> {
  readonly model: LanguageModel;
  readonly settings: Settings;
  readonly notation: Notation<State, Action>;
  readonly state: State;
  readonly context: CallContext;
}

interface Answer {
  readonly messages: readonly Message[];
  readonly completion: Completion;
  /** The index of the sample, which its repairs keep. */
  readonly index: number;
  readonly repairs: number;
}

async function readOrRepair<State, Action>(
  dialogue: Dialogue<State, Action>,
  { messages, completion, index, repairs }: Answer,
): Promise<Proposal<Action>> {
  const action = read(dialogue, completion);
  if (!isFailure(action)) return { action, completion };
  if (repairs === 0 || action.kind === 'empty') return { failure: action };
  const { model, settings, context } = dialogue;
  const turns = repairPrompt(messages, completion.text, action);
  try {
    const request = { ...settings, messages: turns, samples: 1, offset: index };
    const [repaired = completion] = (await context.generate(model, request)).completions;
    const answer = { messages: turns, completion: repaired, index, repairs: repairs - 1 };
    return await readOrRepair(dialogue, answer);
  } catch (error) {
    return { failure: failureOf(error, 'call', context) };
  }
}

/** The line at which an answer was cut off is not read: `= 2` may have been on its way to `= 24`. */
function read<State, Action>(
  { notation, state }: Dialogue<State, Action>,
  { text, finishReason }: Completion,
): Action | Failure {
  const isCut = finishReason === 'length';
  const whole = isCut ? text.slice(0, text.lastIndexOf('\n') + 1) : text;
  if (whole.trim() !== '') return notation.parse(whole, state);
  return isCut
    ? { kind: 'parse', message: 'Expected an action, got an answer that was cut off.' }
    : { kind: 'empty', message: 'Expected an action, got no text.' };
}
