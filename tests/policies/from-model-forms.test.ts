import { describe, expect, test } from 'vitest';
import { EspalierError } from '../../src/base/errors.ts';
import type { Notation } from '../../src/contracts/environment.ts';
import type {
  Capabilities,
  Completion,
  GenerateRequest,
} from '../../src/contracts/language-model.ts';
import { type ReasoningState, reasoning } from '../../src/environments/index.ts';
import { type FromModelOptions, fromModel } from '../../src/policies/index.ts';
import { plainContext, scriptedModel } from '../../src/testing/index.ts';
import { environmentOf } from '../support/environment-of.ts';
import { noSpend, rootNode } from '../support/nodes.ts';
import { said } from '../support/said.ts';

const question = 'Ann has 3 apples and buys 4. How many has she?';
const environment = reasoning({ question });
const { continued, restated, json } = environment.notations;
const context = plainContext();
const root = rootNode<ReasoningState, string>({ question, steps: ['She has 3.'] });

const jsonRequest =
  'Answer in JSON, and write nothing else: {"step": "<text>"}, with the step in the form asked for above as its text.';
const wrapper = {
  type: 'object',
  properties: { step: { type: 'string' } },
  required: ['step'],
  additionalProperties: false,
};

interface Asked {
  readonly answers: readonly (string | Completion)[];
  readonly capabilities?: Capabilities;
  readonly count?: number;
  readonly offset?: number;
}

/** Asks a policy whose model gives these answers, one a sample, and shows the requests. */
async function ask(
  {
    notation = restated,
    ...options
  }: Omit<Partial<FromModelOptions<ReasoningState, string>>, 'model'> & {
    readonly notation?: Notation<ReasoningState, string>;
  },
  { answers, capabilities = { n: true }, count = answers.length, offset = 0 }: Asked,
) {
  const answer = (_request: GenerateRequest, index: number) => answers[index - offset] ?? '';
  const model = scriptedModel({ answer, capabilities });
  const policy = fromModel({ ...options, model });
  const proposals = await policy.propose(root, {
    environment: environmentOf(notation),
    context,
    count,
    offset,
    remaining: noSpend,
  });
  return {
    requests: model.requests,
    proposals: proposals.map((proposal) =>
      'action' in proposal ? proposal.action : proposal.failure,
    ),
  };
}

const cut = (text: string): Completion => ({ text, finishReason: 'length' });
const cutOff = {
  kind: 'parse',
  message: 'Expected an action, got an answer that was cut off.',
};

const cutBefore = {
  kind: 'parse',
  message:
    'Expected an action, got a reply that was cut off before it said anything: the model may have thought until its limit. Give it more `thoughtTokens`, or a lower effort.',
};

describe('a step in text', () => {
  test('is asked for up to the delimiter, where the model stops at one', async () => {
    const stopping = { answers: ['3 + 4 = 7.'], capabilities: { stop: true } };
    const { requests } = await ask({}, stopping);
    expect(requests[0]).toEqual({
      messages: restated.prompt(root.state),
      samples: 1,
      offset: 0,
      maxTokens: 256,
      stop: ['\n\n'],
    });
    expect((await ask({ stop: ['.'] }, stopping)).requests[0]?.stop).toEqual(['.']);
    expect((await ask({}, { answers: ['x'] })).requests[0]).not.toHaveProperty('stop');
    const { delimiter: _, ...plain } = restated;
    expect((await ask({ notation: plain }, stopping)).requests[0]).not.toHaveProperty('stop');
  });

  test('that was cut off is none, and states no answer', async () => {
    const { proposals } = await ask(
      {},
      {
        answers: [
          cut('The answer is 2'),
          cut('So \\boxed{7}, because'),
          cut('We add.\nThe answer is 7.\nBecau'),
          cut('We add.\n\nThe answer is 2'),
          { text: 'The answer is 2', finishReason: 'stop' },
        ],
      },
    );
    expect(proposals).toEqual([cutOff, cutOff, cutOff, 'We add.', 'The answer is 2']);
  });

  test('that is a refusal is none, and is not sent back', async () => {
    const refusal: Completion = { text: 'I cannot help with that.', finishReason: 'refusal' };
    const { proposals, requests } = await ask({ repairs: 2 }, { answers: [refusal] });
    expect(proposals).toEqual([{ kind: 'empty', message: 'Expected an action, got a refusal.' }]);
    expect(requests).toHaveLength(1);
  });
});

