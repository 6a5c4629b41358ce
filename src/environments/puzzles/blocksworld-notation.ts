import type { Notation } from '../../contracts/environment.ts';
import { type BlocksworldAction, readMove } from './blocksworld-move.ts';
import { type BlocksworldState, goalFacts, stateFacts } from './blocksworld-state.ts';
import { wordNotation } from './words.ts';

/** The notation of Blocksworld. */
export const blocksworldNotation: Notation<BlocksworldState, BlocksworldAction> = wordNotation({
  prompt,
  expected: ({ blocks }) =>
    `an action such as \`(pick-up ${blocks[0]})\` on the blocks ${blocks.join(' ')}`,
  find: (text, { blocks }) => firstAction(text, blocks),
  read: readMove,
});

// The parts that change least come first, so that the prompts of a search share a prefix as long as possible.
function prompt(state: BlocksworldState): string {
  return [
    'Move blocks with a hand that holds one block at a time. There are four actions:',
    '',
    '(pick-up x): take x from the table. The hand has to be empty and nothing on x.',
    '(unstack x y): take x from y. The hand has to be empty, x on y and nothing on x.',
    '(put-down x): put x on the table. The hand has to hold x.',
    '(stack x y): put x on y. The hand has to hold x, and nothing may be on y.',
    '',
    'Write the next action, and nothing else, on one line.',
    '',
    `Goal: ${goalFacts(state)
      .map(({ fact }) => fact)
      .join(' ')}`,
    `Now: ${stateFacts(state.blocks, state.places).join(' ')}`,
  ].join('\n');
}

// Names may follow an article or a preposition: `unstack the block b from c`.
const filler = String.raw`(?:(?:the|block|from|onto|on|top|of)\s+)*`;
const name = String.raw`\(?([\w-]+)`;
const pattern = new RegExp(
  String.raw`\b(pick[\s-]?up|put[\s-]?down|unstack|stack)\s+${filler}${name}(?:[\s,]+${filler}${name})?`,
  'gi',
);

function firstAction(text: string, blocks: readonly string[]): BlocksworldAction | undefined {
  for (const line of text.split('\n')) {
    for (const [, verb = '', ...names] of line.matchAll(pattern)) {
      const action = toAction(
        verb.toLowerCase(),
        names.map((word) => findBlock(blocks, word)),
      );
      if (action !== undefined) return action;
    }
  }
  return undefined;
}

function toAction(
  verb: string,
  [block, other]: readonly (string | undefined)[],
): BlocksworldAction | undefined {
  if (block === undefined) return undefined;
  if (verb.startsWith('pick')) return `(pick-up ${block})`;
  if (verb.startsWith('put')) return `(put-down ${block})`;
  if (other === undefined) return undefined;
  return verb === 'stack' ? `(stack ${block} ${other})` : `(unstack ${block} ${other})`;
}

function findBlock(blocks: readonly string[], word: string | undefined): string | undefined {
  const lower = word?.toLowerCase();
  return blocks.find((block) => block === lower);
}
