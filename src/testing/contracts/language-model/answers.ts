import assert from 'node:assert/strict';
import { canonicalJson } from '../../../base/canonical-json.ts';
import type { Generation, LanguageModel } from '../../../contracts/language-model.ts';
import { ask, conversation, type ModelSubject, requestOf } from './claims.ts';

const finishReasons: readonly unknown[] = ['stop', 'length', 'tool', 'refusal', 'other'];

/** The number of answers, their fields, and their usage. */
export function describeAnswers({ claims, runner }: ModelSubject): void {
  runner.test('has a provider and a name', async () => {
    const { provider, modelId } = await claims.create();
    for (const name of [provider, modelId]) assert.ok(typeof name === 'string' && name !== '');
  });

  runner.test('gives as many completions as it is asked for, or says why not', async () => {
    const model = await claims.create();
    for (const samples of [undefined, 1, 2, 3, 5]) {
      const request = requestOf(claims, samples === undefined ? {} : { samples });
      const generation = await askOrRefuse(model, request);
      if (generation === undefined) {
        assert.ok(samples !== 1 && samples !== undefined, 'it refuses to give one completion');
        assert.ok(model.capabilities.n !== true, `it declares \`n\`, and refuses ${samples}`);
        continue;
      }
      assert.equal(generation.completions.length, samples ?? 1);
    }
  });

  runner.test('says why each completion ended', async () => {
    const { completions } = await ask(await claims.create(), requestOf(claims));
    assert.ok(completions.length > 0, 'it gave no completion');
    for (const { text, finishReason } of completions) {
      assert.equal(typeof text, 'string');
      assert.ok(finishReasons.includes(finishReason), `got ${finishReason}`);
    }
  });

  runner.test('leaves the request as it was', async () => {
    const model = await claims.create();
    const messages = [...conversation(claims), { role: 'assistant' as const, content: 'one' }];
    const continued = model.capabilities.continuation === true;
    const request = frozen({
      ...requestOf(claims, { stop: ['zzz'], samples: 1 }),
      messages: continued ? messages : conversation(claims),
    });
    const before = canonicalJson('request', request);
    await ask(model, request);
    assert.equal(canonicalJson('request', request), before);
  });
}

/** Tokens: limits, usage, log-probabilities. */
export function describeTokens({ claims, runner }: ModelSubject): void {
  runner.test('ends an answer at `maxTokens`, and says so', async () => {
    const model = await claims.create();
    for (const maxTokens of [1, 2]) {
      const { completions, usage } = await ask(model, requestOf(claims, { maxTokens }));
      const { thoughtTokens = 0 } = model;
      const most = maxTokens + thoughtTokens;
      assert.ok((usage.outputTokens ?? 0) <= most, `it wrote ${usage.outputTokens} tokens`);
      // Tokens that a model does not use for thoughts may go into the answer.
      if (thoughtTokens > 0) continue;
      for (const { finishReason } of completions) assert.equal(finishReason, 'length');
    }
  });

  runner.test('tells its usage in whole numbers from 0 up', async () => {
    const model = await claims.create();
    const { usage } = await ask(model, requestOf(claims));
    for (const count of [usage.inputTokens, usage.outputTokens]) {
      assert.ok(count === undefined || (Number.isSafeInteger(count) && count >= 0), `got ${count}`);
    }
  });

  runner.test('counts the tokens of all samples', async () => {
    const model = await claims.create();
    const maxTokens = 2;
    for (const samples of [1, 3, 5]) {
      const generation = await askOrRefuse(model, requestOf(claims, { samples, maxTokens }));
      const written = generation?.usage.outputTokens;
      if (generation === undefined || written === undefined) continue;
      const least = leastTokens(generation, maxTokens);
      assert.ok(written >= least, `${written} tokens for ${samples} samples of ${least} together`);
      const most = samples * (maxTokens + (model.thoughtTokens ?? 0));
      assert.ok(written <= most, `${written} tokens, more than were asked for`);
    }
  });

  runner.test('counts the tokens of the whole conversation', async () => {
    const model = await claims.create();
    const readFor = async (topic: string) => {
      const messages = conversation(claims, topic);
      return (await ask(model, requestOf(claims, { messages, maxTokens: 1 }))).usage.inputTokens;
    };
    const [short, long] = [await readFor(''), await readFor('Take your time. Do not hurry.')];
    if (short === undefined || long === undefined) return;
    assert.ok(short > 0 && long > short, `${short} tokens, and ${long} for a longer text`);
  });
}

/** Asks for completions. A refusal also counts as an answer; anything else but k completions does not. */
async function askOrRefuse(
  model: LanguageModel,
  request: ReturnType<typeof requestOf>,
): Promise<Generation | undefined> {
  try {
    return await ask(model, request);
  } catch (error) {
    if ((request.samples ?? 1) === 1) throw error;
    return undefined;
  }
}

/**
 * The least tokens of an answer: a sample that was cut off used its whole limit; any other with text used at least one.
 */
function leastTokens({ completions }: Generation, maxTokens: number): number {
  return completions.reduce(
    (sum, { text, finishReason }) =>
      sum + (finishReason === 'length' ? maxTokens : text === '' ? 0 : 1),
    0,
  );
}

function frozen<Value>(value: Value): Value {
  if (typeof value === 'object' && value !== null) {
    for (const part of Object.values(value)) frozen(part);
    Object.freeze(value);
  }
  return value;
}
