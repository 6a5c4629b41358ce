import { isPlainObject } from '../../base/json.ts';
import { type ReadRow, textOf } from '../formats/reading.ts';
import { answerOf } from '../known-rows.ts';
import type { RowFault } from './report.ts';

const none: readonly RowFault[] = [];

/** What is wrong with the right answer of a prompt for reinforcement. */
export function answerFaults(row: ReadRow): readonly RowFault[] {
  const { kind, prompt, columns } = row;
  if (kind !== 'prompt') return none;
  const { reward_model: model } = columns;
  const isVerl = 'data_source' in columns;
  if (isVerl && typeof prompt === 'string') {
    return [{ code: 'wrong-type', excerpt: `prompt: text where turns belong: ${prompt}` }];
  }
  if (isVerl && isPlainObject(model) && model['ground_truth'] === undefined) {
    return [{ code: 'missing-column', excerpt: 'reward_model.ground_truth' }];
  }
  const answer = answerOf(row);
  if (answer === undefined) return none;
  if (answer === null || (typeof answer === 'string' && answer.trim() === '')) {
    return [{ code: 'empty-answer', excerpt: answer }];
  }
  const text = textOf(prompt);
  return tells(text, String(answer).trim()) ? [{ code: 'leaked-answer', excerpt: answer }] : none;
}

const announced =
  /\b(?:answer|solution|result)\b(?:\s*(?:is|:|=|equals))+[\s$*"“`]*(?:\\boxed\{)?/gi;

/** Whether a text says that something is the answer, and this is it. */
function tells(text: string, answer: string): boolean {
  if (!text.includes(answer)) return false;
  for (const { index, 0: words } of text.matchAll(announced)) {
    const from = index + words.length;
    const next = text.slice(from + answer.length).charAt(0);
    if (text.startsWith(answer, from) && !/[\p{L}\p{N}]/u.test(next)) return true;
  }
  return false;
}
