import type { Message, Random } from 'espalier';
import { answered, type Example, pick, type Question } from './example.ts';

const tools = { '+': 'add', '-': 'sub', '*': 'mul', '/': 'div' } as const;
type Sign = keyof typeof tools;
const signs: readonly Sign[] = ['+', '-', '*', '/'];

/** A sum, difference, product or quotient that comes out even. */
function exercise(random: Random) {
  const sign = pick(random, signs);
  const [a, b] = [random.integer(100), random.integer(sign === '*' ? 13 : 100)];
  switch (sign) {
    case '+':
      return { sign, a, b, result: a + b };
    case '-':
      return { sign, a: a + b, b, result: a };
    case '*':
      return { sign, a, b, result: a * b };
    case '/':
      return { sign, a: (a % 13) * (b + 1), b: b + 1, result: a % 13 };
  }
}

/** Short arithmetic: `What is 7 * 8?`. */
export function arithmetic(random: Random): Example & Question {
  const { sign, a, b, result } = exercise(random);
  const content = `What is ${a} ${sign} ${b}? Write the number, and nothing else.`;
  const answer = String(result);
  return { ...answered('arithmetic', [{ role: 'user', content }], answer), answer };
}

/** A tool call, or the answer that follows from the result of one. */
export function toolCall(random: Random): Example & Question {
  const { sign, a, b, result } = exercise(random);
  const content = [
    'You have four tools: add(a, b), sub(a, b), mul(a, b) and div(a, b). Answer with one call as JSON,',
    'and nothing else, for example {"tool": "add", "a": 1, "b": 2}, until you know the result. Then',
    'write the number.',
    '',
    `What is ${a} ${sign} ${b}?`,
  ].join('\n');
  const call = `{"tool": "${tools[sign]}", "a": ${a}, "b": ${b}}`;
  const question: Message = { role: 'user', content };
  if (random.next() < 0.7) return { ...answered('tool', [question], call), answer: call };
  const turns: readonly Message[] = [
    question,
    { role: 'assistant', content: call },
    { role: 'user', content: `Result: ${result}` },
  ];
  return { ...answered('tool', turns, String(result)), answer: String(result) };
}
