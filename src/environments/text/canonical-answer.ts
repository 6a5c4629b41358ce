import type { AnswerValue } from './answer-value.ts';
import type { ExactNumber } from './exact-number.ts';
import { readAnswer } from './read-answer.ts';

/**
 * An answer in the form that answers which say the same have in common: numbers as fractions in lowest terms. What an
 * answer may leave out (units, variables, brackets, the sign of a percentage) is left out, so that equality is
 * transitive, as votes need it; `5 cm` and `5 m` are one answer here.
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
