import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { replay } from '../../../src/backends/index.ts';
import { EspalierError, ModelCallError } from '../../../src/base/errors.ts';
import { memoryJournal } from '../../../src/calls/journal.ts';
import { openJournal } from '../../../src/calls/journal-file.ts';
import type { JournalLine } from '../../../src/calls/journal-lines.ts';
import type {
  GenerateRequest,
  Generation,
  LanguageModel,
} from '../../../src/contracts/language-model.ts';
import { manualClock } from '../../../src/testing/manual-clock.ts';
import { openGate, recordingModel } from '../../calls/harness.ts';

const question = { messages: [{ role: 'user', content: 'Next step?' }] } as const;
const other = { messages: [{ role: 'user', content: 'How good?' }], temperature: 0 } as const;

function ask(model: LanguageModel, request: GenerateRequest): Promise<Generation> {
  const { signal } = new AbortController();
  return model.generate(request, { signal, clock: manualClock({ auto: true }) });
}

function textsOf({ completions }: Generation): readonly string[] {
  return completions.map(({ text }) => text);
}

const spend = { calls: 1, tokens: 5, usd: 0 };
let calls = 0;

/** The lines of one call of `acme:large`, as a journal has them. */
function call(
  request: GenerateRequest,
  samples: readonly [number, number],
  outcome: Partial<Generation> | { readonly message: string; readonly unavailable?: boolean },
): readonly JournalLine[] {
  const number = calls++;
  const key = `key ${number}`;
  const asked = request as never;
  const intent = { type: 'intent', kind: 'generate', reserved: spend, request: asked } as const;
  return [
    { ...intent, call: number, key, name: 'acme:large', samples },
    'message' in outcome
      ? { type: 'failure', call: number, key, spend, ...outcome }
      : { type: 'result', call: number, key, spend, output: outcome as never },
  ];
}

/** A generation of these texts. */
function texts(usage: object, ...written: readonly string[]): Partial<Generation> {
  return { completions: written.map((text) => ({ text, finishReason: 'stop' })), usage };
}

test('what a provider charged for is not charged again', async () => {
  const usage = { inputTokens: 10, outputTokens: 9, usd: 0.5, serviceTier: 'flex' };
  const journal = call(question, [0, 1], texts(usage, 'a'));
  const model = replay({ journal });
  const { calls: context, ledger } = openGate();
  const { usage: told } = await context.generate(model, question);
  expect(told).toEqual({ inputTokens: 10, outputTokens: 9, serviceTier: 'flex' });
  expect(ledger.spend.usd).toBe(0);
});

describe('a sample', () => {
  const journal = [
    ...call(question, [0, 3], {
      ...texts({ inputTokens: 10, outputTokens: 9 }, 'a', 'b', 'c'),
      answeredBy: 'large-2',
    }),
    ...call(question, [3, 1], texts({ inputTokens: 10, outputTokens: 3 }, 'd')),
    ...call(other, [0, 1], texts({ inputTokens: 7 }, 'good')),
  ];
  const model = replay({ journal });

  test('is found by the request and its index, in whatever ranges it was bought', async () => {
    expect(textsOf(await ask(model, { ...question, samples: 4 }))).toEqual(['a', 'b', 'c', 'd']);
    expect(textsOf(await ask(model, { ...question, samples: 2, offset: 2 }))).toEqual(['c', 'd']);
    expect(textsOf(await ask(model, { ...question, offset: 1 }))).toEqual(['b']);
    expect(textsOf(await ask(model, other))).toEqual(['good']);
    // The order of a request's fields is not part of it.
    const turned = { temperature: 0, messages: [{ content: 'How good?', role: 'user' }] } as const;
    expect(textsOf(await ask(model, turned))).toEqual(['good']);
  });

  test('has the usage of its request with the first one, and costs nothing', async () => {
    const usageOf = async (request: GenerateRequest) => (await ask(model, request)).usage;
    expect(await usageOf({ ...question, samples: 4 })).toMatchObject({
      inputTokens: 20,
      outputTokens: 12,
    });
    expect(await usageOf({ ...question, samples: 1, offset: 1 })).toMatchObject({
      inputTokens: 0,
      outputTokens: 0,
    });
    expect(await usageOf(other)).toEqual({ inputTokens: 7 });
    expect(model.price).toEqual({ input: 0, output: 0 });
  });

  test('is as it was recorded, and cannot be changed', async () => {
    const generation = await ask(model, question);
    expect(generation.completions).toEqual([{ text: 'a', finishReason: 'stop' }]);
    expect(generation.answeredBy).toBe('large-2');
    Object.assign(generation.completions[0] ?? {}, { text: 'changed' });
    expect(textsOf(await ask(model, question))).toEqual(['a']);
  });

  test.each<[GenerateRequest, number]>([
    [{ ...question, samples: 5 }, 4],
    [{ ...question, offset: 9 }, 9],
    [{ ...question, maxTokens: 5 }, 0],
    [{ ...other, temperature: 1 }, 0],
  ])('that the journal does not hold is named: %#', async (request, index) => {
    const error = await ask(model, request).catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(EspalierError);
    expect(error).toMatchObject({
      code: 'unrecorded',
      message: `The journal does not contain sample ${index} of this request to acme:large; a replay makes no new calls.`,
    });
  });

  test('is not given to a caller who has left', async () => {
    const controller = new AbortController();
    const clock = manualClock({ auto: true });
    const asking = model.generate(question, { signal: controller.signal, clock });
    const reason = new Error('enough');
    controller.abort(reason);
    await expect(asking).rejects.toBe(reason);
  });

  test('has an index', async () => {
    await expect(ask(model, { ...question, samples: 0 })).rejects.toThrow(
      'Expected `samples` to be an integer from 1 up, got `0`.',
    );
    await expect(ask(model, { ...question, offset: -1 })).rejects.toThrow(
      'Expected `offset` to be an integer from 0 up, got `-1`.',
    );
  });
});