describe('a notation of JSON', () => {
  test('binds a model that can be bound to its schema, and sends no stop', async () => {
    const bound = { schema: true, stop: true };
    const { requests } = await ask({ notation: json }, { answers: ['{}'], capabilities: bound });
    expect(requests[0]).toEqual({
      messages: json.prompt(root.state),
      samples: 1,
      offset: 0,
      maxTokens: 256,
      schema: json.schema,
    });
    expect((await ask({ notation: json }, { answers: ['{}'] })).requests[0]).not.toHaveProperty(
      'schema',
    );
  });

  test.each(['text', 'json'] as const)(
    'is looked for in what other models write, in the form %s',
    async (form) => {
      const { proposals, requests } = await ask(
        { notation: json, form },
        {
          answers: [
            '{"step": "3 + 4 = 7.", "answer": null}',
            'Sure:\n```json\n{"step": "3 + 4 = 7.", "answer": "7"}\n```',
            '<think>{"step": "no"}</think>{"step": "Add \\frac{1}{2}."}',
            '{"step": "Add up."}\n{"step": "It is 7.", "answer": "7"}',
          ],
        },
      );
      expect(proposals).toEqual([
        '3 + 4 = 7.',
        '3 + 4 = 7.\nThe answer is 7.',
        'Add \\frac{1}{2}.',
        'Add up.',
      ]);
      // The notation asks for JSON itself.
      expect(requests[0]?.messages).toEqual(json.prompt(root.state));
    },
  );

  test('fails what was cut off, what is no JSON and what is no step', async () => {
    const { proposals } = await ask(
      { notation: json },
      {
        answers: [
          cut('{"step": "So it is.", "answer": "2'),
          '{"step": "So it is.", "answer": "2',
          cut('{"step": "3 + 4 = 7."} And n'),
          'She has 7.',
          '{"step": 7}',
          ' ',
          cut(''),
          { text: '{"step": "No."}', finishReason: 'refusal' },
        ],
      },
    );
    expect(proposals).toEqual([
      cutOff,
      cutOff,
      '3 + 4 = 7.',
      { kind: 'parse', message: 'Expected JSON, got `She has 7.`.' },
      {
        kind: 'parse',
        message:
          'Expected a step such as `{"step": "2 + 3 = 5", "answer": null}`, got `7` for `step`.',
      },
      { kind: 'empty', message: 'Expected an action, got no text.' },
      cutBefore,
      { kind: 'empty', message: 'Expected an action, got a refusal.' },
    ]);
  });
});

describe('the form json of a notation of text', () => {
  test('asks for JSON behind the prompt, and binds a model that can be bound', async () => {
    const { requests } = await ask(
      { form: 'json' },
      { answers: ['{}'], capabilities: { schema: true, stop: true } },
    );
    const content = `${restated.prompt(root.state)[0]?.content}\n\n${jsonRequest}`;
    const { messages = [], ...asked } = requests[0] ?? {};
    expect(said(messages)).toEqual([{ role: 'user', content }]);
    expect(asked).toEqual({
      samples: 1,
      offset: 0,
      maxTokens: 256,
      schema: wrapper,
    });
  });

  test('asks in a turn of its own behind steps that a model would have continued', async () => {
    const { requests } = await ask({ form: 'json', notation: continued }, { answers: ['{}'] });
    expect(said(requests[0]?.messages)).toEqual([
      ...continued.prompt(root.state),
      { role: 'user', content: jsonRequest },
    ]);
    expect(requests[0]).not.toHaveProperty('schema');
  });

  test('takes the step out of the JSON and reads it as the notation does', async () => {
    const { proposals } = await ask(
      { form: 'json' },
      {
        answers: [
          '{"step": "Step 2: 3 + 4 = 7.", "answer": "7"}',
          '["3 + 4 = 7."]',
          '{"steps": ["3 + 4 = 7."]}',
          '{"next": "3 + 4 = 7."}',
          '{"step": " "}',
          '{"step": "…"} {"step": "3 + 4 = 7."}',
        ],
      },
    );
    expect(proposals).toEqual([
      '3 + 4 = 7.',
      '3 + 4 = 7.',
      '3 + 4 = 7.',
      {
        kind: 'parse',
        message: 'Expected an object with a text `step`, got `{"next":"3 + 4 = 7."}`.',
      },
      { kind: 'empty', message: 'Expected an action, got no text.' },
      '3 + 4 = 7.',
    ]);
  });

  test('is repaired like text', async () => {
    const model = scriptedModel({
      answer: ({ messages }) => (messages.length > 1 ? '{"step": "Add up."}' : 'Add up.'),
    });
    const policy = fromModel({ model, form: 'json', repairs: 1 });
    const [proposal] = await policy.propose(root, {
      environment: environmentOf(restated),
      context,
      count: 1,
      offset: 4,
      remaining: noSpend,
    });
    expect(proposal).toMatchObject({ action: 'Add up.' });
    expect(model.requests.map(({ offset }) => offset)).toEqual([4, 4]);
    expect(model.requests[1]?.messages.at(-1)?.content).toBe(
      'Expected JSON, got `Add up.`. Answer again, in the same form.',
    );
  });
});

const vary = ['Draw it.', 'Use algebra.', 'Work backwards.'];

function varied(requests: readonly GenerateRequest[]) {
  return requests.map(({ messages, samples, offset }) => {
    const lines = messages.findLast(({ role }) => role === 'user')?.content.split('\n') ?? [];
    return [lines.at(-1), offset, samples];
  });
}

