import { describe, expect, test } from 'vitest';
import {
  answerOracle,
  extractAnswer,
  notationFor,
  type ReasoningOptions,
  type ReasoningState,
  reasoning,
} from '../../../src/environments/index.ts';
import { describeEnvironment, plainContext } from '../../../src/testing/index.ts';

const question = 'Ann has 3 apples and buys 4. How many has she?';
const context = plainContext();

function taken(options: Partial<ReasoningOptions>, ...steps: readonly string[]) {
  const environment = reasoning({ question, ...options });
  return environment.step({ question, steps: steps.slice(0, -1) }, steps.at(-1) ?? '', context);
}

describe('a step', () => {
  test('goes behind those before it', () => {
    expect(taken({}, 'She has 3.', 'She buys 4.')).toEqual({
      state: { question, steps: ['She has 3.', 'She buys 4.'] },
    });
  });

  test('that states an answer ends the solution, without a reward where nobody verifies it', () => {
    expect(taken({}, '3 + 4 = 7.', 'The answer is 7.')).toEqual({
      state: { question, steps: ['3 + 4 = 7.', 'The answer is 7.'], answer: '7' },
      terminal: true,
      answer: true,
    });
  });

  test('that is the last one allowed ends the solution with reward 0', () => {
    expect(taken({ maxSteps: 2 }, 'She has 3.', 'She buys 4.')).toEqual({
      state: { question, steps: ['She has 3.', 'She buys 4.'] },
      terminal: true,
      reward: 0,
    });
    expect(taken({ maxSteps: 2 }, 'She has 3.', 'The answer is 7.')).not.toHaveProperty('reward');
    expect(taken({ maxSteps: 3 }, 'She has 3.', 'She buys 4.')).not.toHaveProperty('terminal');
  });

  test('is no more than 16 by default', () => {
    const steps = Array.from({ length: 16 }, (_, place) => `Step ${place}`);
    expect(taken({}, ...steps.slice(1))).not.toHaveProperty('terminal');
    expect(taken({}, ...steps)).toMatchObject({ terminal: true, reward: 0 });
  });

  test('finds its answer by a function of the caller', () => {
    const extract = (step: string) => /^=> (.*)$/.exec(step)?.[1];
    expect(taken({ extract }, '=> 7')).toMatchObject({ state: { answer: '7' }, terminal: true });
    expect(taken({ extract }, 'The answer is 7.')).not.toHaveProperty('terminal');
    // What a whole text concludes with may be on the way in a step.
    expect(taken({}, 'Therefore, she has 7 eggs left.')).not.toHaveProperty('terminal');
    expect(extractAnswer('Therefore, she has 7 eggs left.')).toBe('7');
  });

  test('is refused behind an answer, behind the last one and where it is empty', () => {
    const environment = reasoning({ question, maxSteps: 1 });
    const answered = { question, steps: ['The answer is 7.'], answer: '7' };
    expect(() => environment.step(answered, 'And so on.', context)).toThrow(
      'Expected no step behind an answer, got one.',
    );
    const full = { question, steps: ['She has 3.'] };
    expect(() => environment.step(full, 'And so on.', context)).toThrow(
      'Expected no step behind the last step, got one.',
    );
    expect(() => environment.step(environment.reset().state, ' \n', context)).toThrow(
      'Expected `step` to be a text that is not empty',
    );
  });

  test('is the same to the tree whatever its white space', () => {
    const { key } = reasoning({ question });
    const one = key({ question, steps: ['3 + 4\n= 7. '] });
    expect(key({ question, steps: ['3 + 4 = 7.'] })).toBe(one);
    expect(key({ question, steps: ['3 +', '4 = 7.'] })).not.toBe(one);
    expect(key({ question, steps: ['3 + 4 = 8.'] })).not.toBe(one);
  });
});

