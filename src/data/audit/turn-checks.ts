import { isPlainObject } from '../../base/json.ts';
import { type ReadRow, type RowContent, type RowTurn, textOf } from '../formats/reading.ts';
import { turnsOf } from './contents.ts';
import type { RowFault } from './report.ts';
import { startsWithPrompt } from './same-prompts.ts';

const none: readonly RowFault[] = [];

function found(code: RowFault['code'], excerpt: unknown): readonly RowFault[] {
  return [{ code, excerpt }];
}

const knownRoles: readonly string[] = ['assistant', 'developer', 'system', 'tool', 'user'];

/** Roles that trainers know, in an order that they take. */
export function roleFaults(row: ReadRow): readonly RowFault[] {
  const { alternates, prompt, chosen, rejected } = row;
  if (alternates) return alternating(row);
  const turns = [prompt, chosen, rejected].flatMap(turnsOf);
  const wrong = turns.find(({ role }) => !knownRoles.includes(role));
  if (wrong !== undefined) return found('invalid-role', wrong.role);
  const odd = outOfTurn(row);
  return odd.length > 0 ? odd : [...continued(row), ...order(row)];
}

/** Only the assistant's turns are learnt: one ends each side, and begins one that does not repeat its prompt. */
function outOfTurn({ implicit, prompt, chosen, rejected }: ReadRow): readonly RowFault[] {
  for (const side of [chosen, rejected].map(turnsOf)) {
    const [first, last] = [side[0], side.at(-1)];
    if (first === undefined || last === undefined) continue;
    if (!answering.includes(last.role)) return found('invalid-role', `${last.role} ends a side`);
    // Beside a prompt that is text, a whole conversation has been told as one that differs.
    const isWhole = implicit || typeof prompt === 'string' || repeats(side, prompt);
    if (!isWhole && first.role === 'user') return found('invalid-role', 'user begins a side');
  }
  return none;
}

function repeats(side: readonly RowTurn[], prompt: RowContent | undefined): boolean {
  return prompt !== undefined && startsWithPrompt(side, prompt);
}

/** A turn that is not finished is meant to be gone on with. */
function continued({ prompt }: ReadRow): readonly RowFault[] {
  const last = turnsOf(prompt).at(-1);
  if (last?.role !== 'assistant') return none;
  const text = textOf([last]).trimEnd();
  return last.calls.length > 0 || /[.!?。！？)"”]$/.test(text)
    ? found('prompt-continues', text.slice(-80))
    : none;
}

/** System first, then a turn of the user, and no two consecutive turns of the same role. */
function order({ implicit, prompt, chosen }: ReadRow): readonly RowFault[] {
  const asked = implicit === true ? turnsOf(chosen) : turnsOf(prompt);
  if (asked.length === 0) return none;
  const late = asked.findIndex(({ role }, place) => place > 0 && isInstruction(role));
  if (late > 0 && asked.slice(0, late).some(({ role }) => !isInstruction(role))) {
    return found('turn-order', `${asked[late]?.role} is turn ${late + 1}`);
  }
  const spoken = asked.filter(({ role }) => !isInstruction(role));
  if (!spoken.some(({ role }) => role === 'user'))
    return found('turn-order', 'no turn of the user');
  if (spoken[0]?.role !== 'user') return found('turn-order', `begins with ${spoken[0]?.role}`);
  const doubled = spoken.find(
    ({ role }, place) => role === 'user' && spoken[place - 1]?.role === role,
  );
  return doubled === undefined ? none : found('turn-order', 'two turns of the user in a row');
}

function isInstruction(role: string): boolean {
  return role === 'system' || role === 'developer';
}

/** As LLaMA-Factory wants it. */
function alternating(row: ReadRow): readonly RowFault[] {
  const { prompt, chosen, rejected, kind } = row;
  const conversations = [prompt, chosen, rejected].map(turnsOf).filter(({ length }) => length > 0);
  const stranger = conversations.flat().find(({ role }) => isForeign(role, row));
  if (stranger !== undefined) {
    return found('invalid-role', `${stranger.role} in \`from\`, where human and gpt are known`);
  }
  const sides = kind === 'preference' ? conversations.slice(1) : [];
  const [said = []] = conversations;
  const turns = said[0]?.role === 'system' ? said.slice(1) : said;
  const wrong =
    turns.find(({ role }, place) => !(place % 2 === 0 ? asking : answering).includes(role)) ??
    sides.flat().find(({ role }) => !answering.includes(role));
  if (wrong !== undefined) return found('invalid-role', wrong.role);
  // A pair goes on from a question; anything else ends with an answer.
  const isWhole = turns.length % 2 === (kind === 'preference' ? 1 : 0);
  return isWhole ? none : found('invalid-role', `${turns.length} turns`);
}

/** Where turns are written with `from`, people and models have other names. */
function isForeign(role: string, { columns }: ReadRow): boolean {
  const { conversations } = columns;
  const first: unknown = Array.isArray(conversations) ? conversations[0] : undefined;
  const isShareGpt = isPlainObject(first) && 'from' in first;
  return isShareGpt && (role === 'user' || role === 'assistant');
}

const asking: readonly string[] = ['human', 'observation', 'tool', 'user'];
const answering: readonly string[] = ['assistant', 'function_call', 'gpt'];

/** A content is text or parts, and the earlier conversation is pairs of texts. */
export function contentFaults({ prompt, chosen, rejected, columns }: ReadRow): readonly RowFault[] {
  const odd = [prompt, chosen, rejected]
    .flatMap(turnsOf)
    .find(({ content }) => typeof content === 'number' || typeof content === 'boolean');
  if (odd !== undefined) return found('wrong-type', { role: odd.role, content: odd.content });
  const { history, instruction } = columns;
  if (instruction === undefined || (history ?? null) === null) return none;
  const isPair = (turn: unknown) =>
    Array.isArray(turn) && turn.length === 2 && turn.every((text) => typeof text === 'string');
  return Array.isArray(history) && history.every(isPair) ? none : found('wrong-type', { history });
}
