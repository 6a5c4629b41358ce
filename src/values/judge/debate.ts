import { expectInteger, expectMethods, expectOneOf } from '../../base/expect.ts';
import { expectModel } from '../../base/expect-capabilities.ts';
import { expectOptions } from '../../base/expect-options.ts';
import { provenanceOf, provenanceOfModel } from '../../base/provenance.ts';
import type { Evaluation } from '../../contracts/evaluation.ts';
import type { EvaluateRequest, Evaluator } from '../../contracts/evaluator.ts';
import type { Failed } from '../../contracts/failure.ts';
import type { Completion, LanguageModel } from '../../contracts/language-model.ts';
import type { PromptPart } from '../../contracts/prompt-part.ts';
import { type CodeTable, codeTable } from '../../prompting/codes.ts';
import { objectSchema } from '../../prompting/object-schema.ts';
import { askBehind, expectParts } from '../../prompting/prompt-parts.ts';
import { fill, type PromptSet, promptsOf, type Texts, withTexts } from '../../prompting/prompts.ts';
import { replyText, unreadable } from '../../prompting/read-reply.ts';
import { evaluateEach, type Sight, subjectOf } from '../evaluate-each.ts';
import type { JudgingOptions } from '../judging-options.ts';
import { type RequestSettings, requestSettings } from '../request-settings.ts';
import { average, ofBoth } from './by-form.ts';

/** Options of {@link debate}. */
export interface DebateOptions<State = any, Action = any> extends JudgingOptions<State, Action> {
  /** The advocate and the opponent. @defaultValue the judge */
  readonly debaters?: LanguageModel;
  /** The codes of a verdict, and the value of each. @defaultValue A 1, B 0.9, C 0.5, D 0.2, E 0 */
  readonly codes?: Readonly<Record<string, number>>;
  /** The meaning of each code, for the judge. @defaultValue meanings of A to E */
  readonly meanings?: Readonly<Record<string, string>>;
  /** Verdicts per order of arguments: an integer from 1 up. @defaultValue 3 */
  readonly samples?: number;
  /** The temperature of the verdicts: from 0 up, for models that take one. @defaultValue 1 */
  readonly temperature?: number;
  /** The probability mass to sample verdicts from, in (0, 1], for models that take a temperature. @defaultValue 0.95 */
  readonly topP?: number;
  /** The requested length of an argument, in words: an integer from 1 up. @defaultValue 100 */
  readonly words?: number;
  /** The maximum tokens of one argument: an integer from 1 up. @defaultValue 256, the same as for a verdict */
  readonly argumentTokens?: number;
  /** Text added to the debaters' prompts after the state. The judge gets `promptParts` instead. @defaultValue none */
  readonly debaterParts?: readonly PromptPart<State, Action>[];
  /**
   * Texts to replace: `state`, `step` with the slot `{step}`, `advocate` and `opponent` with `{words}`, `for` and
   * `against` with `{argument}`, `verdict` with `{codes}` and `{names}`.
   */
  readonly prompts?: Texts<
    'advocate' | 'against' | 'for' | 'opponent' | 'state' | 'step' | 'verdict'
  >;
}

const debatePrompts = {
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
} satisfies PromptSet;

