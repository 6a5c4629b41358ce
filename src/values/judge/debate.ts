import { expectInteger, expectMethods, expectOneOf } from '../../base/expect.ts';
import { expectOptions } from '../../base/expect-options.ts';
import { failedBy } from '../../base/failure.ts';
import { provenanceOf, provenanceOfModel } from '../../base/provenance.ts';
import { mean } from '../../base/stats/mean.ts';
import type { CallContext } from '../../contracts/context.ts';
import type { Evaluation } from '../../contracts/evaluation.ts';
import type { EvaluateRequest, Evaluator } from '../../contracts/evaluator.ts';
import type { Failed } from '../../contracts/failure.ts';
import type { Completion, LanguageModel, Message } from '../../contracts/language-model.ts';
import type { SearchNode } from '../../contracts/node.ts';
import type { PromptPart } from '../../contracts/prompt-part.ts';
import { oneOf } from '../../prompting/answer-words.ts';
import {
  type CodeTable,
  codeIn,
  codeSchema,
  codeTable,
  listedCodes,
  type StatusCodes,
} from '../../prompting/codes.ts';
import { fill, type PromptSet, promptsOf, withTexts } from '../../prompting/prompts.ts';
import { replyText, unreadable } from '../../prompting/read-reply.ts';
import { evaluateEach } from '../evaluate-each.ts';
import { noState } from '../no-state.ts';
import { type RequestSettings, requestSettings } from '../request-settings.ts';
import { askBehind, type Subject, subjectOf, type View } from '../subject.ts';
import { average } from './average.ts';

/** The texts of a debate. */
export type DebateText = 'advocate' | 'against' | 'for' | 'opponent' | 'state' | 'step' | 'verdict';

/** Who debates a node, and who judges the debate. */
export interface DebateOptions<State = any, Action = any> {
  /** The judge. */
  readonly model: LanguageModel;
  /** The advocate and the opponent. @defaultValue the judge */
  readonly debaters?: LanguageModel;
  /** What is debated: the state that an action led to, or the action before it is taken. @defaultValue `'state'` */
  readonly about?: 'action' | 'state';
  /** The codes of a verdict, and the value of each. @defaultValue {@link statusCodes}: A 1, B 0.9, C 0.5, D 0.2, E 0 */
  readonly codes?: StatusCodes;
  /** What each code means to the judge. @defaultValue {@link statusMeanings} for A to E */
  readonly meanings?: Readonly<Record<string, string>>;
  /** How many verdicts are drawn in each of the two orders: an integer from 1 up. @defaultValue 3 */
  readonly samples?: number;
  /** The temperature of the verdicts: from 0 up, for models that take one. @defaultValue 1 */
  readonly temperature?: number;
  /** The probability mass that verdicts are sampled from, in (0, 1], for models that take a temperature. @defaultValue 0.95 */
  readonly topP?: number;
  /** The limit on the tokens of one verdict, its reason included: an integer from 1 up. @defaultValue 256 */
  readonly maxTokens?: number;
  /** How long an argument is to be, in words: an integer from 1 up. @defaultValue 100 */
  readonly words?: number;
  /** The limit on the tokens of one argument: an integer from 1 up. @defaultValue 256 */
  readonly argumentTokens?: number;
  /** What the judge is told behind the state, such as lessons on judging. The debaters are not. @defaultValue none */
  readonly promptParts?: readonly PromptPart<State, Action>[];
  /** What the debaters are told behind the state. The judge is not. @defaultValue none */
  readonly debaterParts?: readonly PromptPart<State, Action>[];
  /**
   * Texts to replace: `state`, `step` with the slot `{step}`, `advocate` and `opponent` with `{words}`, `for` and
   * `against` with `{argument}`, `verdict` with `{codes}` and `{names}`.
   */
  readonly prompts?: Partial<Readonly<Record<DebateText, string>>>;
}

