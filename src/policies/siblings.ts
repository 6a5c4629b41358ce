import { expectFunction, expectInteger } from '../base/expect.ts';
import { expectOptions } from '../base/expect-options.ts';
import type { Notation } from '../contracts/environment.ts';
import type { ChildNode, RealisedNode, SearchNode } from '../contracts/node.ts';
import type { PromptPart } from '../contracts/prompt-part.ts';
import { notationOf } from '../prompting/notation.ts';
import { fill, type PromptSet, promptsOf, type Texts, withTexts } from '../prompting/prompts.ts';

const usual = {
  name: 'siblings',
  version: 1,
  texts: {
    known:
      'These continuations from this very place are known already. Scores go from 0, hopeless, to 1, certain success.\n{siblings}',
    sibling: '- {action}\n  Outcome: {outcome}\n  Score: {score}',
    taken: 'it was carried out',
    untried: 'not tried yet',
    failed: 'it failed: {reason}',
    ended: '(the end)',
    rewarded: '(reward {reward})',
    visited: '{value}, after {visits} trials',
    evaluated: '{value}, as a first estimate',
    unscored: 'none yet',
  },
} satisfies PromptSet;

/** Options of {@link siblings}. */
export interface SiblingsOptions<State = any, Action = any> {
  /**
   * The outcome of an action, as text.
   *
   * @defaultValue the lines of its state's prompt that are not in the parent's prompt
   */
  readonly see?: (node: RealisedNode<State, Action>) => string | undefined;
  /** The maximum number of siblings shown, latest ones: an integer from 1 up. @defaultValue 10 */
  readonly most?: number;
  /**
   * The maximum characters per sibling, action and outcome together: an integer from 2 up. An outcome may use at least
   * half of them.
   *
   * @defaultValue 600
   */
  readonly characters?: number;
  /**
   * Texts to replace: `known`, with the slot `{siblings}`, is the whole text; `sibling`, with `{action}`, `{outcome}`
   * and `{score}`, is one of them. Outcomes: `taken` (no visible change), `untried`, `failed` with `{reason}`; behind
   * them `ended` and `rewarded` with `{reward}`. Scores: `visited` with `{value}` and `{visits}`, `evaluated` with
   * `{value}`, `unscored`.
   */
  readonly prompts?: Texts<
    | 'ended'
    | 'evaluated'
    | 'failed'
    | 'known'
    | 'rewarded'
    | 'sibling'
    | 'taken'
    | 'unscored'
    | 'untried'
    | 'visited'
  >;
}

/**
 * Shows a policy the existing children of a node: the action, outcome and score of each. The outcome is the state that
 * the action led to, or why it failed; the score is the value after simulations, or the evaluation. Empty without
 * children.
 *
 * A policy that draws several samples in one request shows each the same text; `introspective` shows each the ones
 * before it.
 *
 * @see Liang et al., "I-MCTS: Enhancing Agentic AutoML via Introspective Monte Carlo Tree Search", 2025, the
 * introspective expansion.
 */
export function siblings<State = any, Action = any>(
  options: SiblingsOptions<State, Action>,
): PromptPart<State, Action> {
  expectOptions('siblings', options, 'see most characters prompts');
  const tellerFor = siblingsTeller(options);
  return {
    needsNotation: ['siblings'],
    prompts: tellerFor.prompts,
    text(node, request) {
      const tell = tellerFor(notationOf(request));
      return tell.text(tell.childrenOf(node));
    },
  };
}

/** Children as text, in two steps, so that other siblings can be appended. */
export interface SiblingsTeller<State, Action> {
  /** Each child of a node as text. */
  childrenOf(node: SearchNode<State, Action>): readonly string[];
  /** The text of an action that has just been proposed. */
  proposed(action: Action): string;
  /** The latest siblings as one text; `undefined` if there are none. */
  text(siblings: readonly string[]): string | undefined;
}