/**
 * Values nodes by a debate. An advocate and an opponent argue in parallel, blind to each other; then a judge sees both
 * arguments and gives codes, asked twice in parallel with the order of the arguments swapped:
 *
 * `V = (mean of v(codeᵢ) over 3 samples in one order + the same in the other) / 2`.
 *
 * That is 2 + 2 · `samples` calls per node, 8 by default. An unreadable verdict is ignored and counted in `unscored`;
 * both orders have equal weight, however many of their verdicts count. If one order has none, or one side gives no
 * argument, the node fails. The rationale contains both arguments, shortened.
 *
 * The paper's settings: arguments at temperature 0.1 of at most 100 words, verdicts at temperature 1 and top-p 0.95,
 * codes from A to E.
 *
 * @see Yu et al., "ExACT: Teaching AI Agents to Explore with Reflective-MCTS and Exploratory Learning", 2024,
 * multi-agent debate as a value function.
 * @throws EspalierError `usage` if an option is out of range.
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
  expectModel('model', model);
  expectMethods('debaters', debaters, ['generate']);
  expectOneOf('about', about, ['state', 'action']);
  expectParts(promptParts);
  expectParts(debaterParts, 'debaterParts');
  expectInteger('words', words, { min: 1 });
  const { samples = 3, maxTokens = 256, temperature = 1, topP = 0.95 } = options;
  const { argumentTokens = 256 } = options;
  expectInteger('argumentTokens', argumentTokens, { min: 1 });
  const table = codeTable(options);
  const prompts = withTexts(debatePrompts, options.prompts);
  const { texts } = prompts;
  const schema = objectSchema(table.schema, { reason: true });
  const sampling = { samples, maxTokens, temperature, topP, schema };
  const judging: Party<State, Action> = {
    model,
    settings: requestSettings(model, sampling),
    promptParts,
  };
  const arguing: Party<State, Action> = {
    model: debaters,
    settings: requestSettings(debaters, {
      samples: 1,
      maxTokens: argumentTokens,
      temperature: 0.1,
    }),
    promptParts: debaterParts,
  };
  const debating = { judging, arguing, table, words, texts };
  return {
    ...provenanceOf(
      { needsNotation: ['debate'] },
      provenanceOfModel(model, judging.settings),
      provenanceOfModel(debaters, arguing.settings),
      { prompts: promptsOf(prompts) },
      ...promptParts,
      ...debaterParts,
    ),
    ...evaluateEach<State, Action>(
      about,
      (request) => (sight) => evaluate(debating, sight, request),
    ),
  };
}

/** A model, its request settings, and its prompt parts. */
interface Party<State, Action> {
  readonly model: LanguageModel;
  readonly settings: RequestSettings;
  readonly promptParts: readonly PromptPart<State, Action>[];
}

interface Debating<State, Action> {
  readonly judging: Party<State, Action>;
  readonly arguing: Party<State, Action>;
  readonly table: CodeTable;
  readonly words: number;
  readonly texts: typeof debatePrompts.texts;
}

async function evaluate<State, Action>(
  { judging, arguing, table, texts, words }: Debating<State, Action>,
  sight: Sight<State, Action>,
  request: EvaluateRequest<State, Action>,
): Promise<Evaluation | Failed> {
  const askerOf = async ({ model, settings, promptParts }: Party<State, Action>) => {
    const { messages, tools, step } = await subjectOf(sight, promptParts, request);
    const question = step === undefined ? fill(texts.state, {}) : fill(texts.step, { step });
    return async (...blocks: readonly string[]): Promise<readonly Completion[]> => {
      const behind = askBehind(messages, [question, ...blocks].join('\n\n'));
      const asked = { ...settings, ...tools, messages: behind };
      return (await request.context.generate(model, asked)).completions;
    };
  };
  const [askJudge, askDebater] = await Promise.all([askerOf(judging), askerOf(arguing)]);
  const argue = async (role: 'advocate' | 'opponent') =>
    argumentIn(await askDebater(fill(texts[role], { words })), role);
  const [advocate, opponent] = await Promise.all([argue('advocate'), argue('opponent')]);
  if (typeof advocate !== 'string') return advocate;
  if (typeof opponent !== 'string') return opponent;
  const pro = fill(texts.for, { argument: advocate });
  const contra = fill(texts.against, { argument: opponent });
  const verdict = fill(texts.verdict, { codes: table.list, names: table.names });
  const orders = await Promise.all([
    askJudge(pro, contra, verdict),
    askJudge(contra, pro, verdict),
  ]);
  const form = { expected: `${table.expected} in each order`, reason: false, read: table.read };
  const judged = ofBoth(orders.map((completions) => average(form, completions)));
  const rationale = `For: ${short(advocate)}\nAgainst: ${short(opponent)}`;
  return 'failure' in judged ? judged : { ...judged, rationale };
}

function argumentIn(completions: readonly Completion[], role: string): string | Failed {
  const [first] = completions;
  const argument = first === undefined || first.finishReason === 'refusal' ? '' : replyText(first);
  return argument === '' ? unreadable(`an argument of the ${role}`, completions) : argument;
}

function short(argument: string): string {
  const line = argument.replace(/\s+/g, ' ');
  return line.length > 280 ? `${line.slice(0, 279)}…` : line;
}
