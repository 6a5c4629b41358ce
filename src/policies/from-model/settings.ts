import { expectInteger, expectNumber, expectTexts } from '../../base/expect.ts';
import type { Notation, Parsed } from '../../contracts/environment.ts';
import type { JsonValue } from '../../contracts/json.ts';
import type { Completion, LanguageModel } from '../../contracts/language-model.ts';
import type { PromptPart } from '../../contracts/prompt-part.ts';
import { toolsShown } from '../../prompting/tools-shown.ts';
import { jsonSchema, listSchema } from './prompts.ts';
import { readCalls, readJson, readText } from './read.ts';
import type { Settings } from './samples.ts';

/** Options common to all policies that ask a language model. */
export interface SamplingOptions<State = any, Action = any> {
  /** The model. */
  readonly model: LanguageModel;
  /**
   * The sampling temperature: a number from 0 up. At 0 all samples of a state are equal.
   *
   * @defaultValue 1
   */
  readonly temperature?: number;
  /** The probability mass to sample from, in (0, 1]. @defaultValue the model's default */
  readonly topP?: number;
  /**
   * The maximum tokens of one action: an integer from 1 up. A completion with several actions may have this many for
   * each.
   *
   * @defaultValue 256; 512 for `callTools`
   */
  readonly maxTokens?: number;
  /**
   * Stop texts of a sample.
   *
   * @defaultValue the `delimiter` of the notation, if it has one, the action is requested as text and the model
   * supports `stop`; else none
   */
  readonly stop?: readonly string[];
  /** The seed of sampling, for models that take one. @defaultValue none */
  readonly seed?: number;
  /** Text added to the prompt after the state, such as lessons. @defaultValue nothing */
  readonly promptParts?: readonly PromptPart<State, Action>[];
  /**
   * The number of samples drawn when an algorithm asks for all actions, because a model cannot list them: an integer
   * from 1 up.
   *
   * @defaultValue 5; 2 for `selfRefine`, 4 for `callTools` and `subQuestion`
   */
  readonly samples?: number;
  /**
   * How often a sample that cannot be parsed is sent back with the reason: an integer from 0 up. Each repair costs a
   * call.
   *
   * @defaultValue 0; 1 for `callTools` and `introspective`
   */
  readonly repairs?: number;
}

/** The form in which actions are requested. */
export type Form = 'text' | 'json' | 'several';

/** The default temperature of policies. */
export const usualTemperature = 1;

/** Settings common to all requests of a policy, from its options. */
export function settingsOf<State, Action>(options: SamplingOptions<State, Action>): Settings {
  const { model, temperature = usualTemperature, maxTokens = 256, topP, stop, seed } = options;
  const { capabilities } = model;
  expectNumber('temperature', temperature, { min: 0 });
  expectInteger('maxTokens', maxTokens, { min: 1 });
  if (topP !== undefined) expectNumber('topP', topP, { min: 0, max: 1 });
  if (stop !== undefined) expectTexts('stop', stop);
  if (seed !== undefined) expectInteger('seed', seed, { min: 0 });
  return {
    maxTokens,
    ...(capabilities.temperature === true && { temperature }),
    ...(topP !== undefined && { topP }),
    ...(stop !== undefined && { stop }),
    ...(seed !== undefined && { seed }),
  };
}

/** The model and the form of its answers. */
export interface Way {
  readonly model: LanguageModel;
  readonly form?: Form;
}

/** The same with the settings from the notation: the end of an action, its schema, and the tools that may be called. */
export function settingsFor<State, Action>(
  notation: Notation<State, Action>,
  settings: Settings,
  { model, form = 'text' }: Way,
): Settings {
  const { capabilities } = model;
  const calls = takesCalls(notation, { model, form });
  const isText = form === 'text' && notation.schema === undefined && !calls;
  const delimiter = isText && capabilities.stop === true ? notation.delimiter : undefined;
  const schema = capabilities.schema === true && !calls ? schemaOf(notation, form) : undefined;
  return {
    ...(delimiter !== undefined && { stop: [delimiter] }),
    ...settings,
    ...(schema !== undefined && { schema }),
    ...(form === 'text' ? toolsOffered(notation) : toolsShown(notation)),
  };
}

function toolsOffered<State, Action>({ tools }: Notation<State, Action>): Partial<Settings> {
  return tools === undefined ? {} : { tools, toolChoice: 'required' };
}

/** Whether actions are requested as tool calls. */
function takesCalls<State, Action>(
  { tools, called }: Notation<State, Action>,
  { model, form = 'text' }: Way,
): boolean {
  const isAble = model.capabilities.tools === true && form === 'text';
  return isAble && tools !== undefined && called !== undefined;
}

/** Returns a function that reads one action from an answer in the requested form. */
export function readerOf<State, Action>(
  notation: Notation<State, Action>,
  way: Way,
): (state: State, completion: Completion) => Parsed<Action> {
  const isJson = way.form === 'json' || notation.schema !== undefined;
  const read = takesCalls(notation, way) ? readCalls : isJson ? readJson : readText;
  return (state, completion) => read(notation, state, completion);
}

function schemaOf<State, Action>(
  notation: Notation<State, Action>,
  form: Form,
): JsonValue | undefined {
  if (form === 'several') return listSchema(notation);
  return notation.schema ?? (form === 'json' ? jsonSchema : undefined);
}
