import {
  expectBoolean,
  expectFunction,
  expectInteger,
  expectNumber,
  expectOneOf,
} from '../../base/expect.ts';
import { expectOptions } from '../../base/expect-options.ts';
import type { Message } from '../../contracts/language-model.ts';
import type { ChildNode, SearchNode } from '../../contracts/node.ts';
import { distinct, textOfRow } from '../distinct.ts';
import { pathsIn } from '../paths.ts';
import { rowBase } from '../provenance.ts';
import { isEnd, isRight, promptAt, stepsTo, type TreeRecord, turnOf } from '../record.ts';
import { rowRule } from '../row-rule.ts';
import type { RowRule, SftRow } from '../rows.ts';
import { type Move, movesThrough } from './moves.ts';
import { delimiterOf, prefixTo } from './prefix.ts';
import { resimulate } from './resimulate.ts';

/** Options of `traversals`. */
export interface TraversalsOptions {
  /** `exploratory`: with failed attempts. `imitation`: the path alone. @defaultValue `'exploratory'` */
  readonly variant?: 'exploratory' | 'imitation';
  /** c, the weight of the prior in the repeated search: from 0 up. @defaultValue 1, the paper's */
  readonly c?: number;
  /** The maximum simulations per action: an integer from 1 up. @defaultValue 50, the reference code's */
  readonly simulations?: number;
  /**
   * The maximum moves of a walk; longer ones give no rows: an integer from 1 up. @defaultValue 35, the reference code's
   */
  readonly maxMoves?: number;
  /** Whether to skip trees whose best end is wrong or unscored. @defaultValue true */
  readonly onlyRight?: boolean;
  /** The text before an action, such as a judge's rationale for its result. @defaultValue none */
  readonly thought?: (node: ChildNode) => string | undefined;
  /**
   * The text for backtracking by a number of actions, from 1 up. @defaultValue *Go back one step.*, *Go back 2 steps.*
   */
  readonly back?: (steps: number) => string;
}

/**
 * Exploratory learning: the walk of a search to its best end, backtracking included, in a model's words.
 *
 * - For each action of the best path, the search before it is repeated by PUCT from the data in the tree, up to the
 *   simulation that first reaches the action.
 * - The leaves of all simulations, in order, are one walk with explicit ways back.
 * - Each move is a row: the prompt is everything before it, the completion is that move alone.
 *
 * If prompts grow as a conversation, moves are turns, each followed by the world's response; after backtracking, by the
 * last message shown there. Otherwise all moves so far are the trailing assistant turn.
 *
 * Differences from the reference code: the best path replaces the executed actions; backtracking is stated in text,
 * not a browser call; thoughts come from the caller; long conversations are left out, not shortened; an action not
 * reached by 50 simulations is taken anyway.
 *
 * @see Yu et al., "ExACT: Teaching AI Agents to Explore with Reflective-MCTS and Exploratory Learning", 2024
 * (arXiv 2410.02052), "Exploratory Learning".
 * @throws EspalierError `usage` if an option is out of range.
 */
export function traversals(options: TraversalsOptions = {}): RowRule<SftRow> {
  expectOptions('traversals', options, 'variant c simulations maxMoves onlyRight thought back');
  const { variant = 'exploratory', c = 1, simulations = 50, maxMoves = 35 } = options;
  const { onlyRight = true, thought, back = goBackText } = options;
  expectBoolean('onlyRight', onlyRight);
  expectOneOf('variant', variant, ['exploratory', 'imitation']);
  expectNumber('c', c, { min: 0 });
  expectInteger('simulations', simulations, { min: 1 });
  expectInteger('maxMoves', maxMoves, { min: 1 });
  if (thought !== undefined) expectFunction('thought', thought);
  expectFunction('back', back);
  return rowRule({
    name: 'traversals',
    kind: 'sft',
    title: 'the exploration of a search, backtracking included',
    paper: 'Yu et al., 2024, arXiv 2410.02052',
    options,
    rows: (trees) => distinct(trees.flatMap(walk), textOfRow),
  });

  function walk<State, Action>(record: TreeRecord<State, Action>): readonly SftRow[] {
    const { root, best } = record.tree;
    if (!isEnd(best) || (onlyRight && isRight(record, best) !== true)) return [];
    const actions = stepsTo(best);
    // The way to the best node is part of every walk: one that is too long is not walked.
    if (actions.length > maxMoves) return [];
    const paths = pathsIn(record);
    const leaves =
      variant === 'imitation'
        ? actions
        : actions.flatMap((action) => resimulate(record, action, { paths, c, simulations }));
    const moves = movesThrough(root, leaves, paths.placeOf);
    return moves.length > maxMoves ? [] : [...rowsOf(record, moves, { thought, back })];
  }
}

interface Words {
  readonly thought: ((node: ChildNode) => string | undefined) | undefined;
  readonly back: (steps: number) => string;
}

function goBackText(steps: number): string {
  return steps === 1 ? 'Go back one step.' : `Go back ${steps} steps.`;
}

function* rowsOf<State, Action>(
  record: TreeRecord<State, Action>,
  moves: readonly Move<State, Action>[],
  words: Words,
): Generator<SftRow> {
  const { root, best } = record.tree;
  const [first] = moves;
  if (first === undefined) return;
  const isConversation = prefixTo(record, first.to).form === 'turns';
  const score = record.tree.score(best) ?? 0;
  let here: SearchNode<State, Action> = root;
  let prompt = promptAt(record, root);
  for (const move of moves) {
    const turn = turnFor(record, move, words);
    yield {
      kind: 'sft',
      ...rowBase(record, { rule: 'traversals', nodes: [here, move.to], from: here, prompt }),
      completion: [turn],
      ends: move === moves.at(-1) && isEnd(move.to),
      score,
      weight: 1,
    };
    prompt = isConversation
      ? [...prompt, turn, ...shownAt(record, move)]
      : withMore(prompt, turn.content + delimiterOf(record));
    here = move.to;
  }
}

function turnFor<State, Action>(
  record: TreeRecord<State, Action>,
  move: Move<State, Action>,
  { thought, back }: Words,
): Message {
  if (move.kind === 'back') {
    return { role: 'assistant', content: back(move.from.depth - move.to.depth) };
  }
  const turn = turnOf(record, move.to);
  const before = thought?.(move.to);
  if (before === undefined || before === '') return turn;
  const parts = turn.content === '' ? [before] : [before, turn.content];
  return { ...turn, content: parts.join(delimiterOf(record)) };
}

/** The observation: after an action the new part, on the way back the one last shown there. */
function shownAt<State, Action>(
  record: TreeRecord<State, Action>,
  move: Move<State, Action>,
): readonly Message[] {
  const there = promptAt(record, move.to);
  if (move.kind === 'action') return there.slice(promptAt(record, move.to.parent).length + 1);
  const last = there.at(-1);
  // No call that a tool result could answer is before it any more.
  return last === undefined ? [] : [{ role: 'user', content: last.content }];
}

function withMore(prompt: readonly Message[], text: string): readonly Message[] {
  const last = prompt.at(-1);
  if (last?.role !== 'assistant') return [...prompt, { role: 'assistant', content: text }];
  const space = last.content === '' || /\s$/.test(last.content) ? '' : ' ';
  return [...prompt.slice(0, -1), { role: 'assistant', content: last.content + space + text }];
}
