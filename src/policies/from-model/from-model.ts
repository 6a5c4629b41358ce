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

/** Options of {@link fromModel}. */
export interface FromModelOptions<State = any, Action = any>
  extends SamplingOptions<State, Action> {
  /**
   * The form of an answer.
   *
   * - `text`: an action in the notation's own form: a tool call if it has tools and the model supports them, or JSON if
   *   the notation is JSON.
   * - `json`: an action wrapped in JSON, for models that write prose around everything else.
   * - `several`: all requested actions, each different, as JSON in one completion: for models that support neither `n`
   *   nor a temperature, and would repeat themselves.
   *
   * Models that support `schema` are constrained to the JSON. In the answers of others it is extracted from prose and
   * fences, tolerating common mistakes. Incomplete JSON is a failure.
   *
   * @defaultValue `'text'`
   */
  readonly form?: 'text' | 'json' | 'several';
  /**
   * Instructions that vary by sample, such as different approaches, for models sampled without a temperature: sample
   * `i` gets the instruction at `i` modulo their number, at the end of its prompt. One text or more, none of them
   * empty.
   *
   * @defaultValue none
   */
  readonly vary?: readonly string[];
  /**
   * P(s, a) of an action, computed from its completion, such as {@link sequenceProbability}: a finite number from 0 up.
   * Log-probabilities are then requested if the model supports them, except with the form `several`, where they would
   * belong to the entire list.
   *
   * Priors are used unchanged, as in MCTS-DPO and AlphaMath: those of siblings need not sum to 1, and may sum to more.
   * Of equal actions the first counts. If the rule returns `undefined` for one action of a request, no action of that
   * request gets a prior.
   *
   * @defaultValue none: priors are shares of the samples
   */
  readonly prior?: (completion: Completion) => number | undefined;
  /**
   * Texts to replace: `json` asks for one action as JSON, in a notation that has none of its own; `listOfTexts` and
   * `listOfObjects`, with the slot `{actions}`, for a list in a notation of text or of JSON; `one` and `several`, with
   * `{count}`, say how many; `item`, with `{number}` and `{instruction}`, says what varies; `known`, with `{known}`,
   * names existing actions; `repair`, with `{problem}`, returns an answer that is not an action.
   */
  readonly prompts?: Texts<
    'item' | 'json' | 'known' | 'listOfObjects' | 'listOfTexts' | 'one' | 'repair' | 'several'
  >;
}

/**
 * A policy that asks a language model: it sends the prompt of the state, and each sample is an action, or a failure
 * with the reason.
 *
 * Without the option `prior`, the prior of an action is its share of the samples drawn at its node: an unbiased
 * estimate of π(a | s) at the sampling temperature. All calls go through the context: each sample is one call in the
 * ledger, and equal states share their samples.
 *
 * If the notation has tools and the model supports them, each sample is requested as a call and parsed by `called`;
 * text without a call is parsed by `parse`. A repair then returns the error as the result of the call.
 *
 * With the form `several`, a request for `count` actions is one completion, and so one call in the ledger, with
 * `offset` as its index: another `offset` or `count` is a new call. The prompt lists the node's existing actions,
 * unless independent samples are wanted. The answer becomes `count` proposals: missing or unparsable ones are failures,
 * and equal ones add their shares. Shares then count listings, and do not estimate π. An answer is sent back for repair
 * only if none of its actions is usable.
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

/** Describes the list to ask for. */
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