describe('instructions that vary', () => {
  test('go to the samples in turn, and those of one instruction are one request', async () => {
    const { requests } = await ask({ vary }, { answers: [], count: 7 });
    expect(varied(requests)).toEqual([
      ['Draw it.', 0, 3],
      ['Use algebra.', 0, 2],
      ['Work backwards.', 0, 2],
    ]);
    const content = `${restated.prompt(root.state)[0]?.content}\n\nDraw it.`;
    expect(said(requests[0]?.messages)).toEqual([{ role: 'user', content }]);
  });

  test('go on at the offset', async () => {
    const { requests } = await ask({ vary }, { answers: [], count: 4, offset: 7 });
    // The samples 7, 8, 9 and 10: the third of algebra, the third of backwards, the fourth of the first …
    expect(varied(requests)).toEqual([
      ['Use algebra.', 2, 2],
      ['Work backwards.', 2, 1],
      ['Draw it.', 3, 1],
    ]);
    expect(varied((await ask({ vary }, { answers: [], count: 1 })).requests)).toEqual([
      ['Draw it.', 0, 1],
    ]);
  });

  test('bring one proposal a sample, in order', async () => {
    const model = scriptedModel({
      answer: ({ messages }, index) => `${messages[0]?.content.split('\n').at(-1)} ${index}`,
    });
    const policy = fromModel({ model, vary });
    const proposals = await policy.propose(root, {
      environment: environmentOf(restated),
      context,
      count: 5,
      offset: 0,
      remaining: noSpend,
    });
    expect(proposals.map((proposal) => 'action' in proposal && proposal.action)).toEqual([
      'Draw it. 0',
      'Use algebra. 0',
      'Work backwards. 0',
      'Draw it. 1',
      'Use algebra. 1',
    ]);
  });

  test('stand in the question, so that an answer that was begun goes on', async () => {
    const { requests } = await ask({ vary, notation: continued }, { answers: [], count: 1 });
    const [user, assistant] = continued.prompt(root.state);
    expect(said(requests[0]?.messages)).toEqual([
      { role: 'user', content: `${user?.content}\n\nDraw it.` },
      assistant,
    ]);
  });

  test('stand behind the request for JSON', async () => {
    const { requests } = await ask({ vary, form: 'json' }, { answers: [], count: 1 });
    expect(requests[0]?.messages[0]?.content).toMatch(/as its text\.\n\nDraw it\.$/);
  });
});

describe('the requests of instructions that vary', () => {
  test('fail their own samples, and no others', async () => {
    const model = scriptedModel({
      answer: ({ messages }) => {
        if (messages[0]?.content.endsWith('algebra.') === true) throw new Error('It is gone.');
        return 'Add up.';
      },
    });
    const policy = fromModel({ model, vary });
    const request = {
      environment: environmentOf(restated),
      context,
      count: 4,
      offset: 0,
      remaining: noSpend,
    };
    const failed = { failure: { kind: 'call', message: 'It is gone.' } };
    expect(await policy.propose(root, request)).toMatchObject([
      { action: 'Add up.' },
      failed,
      { action: 'Add up.' },
      { action: 'Add up.' },
    ]);
    const algebra = fromModel({ model, vary: ['Use algebra.'] });
    await expect(algebra.propose(root, request)).rejects.toThrow('It is gone.');
  });

  test('wait for the first of them, which warms the cache', async () => {
    const open: (() => void)[] = [];
    const asked: number[] = [];
    const model = scriptedModel({ answer: () => 'Add up.' });
    const waiting = {
      ...model,
      generate: async (...call: Parameters<typeof model.generate>) => {
        asked.push(open.length);
        await new Promise<void>((resolve) => open.push(resolve));
        return model.generate(...call);
      },
    };
    const policy = fromModel({ model: waiting, vary });
    const proposing = policy.propose(root, {
      environment: environmentOf(restated),
      context,
      count: 3,
      offset: 0,
      remaining: noSpend,
    });
    const turn = () => new Promise((resolve) => setImmediate(resolve));
    await turn();
    expect(asked).toEqual([0]);
    open[0]?.();
    await turn();
    expect(asked).toEqual([0, 1, 2]);
    for (const resolve of open) resolve();
    expect(await proposing).toHaveLength(3);
  });
});

describe('the options of forms', () => {
  const model = scriptedModel({ answer: () => '' });

  test.each([
    [{ form: 'xml' as never }, "Expected `form` to be 'text' or 'json' or 'several'"],
    [
      { vary: [] },
      'Expected `vary` to be one text or more, none of them empty, got an array of 0.',
    ],
    [{ vary: ['a', ' '] }, 'Expected `vary` to be one text or more, none of them empty'],
    [{ vary: 'a' as never }, 'Expected `vary` to be one text or more, none of them empty'],
  ])('%o is refused', (wrong, message) => {
    const make = () => fromModel({ model, ...wrong });
    expect(make).toThrow(EspalierError);
    expect(make).toThrow(message);
  });
});