describe('a recorded failure', () => {
  test('fails again, for nothing, and is not asked again', async () => {
    const model = replay({ journal: call(question, [0, 2], { message: 'It was busy.' }) });
    const error = await ask(model, { ...question, offset: 1 }).catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(ModelCallError);
    expect(error).toMatchObject({ message: 'It was busy.', retryable: false, charged: false });
  });

  test('of a model that could not be reached is that', async () => {
    const outcome = { message: 'It is gone.', unavailable: true };
    const model = replay({ journal: call(question, [0, 1], outcome) });
    await expect(ask(model, question)).rejects.toMatchObject({
      code: 'unavailable',
      message: 'It is gone.',
    });
  });

  test('is of no account beside a sample that was bought, before or after', async () => {
    const bought = call(question, [0, 1], texts({}, 'a'));
    const failed = call(question, [0, 2], { message: 'It was busy.' });
    for (const journal of [
      [...bought, ...failed],
      [...failed, ...bought],
    ]) {
      expect(textsOf(await ask(replay({ journal }), question))).toEqual(['a']);
    }
  });
});

describe('the model', () => {
  const small = call(question, [0, 1], texts({}, 'x')).map((line) =>
    line.type === 'intent' ? { ...line, name: 'acme:small:8b' } : line,
  );
  const large = call(question, [0, 1], texts({}, 'y'));
  const several = [...small, ...large];

  test('is the recorded one', () => {
    expect(replay({ journal: small })).toMatchObject({ provider: 'acme', modelId: 'small:8b' });
  });

  test.each([
    ['acme:large', 'y'],
    ['large', 'y'],
    ['acme:small:8b', 'x'],
    ['small:8b', 'x'],
  ])('%s is chosen among several', async (model, text) => {
    expect(textsOf(await ask(replay({ journal: several, model }), question))).toEqual([text]);
  });

  test.each<[Parameters<typeof replay>[0], string]>([
    [
      { journal: several },
      "Expected `model` to be 'acme:small:8b' or 'acme:large', which the journal contains, got `undefined`.",
    ],
    [
      { journal: large, model: 'other' },
      'Expected `model` to be \'acme:large\', which the journal contains, got `"other"`.',
    ],
    [
      { journal: [{ type: 'journal', version: 2, run: {} }] },
      'Expected `journal` to contain answers of a language model, got a journal without any.',
    ],
    [
      { journal: 7 as never },
      'Expected `journal` to be the path of a journal or of a run folder, or a journal, got `7`.',
    ],
    [
      { journal: null as never },
      'Expected `journal` to be the path of a journal or of a run folder, or a journal, got `null`.',
    ],
  ])('has to be one that is there: %#', (options, sentence) => {
    expect(() => replay(options)).toThrow(EspalierError);
    expect(() => replay(options)).toThrow(sentence);
  });

  test('honours what it was asked for, and what its user knows', () => {
    expect(replay({ journal: large }).capabilities).toEqual({});
    const full: GenerateRequest = {
      messages: [...question.messages, { role: 'assistant', content: 'First' }],
      temperature: 1,
      topK: 2,
      seed: 3,
      stop: ['END'],
      schema: {},
      tools: [],
      topLogprobs: 1,
    };
    const all = {
      n: true,
      logprobs: true,
      seed: true,
      stop: true,
      continuation: true,
      schema: true,
      tools: true,
      temperature: true,
      topK: true,
    };
    const journal = [...large, ...call(full, [0, 2], texts({}, 'a', 'b'))];
    expect(replay({ journal }).capabilities).toEqual(all);
    const capabilities = { seed: true, stop: false };
    expect(replay({ journal: large, capabilities }).capabilities).toEqual(capabilities);
  });
});

