import type { EmulatedAnswer, EmulatedQuestion } from '../../src/testing/index.ts';

type Answer = (question: EmulatedQuestion) => string | EmulatedAnswer;

/** What emulated models answer to the examples that ask hosted ones, and with which providers these are run. */
export const answers: Readonly<
  Record<string, { readonly providers: readonly string[]; readonly answer: Answer }>
> = {
  '15-a-hosted-model.ts': {
    providers: ['anthropic', 'openai', 'gemini', 'openrouter'],
    answer: anOrder,
  },
  '16-your-own-client.ts': { providers: ['anthropic', 'openai'], answer: aRefund },
  '17-a-dataset-from-a-hosted-model.ts': { providers: ['anthropic', 'openai'], answer: aSolution },
};

/** Every other sample takes a wrong step, which a judge finds. */
function anOrder(question: EmulatedQuestion): string {
  const steps: readonly Steps[] = [
    ['The goods cost 3 · 99 + 2 · 86 + 47 = $516.', 'The goods cost 3 · 99 + 86 + 47 = $430.'],
    ['A quarter less than $516 is $387.', 'Nothing is taken off.'],
    ['They weigh 3 · 3 + 2 · 2 + 8 = 21 kg: $387 + $42. The answer is 429.', 'The answer is 387.'],
  ];
  return stepOf(question, steps);
}

/** The right step, and a wrong one. */
type Steps = readonly [right: string, wrong: string];

function stepOf(question: EmulatedQuestion, steps: readonly Steps[]): string {
  const { sample, schema } = question;
  const asked = lastOf(question);
  if (asked.includes('Judge how likely')) {
    return steps.some(([, wrong]) => asked.includes(wrong)) ? 'impossible' : 'likely';
  }
  const [, number] = /Write step (\d+)/.exec(asked) ?? [];
  const step = steps[Number(number) - 1]?.[sample % 2] ?? 'The answer is 0.';
  const [, answer = null] = /The answer is (.*)\./.exec(step) ?? [];
  return schema === undefined ? step : JSON.stringify({ step, answer });
}

/** It finds the order and refunds it; every other sample refunds the wrong one. */
function aRefund({ messages, sample, toolChoice }: EmulatedQuestion): string | EmulatedAnswer {
  if (toolChoice === 'none') return 'likely';
  const wrong = { name: 'refund', input: { order: 'A-17', dollars: 30 } };
  if (sample % 2 === 1) return { toolCalls: [wrong] };
  const isFound = messages.some(({ role }) => role === 'tool');
  const found = { name: 'refund', input: { order: 'A-21', dollars: 45 } };
  return { toolCalls: [isFound ? found : { name: 'find', input: { customer: 'Ada' } }] };
}

function aSolution(question: EmulatedQuestion): string {
  const steps: readonly Steps[] = lastOf(question).includes('marbles')
    ? [
        ['The first is red with 4/10.', 'Each is red with 1/2.'],
        ['The second is red with 3/9.', 'The second is red with 4/10.'],
        ['4/10 · 3/9 = 2/15. The answer is 2/15.', '4/10 + 3/9 = 11/15. The answer is 11/15.'],
      ]
    : [
        ['The long hand is at 240 degrees.', 'The short hand is at 90 degrees.'],
        ['The short hand is at 90 + 20 = 110 degrees.', 'The short hand is at 3 · 30 degrees.'],
        ['240 - 110 = 130. The answer is 130.', '240 - 90 = 150. The answer is 150.'],
      ];
  return stepOf(question, steps);
}

function lastOf({ messages }: EmulatedQuestion): string {
  return messages.at(-1)?.content ?? '';
}
