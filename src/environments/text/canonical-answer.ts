import type { AnswerValue } from './answer-value.ts';
import type { ExactNumber } from './exact-number.ts';
import { readAnswer } from './read-answer.ts';

/**
 * The canonical form shared by equivalent answers, with numbers as fractions in lowest terms. Optional parts (units,
 * variables, brackets, the percent sign) are dropped, so that equality is transitive, as votes need; `5 cm` and `5 m`
 * are one answer here.
 */
export function canonicalAnswer(answer: string): string {
  return canonical(readAnswer(answer));
}

function canonical(value: AnswerValue): string {
  switch (value.kind) {
    case 'number':
      return lowestTerms(value.value);
    case 'list':
      return value.items.length === 1 && value.items[0] !== undefined
        ? canonical(value.items[0])
        : `[${value.items.map(canonical).join(', ')}]`;
    case 'choice':
      return value.letter;
    case 'truth':
      return String(value.value);
    case 'text':
      return value.text;
  }
}

function lowestTerms({ numerator, denominator }: ExactNumber): string {
  let [a, b] = [numerator < 0n ? -numerator : numerator, denominator];
  while (b > 0n) [a, b] = [b, a % b];
  const [above, below] = [numerator / a, denominator / a];
  return below === 1n ? `${above}` : `${above}/${below}`;
}
