import { type AnswerValue, isValued, readValue } from './answer-value.ts';
import { answerAlone } from './extract-answer.ts';
import { plainAnswer } from './plain-answer.ts';

/** Longer texts are compared unchanged, since they are not answers. */
const longest = 1_000;

/**
 * Reads an answer field. If it says more than an answer, such as *18, as shown* or *about 9 * 2 = 18*, the answer that
 * it states is used, if that is a number, a choice or a list of these.
 */
export function readAnswer(answer: string): AnswerValue {
  if (answer.length > longest) return { kind: 'text', text: answer.trim() };
  const plain = plainAnswer(answer);
  if (isValued(plain)) return readValue(plain);
  const stated = answerAlone(plain);
  return readValue(stated !== undefined && isValued(stated) ? plainAnswer(stated) : plain);
}