const debatePrompts: PromptSet<DebateText> = {
  name: 'debate',
  version: 1,
  texts: {
    state: 'Do not write a step. What is in question is the work above as it stands.',
    step: [
      'Proposed step: {step}',
      '',
      'Do not write a step. What is in question is the work above as it will stand once the proposed step is taken.',
    ].join('\n'),
    advocate: [
      'Argue for it: give the best reasons why what was done so far is right and leads to the goal. Point to what',
      'is there; claim nothing that is not. At most {words} words, and no verdict.',
    ].join(' '),
    opponent: [
      'Argue against it: give the best reasons why what was done so far is wrong, or does not lead to the goal.',
      'Point to what is there; claim nothing that is not. At most {words} words, and no verdict.',
    ].join(' '),
    for: 'One side argues that it leads to the goal:\n{argument}',
    against: 'One side argues that it does not lead to the goal:\n{argument}',
    verdict: [
      'Check both arguments against the work itself; neither their order nor their length counts. Then say which of',
      'these describes the work best. Where two do, take the worse one.\n\n{codes}\n\nAnswer in JSON, and write',
      'nothing else: {{"reason": "<two sentences at most>", "status": "<{names}>"}}',
    ].join(' '),
  },
};

/**
 * Values nodes by a debate. An advocate and an opponent argue in parallel, blind to each other; then a judge sees
 * both arguments and gives codes, asked twice in parallel with the order of the arguments swapped:
 *
 * `V = (mean of v(codeᵢ) over 3 samples in one order + the same in the other) / 2`.
 *
 * That is 2 + 2 · `samples` calls a node, 8 by default. A verdict that cannot be read does not count and is told
 * in `unscored`; both orders weigh alike, however many of their verdicts count. Where one order has none that
 * counts, or one side has nothing to say, the node fails. The rationale holds both arguments, shortened.
 *
 * The paper's settings: arguments at temperature 0.1 of at most 100 words, verdicts at temperature 1 and top-p
 * 0.95, codes from A to E.
 *
 * @see Yu et al., "ExACT: Teaching AI Agents to Explore with Reflective-MCTS and Exploratory Learning", 2024,
 * multi-agent debate as a value function.
 * @throws EspalierError `usage` where an option is out of its range.
 */
export function debate<State = any, Action = any>(
  options: DebateOptions<State, Action>,
): Evaluator<State, Action> {
  expectOptions(
    'debate',
    options,
    'model debaters about codes meanings samples temperature topP maxTokens words argumentTokens promptParts debaterParts prompts',
  );
  const { model, debaters = model, about = 'state', words = 100 } = options;
  const { promptParts = [], debaterParts = [] } = options;
  expectMethods('model', model, ['generate']);
  expectMethods('debaters', debaters, ['generate']);
  expectOneOf('about', about, ['state', 'action']);
  expectInteger('words', words, { min: 1 });
  const { samples = 3, maxTokens = 256, temperature = 1, topP = 0.95 } = options;
  const { argumentTokens = 256 } = options;
  expectInteger('argumentTokens', argumentTokens, { min: 1 });
  const table = codeTable(options.codes, options.meanings);
  const prompts = withTexts<DebateText>(debatePrompts, options.prompts);
  const schema = codeSchema(table, { reason: true });
  const debating: Debating<State, Action> = {
    judge: {
      model,
      settings: requestSettings(model, { samples, maxTokens, temperature, topP, schema }),
      view: { about, promptParts },
    },
    debaters: {
      model: debaters,
      settings: requestSettings(debaters, {
        samples: 1,
        maxTokens: argumentTokens,
        temperature: 0.1,
      }),
      view: { about, promptParts: debaterParts },
    },
    table,
    words,
    texts: prompts.texts,
  };
  return {
    needs: about === 'action' ? 'proposed' : 'realised',
    ...provenanceOf(
      { needsNotation: ['debate'] },
      provenanceOfModel(model, debating.judge.settings),
      provenanceOfModel(debaters, debating.debaters.settings),
      { prompts: promptsOf(prompts) },
      ...promptParts,
      ...debaterParts,
    ),
    evaluate: (nodes, request) =>
      evaluateEach(debating.judge.view, nodes, (node) => evaluate(debating, node, request)),
  };
}