/** Describes siblings in a notation. */
export interface TellerFor<State, Action> {
  readonly prompts: NonNullable<PromptPart['prompts']>;
  (notation: Notation<State, Action>): SiblingsTeller<State, Action>;
}

/** The common part of `siblings` and `introspective`. */
export function siblingsTeller<State, Action>(
  options: SiblingsOptions<State, Action>,
): TellerFor<State, Action> {
  const { most = 10, characters = 600, see } = options;
  if (see !== undefined) expectFunction('see', see);
  expectInteger('most', most, { min: 1 });
  expectInteger('characters', characters, { min: 2 });
  const set = withTexts(usual, options.prompts);
  const { texts } = set;
  const tell = (action: string, outcome: string, score: string) => {
    const written = action.trim();
    const half = Math.floor(characters / 2);
    const shown = clip(written, Math.max(half, characters - outcome.length));
    const seen = clip(outcome, characters - shown.length);
    return fill(texts.sibling, { action: indented(shown), outcome: indented(seen), score });
  };
  const tellerFor = (notation: Notation<State, Action>): SiblingsTeller<State, Action> => {
    const look = { texts, see: see ?? newLines(notation) };
    return {
      childrenOf: ({ children }) =>
        children
          .slice(-most)
          .map((child) =>
            tell(notation.format(child.action), outcomeOf(child, look), scoreOf(child, texts)),
          ),
      proposed: (action) => tell(notation.format(action), texts.untried, texts.unscored),
      text: (told) => {
        const latest = told.slice(-most).join('\n');
        return told.length === 0 ? undefined : fill(texts.known, { siblings: latest });
      },
    };
  };
  return Object.assign(tellerFor, { prompts: promptsOf(set) });
}

function outcomeOf<State, Action>(
  node: ChildNode<State, Action>,
  {
    texts,
    see,
  }: Pick<Required<SiblingsOptions<State, Action>>, 'see'> & { texts: typeof usual.texts },
): string {
  if (node.status === 'failed') {
    return fill(texts.failed, { reason: node.failure?.message ?? '?' });
  }
  if (node.kind === 'proposed') return texts.untried;
  const marks = [
    ...(node.terminal ? [texts.ended] : []),
    ...(node.reward === undefined ? [] : [fill(texts.rewarded, { reward: short(node.reward) })]),
  ];
  const seen = see(node)?.trim() ?? '';
  return [seen === '' ? texts.taken : seen, ...marks].join(' ');
}

function scoreOf<State, Action>(
  { visits, value, rawValue }: ChildNode<State, Action>,
  texts: typeof usual.texts,
): string {
  if (visits > 0) return fill(texts.visited, { value: short(value), visits });
  if (rawValue === undefined) return texts.unscored;
  return fill(texts.evaluated, { value: short(rawValue) });
}

/** The lines of a state's prompt that are not in its parent's prompt. */
function newLines<State, Action>(notation: Notation<State, Action>) {
  return ({ parent, state }: RealisedNode<State, Action>): string => {
    const known = new Set(parent.kind === 'proposed' ? [] : linesOf(notation, parent.state));
    return linesOf(notation, state)
      .filter((line) => line !== '' && !known.has(line))
      .join('\n');
  };
}

function linesOf<State, Action>(
  notation: Notation<State, Action>,
  state: State,
): readonly string[] {
  return notation
    .prompt(state)
    .flatMap(({ content }) => content.split('\n').map((line) => line.trim()));
}

/** Scores are shown with up to three decimals. */
function short(value: number): string {
  return String(Number(value.toFixed(3)));
}

/** Cuts text without splitting a surrogate pair. */
function clip(text: string, length: number): string {
  if (text.length <= length) return text;
  return `${text.slice(0, Math.max(0, length - 1)).replace(/[\uD800-\uDBFF]$/, '')}…`;
}

/** Indents further lines, so that they belong to the same list item. */
function indented(text: string): string {
  return text.replaceAll('\n', '\n  ');
}