describe('a verifier', () => {
  const verifying = (score?: number) => ({
    verify: ({ answer }: ReasoningState) => ({
      correct: answer === '7',
      ...(score !== undefined && { score }),
    }),
  });

  test.each([
    ['The answer is 7.', undefined, 1],
    ['The answer is 8.', undefined, 0],
    ['The answer is 8.', 0.25, 0.25],
  ])('rewards %j with score %j by %d', async (step, score, reward) => {
    const transition = await taken({ verifier: verifying(score) }, step);
    expect(transition).toMatchObject({ terminal: true, answer: true, reward });
  });

  test('is asked about answered states only, and through the context', async () => {
    const asked: unknown[] = [];
    const verifier = {
      verify(...args: readonly unknown[]) {
        asked.push(args);
        return Promise.resolve({ correct: true });
      },
    };
    await taken({ verifier }, 'She has 3.');
    await taken({ verifier, maxSteps: 1 }, 'She has 3.');
    expect(asked).toEqual([]);
    await taken({ verifier }, 'The answer is 7.');
    // The context of the step, for effects that act on the answered state.
    const { signal, random } = context;
    expect(asked).toEqual([
      [
        { question, steps: ['The answer is 7.'], answer: '7' },
        expect.objectContaining({ signal, random }),
      ],
    ]);
  });

  test('that scores outside of 0 to 1 fails the step', async () => {
    await expect(taken({ verifier: verifying(2) }, 'The answer is 7.')).rejects.toThrow(
      'Expected `verifier.verify().score` to be a number from 0 to 1, got `2`.',
    );
  });

  test('may not be an oracle', () => {
    expect(() => reasoning({ question, verifier: answerOracle('7') as never })).toThrow(
      'Expected `verifier` to have a method `verify`, got an oracle: gold answers must not guide a search.',
    );
  });
});

describe('an oracle of answers', () => {
  const state = { question, steps: ['…'] };

  test.each([
    [{ ...state, answer: '7 apples' }, true],
    [{ ...state, answer: '\\frac{14}{2}' }, true],
    [{ ...state, answer: '8' }, false],
    [state, false],
  ])('labels %j: %j', (labelled, correct) => {
    expect(answerOracle('7').label(labelled)).toMatchObject({ correct });
  });

  test('compares as its caller does', () => {
    const oracle = answerOracle('7', { isEqual: (left, right) => left === `${right}!` });
    expect(oracle.label({ ...state, answer: '7!' })).toMatchObject({
      correct: true,
    });
    expect(oracle.label({ ...state, answer: '7' })).toMatchObject({
      correct: false,
    });
  });

  test('needs a gold answer', () => {
    expect(() => answerOracle(' ')).toThrow('Expected `gold` to be a text that is not empty');
    expect(() => answerOracle('7', { isEqual: 7 as never })).toThrow('`isEqual` to be a function');
  });
});

describe('options of reasoning', () => {
  test.each([
    [{ question: ' ' }, 'Expected `question` to be a text that is not empty, got `" "`.'],
    [{ delimiter: '' }, 'Expected `delimiter` to be a text that is not empty, got `""`.'],
    [{ system: '' }, 'Expected `system` to be a text that is not empty, got `""`.'],
    [{ maxSteps: 0 }, 'Expected `maxSteps` to be an integer from 1 up, got `0`.'],
    [{ extract: 1 as never }, 'Expected `extract` to be a function, got `1`.'],
    [{ isEqual: 1 as never }, 'Expected `isEqual` to be a function, got `1`.'],
    [{ verifier: null as never }, 'an object with a method `verify`, got `null`.'],
    [{ verifier: {} as never }, 'an object with a method `verify`, got one without it.'],
  ])('%o is refused', (wrong, message) => {
    expect(() => reasoning({ question, ...wrong })).toThrow(message);
  });
});

describe('the notation for a model', () => {
  const environment = reasoning({ question });
  const { continued, restated, json } = environment.notations;

  test('that continues its own message is the one that saves most', () => {
    expect(notationFor(environment, { continuation: true })).toBe(continued);
    expect(notationFor(environment, { continuation: true, schema: true })).toBe(continued);
  });

  test('that can be bound to a schema is JSON, and for others the steps are restated', () => {
    expect(notationFor(environment, { schema: true })).toBe(json);
    expect(notationFor(environment, {})).toBe(restated);
    expect(environment.notation).toBe(restated);
  });
});

const steps = ['She has 3.', '3 + 4 = 7. The answer is 7.', 'She has none.', 'It is (B).'];
const actions = (state: ReasoningState) =>
  state.answer === undefined && state.steps.length < 4 ? steps : [];

for (const name of ['continued', 'restated', 'json'] as const) {
  for (const delimiter of ['\n\n', '\n', '###']) {
    const create = () => {
      const environment = reasoning({ question, delimiter, maxSteps: 4 });
      return { ...environment, notation: environment.notations[name] };
    };
    const title = `reasoning, ${name}, parted by ${JSON.stringify(delimiter)}`;
    describeEnvironment(title, { create, actions }, { describe, test });
  }
}

const verifier = { verify: ({ answer }: ReasoningState) => ({ correct: answer === '7' }) };
const create = () => reasoning({ question, verifier, maxSteps: 4, system: 'Be brief.' });
describeEnvironment('reasoning with a verifier', { create, actions }, { describe, test });
