import { type BlocksworldState, HAND, isGoal, TABLE } from './blocksworld-state.ts';
import { solvedMessage } from './words.ts';

/** One of the four operations of the hand, written as in a PDDL plan, with names in lower case. */
export type BlocksworldAction =
  | `(pick-up ${string})`
  | `(put-down ${string})`
  | `(stack ${string} ${string})`
  | `(unstack ${string} ${string})`;

/** An action as a change of the state. */
export interface Move {
  /** Whether the block leaves the hand; otherwise the hand takes it. */
  readonly isPut: boolean;
  /** The block that is moved. */
  readonly block: number;
  /** Where it is put, or from where it is taken. */
  readonly support: number;
}

/** A legal move, or what is wrong with it in one sentence. */
export function readMove(state: BlocksworldState, action: BlocksworldAction): Move | string {
  if (isGoal(state)) return solvedMessage(action);
  const move = toMove(state, action);
  const missing = move === undefined ? 'an action on blocks of the problem' : unmet(state, move);
  if (move !== undefined && missing === undefined) return move;
  return `Expected ${missing}, got \`${action}\`.`;
}

function toMove({ blocks }: BlocksworldState, action: BlocksworldAction): Move | undefined {
  if (!action.startsWith('(') || !action.endsWith(')')) return undefined;
  const [operator, name, other, ...rest] = action.slice(1, -1).split(' ');
  const isPut = operator === 'put-down' || operator === 'stack';
  const isOnBlock = operator === 'stack' || operator === 'unstack';
  const block = blocks.indexOf(name ?? '');
  const support = isOnBlock ? blocks.indexOf(other ?? '') : TABLE;
  const isComplete = isOnBlock ? support !== -1 && rest.length === 0 : other === undefined;
  const isKnown = isPut || isOnBlock || operator === 'pick-up';
  return isKnown && isComplete && block !== -1 ? { isPut, block, support } : undefined;
}

/** The first condition of a move that does not hold. */
function unmet({ blocks, places }: BlocksworldState, move: Move): string | undefined {
  const { isPut, block, support } = move;
  if (isPut) {
    if (places[block] !== HAND) return `\`${blocks[block]}\` in the hand`;
    if (support === TABLE || (support !== block && !places.includes(support))) return undefined;
    return `nothing on \`${blocks[support]}\``;
  }
  if (places.includes(HAND)) return 'an empty hand';
  if (places[block] !== support) {
    return `\`${blocks[block]}\` on ${support === TABLE ? 'the table' : `\`${blocks[support]}\``}`;
  }
  return places.includes(block) ? `nothing on \`${blocks[block]}\`` : undefined;
}
