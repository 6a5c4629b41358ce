import { expectation, expectFunction, expectOneOf } from '../../base/expect.ts';
import { expectOptions } from '../../base/expect-options.ts';
import type { Notation } from '../../contracts/environment.ts';
import type { Completion } from '../../contracts/language-model.ts';
import type { SearchNode } from '../../contracts/node.ts';
import type { Policy } from '../../contracts/policy.ts';
import { askBehind } from '../../prompting/prompt-parts.ts';
import { fill, promptsOf, type Texts, withTexts } from '../../prompting/prompts.ts';
import { withPriors } from '../priors.ts';
import { type Asked, asking, expectSampling } from './asking.ts';
import { fromModelPrompts, type ListRequest, listRequest } from './prompts.ts';
import { readList } from './read.ts';
import { proposeSamples, proposeVaried, type SampleRange } from './samples.ts';
import { type SamplingOptions, settingsOf } from './settings.ts';
import { proposeSeveral } from './several.ts';

/** How a language model is asked for actions. */
export interface FromModelOptions<State = any, Action = any>
  extends SamplingOptions<State, Action> {
  /**
   * The form of an answer.
   *
   * - `text`: an action as the notation has it: a call where it has tools and the model takes them, JSON where it is
   *   a notation of JSON.
   * - `json`: an action wrapped in JSON, for models that write prose around everything else.
   * - `several`: as many different actions as are wanted, in one completion as JSON: for models that take
   *   neither `n` nor a temperature, and would write the same again.
   *
   * Models that support `schema` are bound to the JSON. In the answers of others it is looked for, in prose
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
  /**
   * P(s, a) of an action from the completion in which it was read, such as {@link sequenceProbability}: a
   * finite number from 0 up. The model is asked for log-probabilities then, where it tells them; with the form
   * `several` it is not, because they would belong to the whole list.
   *
   * Priors are taken as they are, as in MCTS-DPO and AlphaMath: those of siblings need not sum to 1, and may
   * sum to more. Of equal actions the first one counts. Where the rule gives `undefined` for one action of a
   * request, none of that request has a prior.
   *
   * @defaultValue none: the prior of an action is its share of the samples
   */
  readonly prior?: (completion: Completion) => number | undefined;
  /**
   * Texts to replace: `json` asks for one action as JSON, in a notation that has none of its own; `listOfTexts` and
   * `listOfObjects`, with the slot `{actions}`, for a list in a notation of text or of JSON; `one` and `several`, with
   * `{count}`, say how many; `item`, with `{number}` and `{instruction}`, says what varies; `known`, with `{known}`,
   * names actions that are there; `repair`, with `{problem}`, sends an answer back that is no action.
   */
  readonly prompts?: Texts<
    'item' | 'json' | 'known' | 'listOfObjects' | 'listOfTexts' | 'one' | 'repair' | 'several'
  >;
}

/**
 * A policy that asks a language model: the prompt of the state is the question, each sample is an action
 * or a failure that says why it is none.
 *
 * Without the option `prior` it gives none, so that the prior of an action is its share of the samples drawn
 * at its node: an unbiased estimate of π(a | s) at the temperature of sampling. All calls go through the
 * context: each sample is one call in the ledger, and equal states share their samples.
 *
 * Where the notation has tools and the model takes them, each sample is asked for as a call, and read by `called`; what
 * is text without a call is read by `parse`. A repair then shows what is wrong as what the call returned.
 *
 * With the form `several` a request for `count` actions is one completion and so one call in the ledger,
 * whatever `count` is, with `offset` as its index: asked again with another `offset` or `count`, the model
 * is asked anew. It is told which actions the node has already, unless independent samples are wanted. The
 * answer becomes `count` proposals: those that are missing or cannot be read are failures, and equal ones
 * add up their shares. The shares then say how often an action was listed, and nothing of π. An answer is
 * sent back for repair only where none of its actions can be used.
 */
export function fromModel<State = any, Action = any>(
  options: FromModelOptions<State, Action>,
): Policy<State, Action> {
  expectOptions(
    'fromModel',
    options,
    'samples repairs form vary prior prompts model temperature topP maxTokens stop seed promptParts',
  );
  const { model, samples = 5, repairs = 0, form = 'text', vary, prior } = options;
  expectSampling(options);
  expectOneOf('form', form, ['text', 'json', 'several']);
  if (vary !== undefined) expectInstructions(vary);
  if (prior !== undefined) expectFunction('prior', prior);
  const isTold = prior !== undefined && form !== 'several' && model.capabilities.logprobs === true;
  const sampling = { ...settingsOf(options), ...(isTold && { logprobs: true }) };
  const set = withTexts(fromModelPrompts, options.prompts);
  const { texts } = set;
  const isSaid = form !== 'text' || repairs > 0;

  async function propose({ node, request, notation, range, ...asked }: Asked<State, Action>) {
    const prompt = await asked.prompt();
    if (form === 'several') {
      const { independent = false } = request;
      const list = listOf({ notation, vary, independent }, node, range);
      const dialogue = asked.dialogue(askBehind(prompt, listRequest(notation, list, texts)));
      const read = (completion: Completion) => readList(notation, node.state, completion);
      return proposeSeveral({ ...dialogue, repair: texts.repair, read }, range);
    }
    const isWrapped = form === 'json' && notation.schema === undefined;
    const messages = isWrapped ? askBehind(prompt, fill(texts.json, {})) : prompt;
    const dialogue = { ...asked.dialogue(messages), repair: texts.repair };
    return vary === undefined
      ? proposeSamples(dialogue, range)
      : proposeVaried(dialogue, range, vary);
  }

  const provenance = [isSaid ? { prompts: promptsOf(set) } : undefined];
  const settings = {
    name: 'fromModel',
    options: { ...options, samples },
    sampling,
    form,
    provenance,
  };
  return asking<State, Action>(settings, async (asked) => {
    const proposals = await propose(asked);
    return prior === undefined ? proposals : withPriors(proposals, prior);
  });
}

interface ListOptions<State, Action> {
  readonly notation: Notation<State, Action>;
  readonly vary: readonly string[] | undefined;
  readonly independent: boolean;
}

/** What the list is to be like. */
function listOf<State, Action>(
  { notation, vary, independent }: ListOptions<State, Action>,
  node: SearchNode<State, Action>,
  { count, offset }: SampleRange,
): ListRequest {
  return {
    count,
    known: independent ? [] : node.children.map(({ action }) => notation.format(action)),
    instructions:
      vary === undefined
        ? []
        : Array.from({ length: count }, (_, place) => vary[(offset + place) % vary.length] ?? ''),
  };
}

function expectInstructions(vary: readonly string[]): void {
  const isSound =
    Array.isArray(vary) &&
    vary.length > 0 &&
    vary.every((text: unknown) => typeof text === 'string' && text.trim() !== '');
  if (!isSound) throw expectation('vary', 'one text or more, none of them empty', vary);
}
