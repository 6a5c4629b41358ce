import { type AnswerValue, isValued, readValue } from './answer-value.ts';
import { answerAlone } from './extract-answer.ts';
import { plainAnswer } from './plain-answer.ts';

/** Longer texts are compared as they are: no answer that people compare is so long. */
const longest = 1_000;

/**
 * Reads what stands where an answer belongs. What says more than an answer, such as *18, as shown* or *about 9 * 2 = 18*,
 * is what it states, if that is a number, a choice or a list of such.
 */
export function readAnswer(answer: string): AnswerValue {
  if (answer.length > longest) return { kind: 'text', text: answer.trim() };
  const plain = plainAnswer(answer);
  if (isValued(plain)) return readValue(plain);
  const stated = answerAlone(plain);
  return readValue(stated !== undefined && isValued(stated) ? plainAnswer(stated) : plain);
}
