import { identityOf, type ReadRow, type RowContent, textOf } from '../formats/reading.ts';
import type { RowFault } from './report.ts';

const none: readonly RowFault[] = [];

function found(code: RowFault['code'], excerpt: unknown): readonly RowFault[] {
  return [{ code, excerpt }];
}

/** Both sides must continue from the same prompt, if they contain it. */
export function promptFaults(row: ReadRow): readonly RowFault[] {
  const { kind, implicit, prompt, chosen, rejected } = row;
  if (kind !== 'preference') return repeatedPrompt(row);
  if (chosen === undefined || rejected === undefined) return none;
  if (implicit) {
    const shared = sharedStart(chosen, rejected);
    return found(shared === '' ? 'prompt-differs' : 'implicit-prompt', shared || textOf(chosen));
  }
  if (prompt === undefined) return none;
  const repeats = [chosen, rejected].map((side) => startsWithPrompt(side, prompt));
  if (repeats.every(Boolean)) return found('prompt-repeated', textOf(prompt));
  const isMixed = typeof prompt === 'string' && typeof chosen !== 'string' && chosen.length > 1;
  return repeats.some(Boolean) || isMixed ? found('prompt-differs', textOf(prompt)) : none;
}

/** A completion begins with its prompt, and would be trained on it twice. Short words may well come twice. */
function repeatedPrompt({ prompt, chosen }: ReadRow): readonly RowFault[] {
  if (prompt === undefined || chosen === undefined) return none;
  const repeats = textOf(prompt).trim().length > 20 && startsWithPrompt(chosen, prompt);
  return repeats ? found('prompt-repeated', textOf(prompt)) : none;
}

function sharedStart(chosen: RowContent, rejected: RowContent): string {
  if (typeof chosen === 'string' && typeof rejected === 'string') {
    let length = 0;
    while (length < chosen.length && chosen[length] === rejected[length]) length++;
    return chosen.slice(0, length).trim();
  }
  if (typeof chosen === 'string' || typeof rejected === 'string') return '';
  const [first] = chosen;
  const isShared = identityOf(first && [first]) === identityOf(rejected[0] && [rejected[0]]);
  return isShared && first !== undefined ? textOf([first]) : '';
}

/** Whether a side begins with its prompt. */
export function startsWithPrompt(side: RowContent, prompt: RowContent): boolean {
  if (typeof side === 'string') {
    return typeof prompt === 'string' && prompt.trim() !== '' && side.startsWith(prompt);
  }
  if (typeof prompt === 'string') return side.length > 1 && textOf(side.slice(0, 1)) === prompt;
  return (
    side.length > prompt.length && identityOf(side.slice(0, prompt.length)) === identityOf(prompt)
  );
}