describe('the journal of a run', () => {
  let folder = '';
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'espalier-replay-'));
  });
  afterAll(() => rmSync(folder, { recursive: true }));

  test('made by the runtime is found again, in other ranges', async () => {
    const recorded = openGate();
    const request = { ...question, temperature: 1 };
    const model = recordingModel({ n: true });
    const first = await recorded.calls.generate(model, { ...request, samples: 3 });
    await recorded.calls.generate(model, { ...request, samples: 2, offset: 3 });
    expect(model.requests).toHaveLength(2);

    const played = replay({ journal: recorded.journal });
    const again = openGate({ budget: { usd: 1 } });
    const name = { provider: played.provider, modelId: played.modelId };
    expect(name).toEqual({ provider: model.provider, modelId: model.modelId });
    const { completions, usage } = await again.calls.generate(played, { ...request, samples: 3 });
    expect(completions.map(({ text }) => text)).toEqual(textsOf(first));
    expect(usage).toMatchObject(first.usage);
    const rest = await again.calls.generate(played, { ...request, samples: 2, offset: 2 });
    expect(textsOf(rest)).toEqual(['s2', 's3']);
    expect(again.ledger.spend.usd).toBe(0);
  });

  test('reserves for a prompt the tokens that were counted then', async () => {
    const request = {
      messages: [{ role: 'user', content: 'x'.repeat(400) }],
      maxTokens: 5,
    } as const;
    const recorded = openGate({ budget: { tokens: 50 } });
    const model: LanguageModel = {
      ...{ provider: 'acme', modelId: 'counting', capabilities: {} },
      count: () => 20,
      generate: async () => ({
        completions: [{ text: 'yes', finishReason: 'stop' }],
        usage: { inputTokens: 20, outputTokens: 3 },
      }),
    };
    await recorded.calls.generate(model, request);
    // 400 bytes of prompt would not fit a budget of 50 tokens uncounted.
    const again = openGate({ budget: { tokens: 50 } });
    const played = replay({ journal: recorded.journal });
    expect(textsOf(await again.calls.generate(played, request))).toEqual(['yes']);
    expect(again.ledger.spend.tokens).toBe(23);
  });

  test('may be a file, a folder with one, or a journal', async () => {
    const file = join(folder, 'journal.jsonl');
    const header: JournalLine = { type: 'journal', version: 2, run: {} };
    const lines = [header, ...call(question, [0, 1], texts({}, 'a'))];
    {
      using journal = openJournal(file);
      for (const line of lines) journal.append(line);
    }
    for (const journal of [file, folder, memoryJournal(lines), lines]) {
      expect(textsOf(await ask(replay({ journal }), question))).toEqual(['a']);
    }
    expect(readFileSync(file, 'utf8').split('\n')).toHaveLength(4);
  });

  test('that cannot be read is named', () => {
    const missing = join(folder, 'missing');
    expect(() => replay({ journal: missing })).toThrow(missing);
    expect(() => replay({ journal: missing })).toThrow(EspalierError);
    const broken = join(folder, 'broken.jsonl');
    writeFileSync(broken, '{"type":"nonsense"}\n');
    expect(() => replay({ journal: broken })).toThrow(
      `The journal \`${broken}\` cannot be read: line 1`,
    );
  });
});