/** A model, and what it is asked with. */
interface Party<State, Action> {
  readonly model: LanguageModel;
  readonly settings: RequestSettings;
  readonly view: View<State, Action>;
}

interface Debating<State, Action> {
  readonly judge: Party<State, Action>;
  readonly debaters: Party<State, Action>;
  readonly table: CodeTable;
  readonly words: number;
  readonly texts: Readonly<Record<DebateText, string>>;
}

async function evaluate<State, Action>(
  debating: Debating<State, Action>,
  node: SearchNode<State, Action>,
  request: EvaluateRequest<State, Action>,
): Promise<Evaluation | Failed> {
  const { context } = request;
  const { judge, debaters, table, texts, words } = debating;
  try {
    const [forJudge, forDebaters] = await Promise.all([
      subjectOf(judge.view, node, request),
      subjectOf(debaters.view, node, request),
    ]);
    if (forJudge === undefined || forDebaters === undefined) return noState;
    const argue = (role: 'advocate' | 'opponent') => {
      const question = requestFor(texts, forDebaters, [fill(texts[role], { words })]);
      return argumentOf(debaters, question, { role, context });
    };
    const [advocate, opponent] = await Promise.all([argue('advocate'), argue('opponent')]);
    if (typeof advocate !== 'string') return advocate;
    if (typeof opponent !== 'string') return opponent;
    const pro = fill(texts.for, { argument: advocate });
    const contra = fill(texts.against, { argument: opponent });
    const verdict = fill(texts.verdict, {
      codes: listedCodes(table),
      names: oneOf(Object.keys(table.codes)),
    });
    const orders = [
      [pro, contra, verdict],
      [contra, pro, verdict],
    ];
    const answers = await Promise.all(
      orders.map((order) => {
        const messages = requestFor(texts, forJudge, order);
        return context.generate(judge.model, { ...judge.settings, messages });
      }),
    );
    const rationale = `For: ${short(advocate)}\nAgainst: ${short(opponent)}`;
    const form = {
      expected: `one of the codes ${Object.keys(table.codes).join(', ')} in each order`,
      reason: false,
      read: (completion: Completion) => codeIn(table, completion),
    };
    const verdicts = answers.map(({ completions }) => average(form, completions));
    return meanOf(verdicts, rationale);
  } catch (error) {
    return failedBy(error, 'call', context);
  }
}

/** The mean of both orders, which weigh alike: one of them alone would say who spoke first. */
function meanOf(orders: readonly (Evaluation | Failed)[], rationale: string): Evaluation | Failed {
  const failure = orders.find((order) => 'failure' in order);
  if (failure !== undefined) return failure;
  const read = orders.filter((order) => 'value' in order);
  const unscored = read.reduce((sum, order) => sum + (order.unscored ?? 0), 0);
  return {
    value: mean(read.map(({ value }) => value)),
    rationale,
    ...(unscored > 0 && { unscored }),
  };
}

/** What is in question, and what is asked about it. */
function requestFor(
  texts: Readonly<Record<DebateText, string>>,
  { messages, step }: Subject,
  blocks: readonly string[],
): readonly Message[] {
  const question = step === undefined ? fill(texts.state, {}) : fill(texts.step, { step });
  return askBehind(messages, [question, ...blocks].join('\n\n'));
}

async function argumentOf<State, Action>(
  { model, settings }: Party<State, Action>,
  messages: readonly Message[],
  { role, context }: { readonly role: 'advocate' | 'opponent'; readonly context: CallContext },
): Promise<string | Failed> {
  const { completions } = await context.generate(model, { ...settings, messages });
  const [first] = completions;
  const argument = first === undefined || first.finishReason === 'refusal' ? '' : replyText(first);
  return argument === '' ? unreadable(`an argument of the ${role}`, completions) : argument;
}

function short(argument: string): string {
  const line = argument.replace(/\s+/g, ' ');
  return line.length > 280 ? `${line.slice(0, 279)}…` : line;
}
