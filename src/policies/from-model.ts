import {
  expectation,
  expectInteger,
  expectMethods,
  expectNumber,
  expectOneOf,
} from '../runtime/expect.ts';
import type { Notation } from '../spec/environment.ts';
import type { JsonValue } from '../spec/json.ts';
import type { Completion, LanguageModel, Message } from '../spec/language-model.ts';
import type { SearchNode } from '../spec/node.ts';
import type { Policy } from '../spec/policy.ts';
import {
  jsonRequest,
  jsonSchema,
  listRequest,
  listSchema,
  withRequest,
} from './from-model-prompts.ts';
import { readJson, readList, readText } from './from-model-read.ts';
import {
  proposeSamples,
  proposeVaried,
  type SampleRange,
  type Settings,
} from './from-model-samples.ts';
import { proposeSeveral } from './from-model-several.ts';
import { stateOf } from './state-of.ts';

export { repairPrompt } from './from-model-prompts.ts';

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
  /**
   * The limit on the tokens of one action: an integer from 1 up. A completion that holds several may have as
   * many times as many.
   *
   * @defaultValue 256
   */
  readonly maxTokens?: number;
  /**
   * Texts at which a sample ends.
   *
   * @defaultValue the `delimiter` of the notation, where it has one, the form is `text` and the model honours
   * `stop`; else none
   */
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
  /**
   * The form of an answer.
   *
   * - `text`: an action as the notation has it. JSON where the notation is one of JSON.
   * - `json`: an action wrapped in JSON, for models that write prose around everything else.
   * - `several`: as many different actions as are wanted, in one completion as JSON: for models that take
   *   neither `n` nor a temperature, and would write the same again.
   *
   * Models that honour `schema` are bound to the JSON. In the answers of others it is looked for, in prose
   * and fences, and read with their usual slips. JSON that does not end is a failure.
   *
   * @defaultValue `'text'`
   */
  readonly form?: 'text' | 'json' | 'several';
  /**
   * Instructions that differ from sample to sample, such as ways to go about the problem, for models that
   * are asked without a temperature: the sample with index `i` gets the one at `i` modulo their number,
   * behind all else that it is told. One text or more, none of them empty.
   *
   * @defaultValue none
   */
  readonly vary?: readonly string[];
}

/**
 * A policy that asks a language model: the prompt of the state is the question, each sample is an action
 * or a failure that says why it is none.
 *
 * It gives no priors, so that the prior of an action is its share of the samples drawn at its node: an
 * unbiased estimate of π(a | s) at the temperature of sampling. All calls go through the context: each
 * sample is one call in the ledger, and equal states share their samples.
 *
 * With the form `several` a request for `count` actions is one completion and so one call in the ledger,
 * whatever `count` is, with `offset` as its index: asked again with another `offset` or `count`, the model
 * is asked anew. It is told which actions the node has already, unless independent samples are wanted. The
 * answer becomes `count` proposals: those that are missing or cannot be read are failures, and equal ones
 * add up their shares. The shares then say how often an action was listed, and nothing of π. An answer is
 * sent back for repair only where none of its actions can be used.
 */
export function fromModel<State, Action>(
  options: FromModelOptions<State, Action>,
): Policy<State, Action> {
  const { model, notation, samples = 5, repairs = 0, form = 'text', vary } = options;
  expectMethods('model', model, ['generate']);
  expectMethods('notation', notation, ['prompt', 'format', 'parse']);
  expectInteger('samples', samples, { min: 1 });
  expectInteger('repairs', repairs, { min: 0 });
  expectOneOf('form', form, ['text', 'json', 'several']);
  if (vary !== undefined) expectInstructions(vary);
  const settings = settingsOf(options, form);
  return {
    async propose(node, request) {
      const state = stateOf(node);
      const { context, offset, independent = false } = request;
      const range = { offset, count: Number.isFinite(request.count) ? request.count : samples };
      const base = { model, settings, context, repairs };
      if (form === 'several') {
        const messages = listPrompt({ notation, vary, independent }, node, range);
        const read = (completion: Completion) => readList(notation, state, completion);
        return proposeSeveral({ ...base, messages, read }, range);
      }
      const prompt = notation.prompt(state);
      const isWrapped = form === 'json' && notation.schema === undefined;
      const messages = isWrapped ? withRequest(prompt, jsonRequest) : prompt;
      const reader = form === 'json' || notation.schema !== undefined ? readJson : readText;
      const read = (completion: Completion) => reader(notation, state, completion);
      const dialogue = { ...base, messages, read };
      return vary === undefined
        ? proposeSamples(dialogue, range)
        : proposeVaried(dialogue, range, vary);
    },
  };
}

function settingsOf<State, Action>(
  options: FromModelOptions<State, Action>,
  form: 'text' | 'json' | 'several',
): Settings {
  const { model, notation, temperature = 1, maxTokens = 256, topP, seed } = options;
  const { capabilities } = model;
  expectNumber('temperature', temperature, { min: 0 });
  expectInteger('maxTokens', maxTokens, { min: 1 });
  if (topP !== undefined) expectNumber('topP', topP, { min: 0, max: 1 });
  if (seed !== undefined) expectInteger('seed', seed, { min: 0 });
  const isText = form === 'text' && notation.schema === undefined;
  const delimiter = isText && capabilities.stop === true ? notation.delimiter : undefined;
  const stop = options.stop ?? (delimiter === undefined ? undefined : [delimiter]);
  const schema = capabilities.schema === true ? schemaOf(notation, form) : undefined;
  return {
    maxTokens,
    ...(capabilities.temperature === true && { temperature }),
    ...(topP !== undefined && { topP }),
    ...(stop !== undefined && { stop }),
    ...(seed !== undefined && { seed }),
    ...(schema !== undefined && { schema }),
  };
}

function schemaOf<State, Action>(
  notation: Notation<State, Action>,
  form: 'text' | 'json' | 'several',
): JsonValue | undefined {
  if (form === 'several') return listSchema(notation);
  return notation.schema ?? (form === 'json' ? jsonSchema : undefined);
}

interface ListOptions<State, Action> {
  readonly notation: Notation<State, Action>;
  readonly vary: readonly string[] | undefined;
  readonly independent: boolean;
}

/** The prompt of a state with the request for a list behind it. */
function listPrompt<State, Action>(
  { notation, vary, independent }: ListOptions<State, Action>,
  node: SearchNode<State, Action>,
  { count, offset }: SampleRange,
): readonly Message[] {
  const request = listRequest(notation, {
    count,
    known: independent ? [] : node.children.map(({ action }) => notation.format(action)),
    instructions:
      vary === undefined
        ? []
        : Array.from({ length: count }, (_, place) => vary[(offset + place) % vary.length] ?? ''),
  });
  return withRequest(notation.prompt(stateOf(node)), request);
}

function expectInstructions(vary: readonly string[]): void {
  const isSound =
    Array.isArray(vary) &&
    vary.length > 0 &&
    vary.every((text: unknown) => typeof text === 'string' && text.trim() !== '');
  if (!isSound) throw expectation('vary', 'one text or more, none of them empty', vary);
}
