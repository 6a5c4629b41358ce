import { describe, expect, it } from 'vitest';
import { EspalierError } from '../../src/base/errors.ts';
import type { Capabilities, GenerateRequest } from '../../src/contracts/language-model.ts';
import {
  type ArithmeticState,
  type ArithmeticStep,
  gameOf24,
  type Rational,
} from '../../src/environments/index.ts';
import { fromModel } from '../../src/policies/index.ts';
import { plainContext, scriptedModel } from '../../src/testing/index.ts';
import { environmentOf } from '../support/environment-of.ts';
import { noSpend, rootNode } from '../support/nodes.ts';

const environment = gameOf24.environment({ numbers: [4, 9, 10, 13] });
const { notation } = environment;
const root = rootNode<ArithmeticState<Rational>, ArithmeticStep<Rational>>(
  environment.reset().state,
);
const step = '13 - 9 = 4 (left: 4 4 10)';
const context = plainContext();

function asking(count: number, offset = 0) {
  return { environment: environmentOf(notation), context, count, offset, remaining: noSpend };
}

function scripted(
  answer: (request: GenerateRequest, index: number) => string,
  capabilities: Capabilities = { n: true, temperature: true },
) {
  return scriptedModel({ answer, capabilities });
}

describe('a policy from a model', () => {
  it('asks with the prompt of the state, and reads each sample as an action', async () => {
    const answers = [step, `I subtract.\n${step}`, '4 * 10 = 40 (left: 9 13 40)'];
    const model = scripted((_request, index) => answers[index] ?? '');
    const policy = fromModel({
      model,
      maxTokens: 32,
      topP: 0.9,
      stop: ['\n\n'],
      seed: 7,
    });
    const proposals = await policy.propose(root, asking(3));
    expect(model.requests).toEqual([
      {
        messages: notation.prompt(root.state),
        samples: 3,
        offset: 0,
        maxTokens: 32,
        temperature: 1,
        topP: 0.9,
        stop: ['\n\n'],
        seed: 7,
      },
    ]);
    expect(
      proposals.map((proposal) => 'action' in proposal && notation.format(proposal.action)),
    ).toEqual([step, step, '4 * 10 = 40 (left: 9 13 40)']);
    expect(proposals[0]).toMatchObject({ completion: { text: step } });
    expect(proposals.every((proposal) => !('prior' in proposal))).toBe(true);
  });

  it('draws `samples` where all actions are wanted, and goes on at the offset', async () => {
    const model = scripted(() => step);
    const policy = fromModel({ model, samples: 4 });
    expect(await policy.propose(root, asking(Number.POSITIVE_INFINITY))).toHaveLength(4);
    expect(await policy.propose(root, asking(2, 4))).toHaveLength(2);
    expect(model.requests.map(({ samples, offset }) => [samples, offset])).toEqual([
      [4, 0],
      [2, 4],
    ]);
  });

  it('sets no temperature for a model that takes none', async () => {
    const model = scripted(() => step, { n: true });
    await fromModel({ model, temperature: 0 }).propose(root, asking(1));
    expect(model.requests[0]).not.toHaveProperty('temperature');
  });

  it('says of each sample that is no action why it is none', async () => {
    const answers = ['4 + 9 = 14', '7 * 8 = 56', 'No idea.', '  '];
    const model = scripted((_request, index) => answers[index] ?? '');
    const proposals = await fromModel({ model }).propose(root, asking(4));
    expect(proposals).toEqual([
      { failure: { kind: 'parse', message: 'Expected `4 + 9 = 13`, got `14`.' } },
      {
        failure: {
          kind: 'parse',
          message: 'Expected a step on two of the numbers 4 9 10 13, got `7 * 8`.',
        },
      },
      {
        failure: {
          kind: 'parse',
          message: 'Expected a step such as `2 * 3 = 6 (left: 6 8)`, got `No idea.`.',
        },
      },
      { failure: { kind: 'empty', message: 'Expected an action, got no text.' } },
    ]);
  });

  it('does not read the line at which an answer was cut off', async () => {
    const texts = ['4 * 10 = 40', `${step}\nBecause 4 * 10`];
    const model = scriptedModel({
      answer: (_request, index) => ({ text: texts[index] ?? '', finishReason: 'length' }),
    });
    const [cut, whole] = await fromModel({ model }).propose(root, asking(2));
    expect(cut).toEqual({
      failure: { kind: 'parse', message: 'Expected an action, got an answer that was cut off.' },
    });
    expect(whole).toMatchObject({ action: { operator: '-' } });
  });
});

describe('repairs', () => {
  const wrong = '4 + 9 = 14';
  const told = 'Expected `4 + 9 = 13`, got `14`. Answer again, in the same form.';

  it('sends an answer back with what is wrong with it, up to the limit', async () => {
    const model = scripted(({ messages }) => (messages.length < 5 ? wrong : step));
    const proposals = await fromModel({ model, repairs: 2 }).propose(root, asking(1, 3));
    expect(proposals).toMatchObject([{ action: { operator: '-' }, completion: { text: step } }]);
    const turns = [
      ...notation.prompt(root.state),
      { role: 'assistant', content: wrong },
      { role: 'user', content: told },
    ];
    expect(model.requests.map(({ messages }) => messages)).toEqual([
      notation.prompt(root.state),
      turns,
      [...turns, { role: 'assistant', content: wrong }, { role: 'user', content: told }],
    ]);
    // Each sample keeps its index, so that two samples that went wrong alike are repaired apart.
    expect(model.requests.map(({ offset }) => offset)).toEqual([3, 3, 3]);
  });

  it('fails a sample that is wrong to the end, and no other', async () => {
    const model = scripted((_request, index) => (index === 0 ? wrong : step));
    const proposals = await fromModel({ model, repairs: 1 }).propose(root, asking(2));
    expect(proposals).toMatchObject([
      { failure: { message: 'Expected `4 + 9 = 13`, got `14`.' } },
      { action: { operator: '-' } },
    ]);
    expect(model.completions).toBe(3);
  });

  it('fails only the sample whose repair fails', async () => {
    const model = scripted(({ messages }, index) => {
      if (messages.length > 1) throw new Error('The server is gone.');
      return index === 0 ? wrong : step;
    });
    expect(await fromModel({ model, repairs: 1 }).propose(root, asking(2))).toMatchObject([
      { failure: { kind: 'call', message: 'The server is gone.' } },
      { action: { operator: '-' } },
    ]);
  });
});

describe('the options of a policy from a model', () => {
  const model = scripted(() => step);

  it.each([
    [{ samples: 0 }, 'Expected `samples` to be an integer from 1 up, got `0`.'],
    [{ temperature: -1 }, 'Expected `temperature` to be a finite number from 0 up, got `-1`.'],
    [{ topP: 2 }, 'Expected `topP` to be a finite number from 0 to 1, got `2`.'],
    [{ maxTokens: 1.5 }, 'Expected `maxTokens` to be an integer from 1 up, got `1.5`.'],
    [{ repairs: -1 }, 'Expected `repairs` to be an integer from 0 up, got `-1`.'],
    [{ seed: 0.5 }, 'Expected `seed` to be an integer from 0 up, got `0.5`.'],
  ])('says what is wrong with %o', (wrong, message) => {
    expect(() => fromModel({ model, ...wrong })).toThrow(new EspalierError('usage', message));
  });

  it('says that a model is missing', () => {
    const missing = undefined as never;
    expect(() => fromModel({ model: missing })).toThrow('a method `generate`');
  });
});
