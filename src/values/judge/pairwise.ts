import { expectOneOf } from '../../base/expect.ts';
import { expectOptions } from '../../base/expect-options.ts';
import { failedBy } from '../../base/failure.ts';
import { provenanceOf, provenanceOfModel } from '../../base/provenance.ts';
import { mean } from '../../base/stats/mean.ts';
import { turnText } from '../../base/tools-in-words.ts';
import type { Evaluation } from '../../contracts/evaluation.ts';
import type { EvaluateRequest, Evaluator } from '../../contracts/evaluator.ts';
import type { Failed } from '../../contracts/failure.ts';
import type { ChildNode, SearchNode } from '../../contracts/node.ts';
import { notationOf } from '../../prompting/notation.ts';
import { expectParts, withParts } from '../../prompting/prompt-parts.ts';
import { promptsOf } from '../../prompting/prompts.ts';
import { toolsShown } from '../../prompting/tools-shown.ts';
import { evaluateEach } from '../evaluate-each.ts';
import { noState } from '../no-state.ts';
import { askingOf, comparePair, type PairwiseOptions } from './compare-pair.ts';

/**
 * Values nodes by comparing them with their siblings, pair by pair and in both orders, because models favour the first
 * or last item. The value is the share of wins,
 *
 * `v(i) = Σ p(i, j) / (K − 1)` over the other K − 1 siblings j,
 *
 * where p is 1 for a win in both orders, 0.5 for a tie. The values of K siblings sum to K / 2: they compare siblings,
 * not nodes elsewhere. This takes K (K − 1) calls for K siblings and one sample. The root and nodes without siblings
 * are worth 1, without a call.
 *
 * A failed comparison is left out, and noted in the rationale; if all comparisons of a node fail, the node fails.
 *
 * @see Zheng et al., "Judging LLM-as-a-Judge with MT-Bench and Chatbot Arena", 2023, position bias.
 * @throws EspalierError `usage` if an option is out of range.
 */
export function pairwise<State = any, Action = any>(
  options: PairwiseOptions<State, Action>,
): Evaluator<State, Action> {
  expectOptions(
    'pairwise',
    options,
    'about promptParts model reason samples maxTokens temperature rubric prompts',
  );
  const { about = 'action', promptParts = [] } = options;
  const { prompts, settings } = askingOf(options);
  expectOneOf('about', about, ['action', 'state']);
  expectParts(promptParts);
  return {
    ...provenanceOf(
      { needsNotation: ['pairwise'] },
      provenanceOfModel(options.model, settings),
      { prompts: promptsOf(prompts) },
      ...promptParts,
    ),
    ...evaluateEach<State, Action>(about, (request) => {
      const contest = new Contest({ ...options, about, promptParts }, request);
      return ({ place, step = place }) => contest.evaluate(step);
    }),
  };
}

type Settings<State, Action> = PairwiseOptions<State, Action> &
  Required<Pick<PairwiseOptions<State, Action>, 'about' | 'promptParts'>>;

type Verdict = Evaluation | Failed;

/** The comparisons of one batch. Each pair is compared once. */
class Contest<State, Action> {
  readonly #settings: Settings<State, Action>;
  readonly #request: EvaluateRequest<State, Action>;
  readonly #pairs = new Map<ChildNode<State, Action>, Map<unknown, Promise<Verdict>>>();
  readonly #told = new Map<SearchNode<State, Action>, ReturnType<typeof withParts>>();

  constructor(settings: Settings<State, Action>, request: EvaluateRequest<State, Action>) {
    this.#settings = settings;
    this.#request = request;
  }

  async evaluate(node: SearchNode<State, Action>): Promise<Verdict> {
    const { about } = this.#settings;
    if (node.kind === 'root') return { value: 1 };
    if (node.parent.kind === 'proposed') return noState;
    const siblings = node.parent.children.filter(
      (sibling) => about === 'action' || sibling.kind === 'realised',
    );
    const place = siblings.indexOf(node);
    const others = siblings.filter((sibling) => sibling !== node);
    if (others.length === 0) return { value: 1 };
    const outcomes = await Promise.all(
      others.map(async (other) => {
        // The order within a pair is that of the siblings, whichever of them is evaluated.
        return siblings.indexOf(other) < place
          ? seenAs('B', await this.#compare(other, node))
          : seenAs('A', await this.#compare(node, other));
      }),
    );
    return winShare(outcomes);
  }

  #compare(first: ChildNode<State, Action>, second: ChildNode<State, Action>): Promise<Verdict> {
    const known = this.#pairs.get(first) ?? new Map<unknown, Promise<Verdict>>();
    this.#pairs.set(first, known);
    const comparison = known.get(second) ?? this.#ask(first, second);
    known.set(second, comparison);
    return comparison;
  }

  async #ask(first: ChildNode<State, Action>, second: ChildNode<State, Action>): Promise<Verdict> {
    try {
      const messages = await this.#messages(first.parent);
      const tools = toolsShown(notationOf(this.#request));
      const pair = { messages, tools, first: this.#textOf(first), second: this.#textOf(second) };
      return await comparePair(pair, this.#settings, this.#request.context);
    } catch (error) {
      return failedBy(error, 'call', this.#request.context);
    }
  }

  /** The context that siblings share: for actions, the state in which they are proposed. */
  #messages(parent: SearchNode<State, Action>): ReturnType<typeof withParts> {
    const { about, promptParts } = this.#settings;
    const notation = notationOf(this.#request);
    const told =
      this.#told.get(parent) ??
      withParts(
        about === 'action' && parent.kind !== 'proposed' ? notation.prompt(parent.state) : [],
        promptParts,
        { ...this.#request, node: parent },
      );
    this.#told.set(parent, told);
    return told;
  }

  #textOf(node: ChildNode<State, Action>): string {
    const { about } = this.#settings;
    const notation = notationOf(this.#request);
    if (about === 'action' || node.kind === 'proposed') return notation.format(node.action);
    const messages = notation.prompt(node.state);
    const isSingle = messages.length === 1;
    return messages
      .map((turn) => (isSingle ? turnText(turn) : `[${turn.role}]\n${turnText(turn)}`))
      .join('\n\n');
  }
}

/** A comparison from the point of view of one of the two. */
function seenAs(letter: 'A' | 'B', comparison: Verdict): Verdict {
  if ('failure' in comparison) return comparison;
  const { value, rationale } = comparison;
  return {
    ...comparison,
    value: letter === 'A' ? value : 1 - value,
    ...(rationale !== undefined && { rationale: `As candidate ${letter}: ${rationale}` }),
  };
}

function winShare(outcomes: readonly Verdict[]): Verdict {
  const comparisons = outcomes.filter((outcome) => 'value' in outcome);
  const failure = outcomes.find((outcome) => 'failure' in outcome);
  if (comparisons.length === 0 && failure !== undefined) return failure;
  const unscored = comparisons.reduce((sum, comparison) => sum + (comparison.unscored ?? 0), 0);
  const rationale =
    failure === undefined
      ? comparisons.find((comparison) => comparison.rationale !== undefined)?.rationale
      : `${outcomes.length - comparisons.length} of ${outcomes.length} comparisons failed: ${failure.failure.message}`;
  return {
    value: mean(comparisons.map(({ value }) => value)),
    ...(rationale !== undefined && { rationale }),
    ...(unscored > 0 && { unscored }),
  };
}
