import assert from 'node:assert/strict';
import type { LanguageModel, Message, TokenLogprob } from '../../../contracts/language-model.ts';
import {
  ask,
  conversation,
  type LanguageModelClaims,
  type ModelSubject,
  repeatable,
  requestOf,
  textsOf,
} from './claims.ts';

/** Sampling: seeds, temperature, the index of a sample. */
export function describeSampling(subject: ModelSubject): void {
  const { claims, runner } = subject;
  const testWith = testerOf(subject);

  testWith('seed', 'repeats itself with the same seed, and not with another', async (model) => {
    const texts = async (seed: number) => textsOf(await sampled(claims, model, { seed }));
    assert.deepEqual(await texts(1), await texts(1));
    assert.notDeepEqual(await texts(2), await texts(1));
  });

  testWith('seed', 'gives a sample by its index, alone or among others', async (model) => {
    const together = textsOf(await sampled(claims, model, { seed: 3 }));
    for (const [offset, text] of together.entries()) {
      const request = requestOf(claims, { ...warm(model), seed: 3, samples: 1, offset });
      assert.deepEqual(textsOf(await ask(model, request)), [text], `sample ${offset}`);
    }
  });

  runner.test('gives samples that differ', async () => {
    const model = await claims.create();
    const { n, temperature } = model.capabilities;
    if (n !== true || temperature !== true) return;
    const texts = textsOf(await sampled(claims, model, {}));
    assert.ok(new Set(texts).size > 1, `${texts.length} samples are all ${texts[0]}`);
  });

  testWith('temperature', 'takes the likeliest tokens at temperature 0', async (model) => {
    const texts = async (offset: number) =>
      textsOf(await ask(model, requestOf(claims, { temperature: 0, samples: 1, offset })));
    const first = await texts(0);
    assert.deepEqual(await texts(0), first);
    assert.deepEqual(await texts(4), first);
  });

  testWith('topK', 'has no choice but the likeliest token where `topK` is 1', async (model) => {
    const texts = async (offset: number) =>
      textsOf(await ask(model, requestOf(claims, { ...warm(model), topK: 1, offset })));
    assert.deepEqual(await texts(3), await texts(0));
  });
}

/** The contents of an answer, and where it ends. */
export function describeTexts(subject: ModelSubject): void {
  const { claims } = subject;
  const testWith = testerOf(subject);

  testWith('stop', 'cuts an answer off where a stop text begins', async (model) => {
    const wish = repeatable(model) ?? {};
    const [text = ''] = textsOf(await ask(model, requestOf(claims, wish)));
    assert.ok(text.length >= 4, `the answer ${JSON.stringify(text)} is too short to be cut`);
    const middle = Math.floor(text.length / 2);
    const stop = text.slice(middle, middle + 2);
    const [cut] = (await ask(model, requestOf(claims, { ...wish, stop: [stop] }))).completions;
    assert.ok(cut !== undefined && !cut.text.includes(stop), 'the stop text is in the answer');
    if (repeatable(model) === undefined) return;
    assert.equal(cut.text, text.slice(0, text.indexOf(stop)));
    assert.equal(cut.finishReason, 'stop');
  });

  testWith('continuation', 'goes on from a partial answer', async (model) => {
    const wish = repeatable(model) ?? {};
    const [text = ''] = textsOf(await ask(model, requestOf(claims, wish)));
    const partial = text.slice(0, Math.ceil(text.length / 2)).trimEnd();
    assert.ok(partial !== '', 'the answer is too short to be continued');
    const messages: readonly Message[] = [
      ...conversation(claims),
      { role: 'assistant', content: partial },
    ];
    const [rest] = textsOf(await ask(model, requestOf(claims, { ...wish, messages })));
    assert.ok(rest !== undefined && !rest.startsWith(partial), 'it begins again');
  });
}

/** Log-probabilities. */
export function describeLogprobs(subject: ModelSubject): void {
  const { claims } = subject;
  const testWith = testerOf(subject);

  testWith('logprobs', 'tells one log-probability a token, at most 0', async (model) => {
    const request = requestOf(claims, { ...repeatable(model), logprobs: true });
    const { completions, usage } = await ask(model, request);
    let tokens = 0;
    for (const { text, logprobs } of completions) {
      assert.ok(logprobs !== undefined, 'it tells none');
      assert.ok(logprobs.length > 0 || text === '', 'it tells none');
      for (const token of logprobs) assertLogprob(token.logprob);
      tokens += logprobs.length;
    }
    const { outputTokens } = usage;
    if (outputTokens === undefined) return;
    // The end token has no text.
    const hidden = outputTokens - tokens;
    assert.ok(hidden >= 0 && hidden <= completions.length, `${tokens} of ${outputTokens} tokens`);
  });

  testWith('logprobs', 'tells the likeliest tokens in order', async (model) => {
    for (const topLogprobs of [1, 3]) {
      const request = requestOf(claims, { ...repeatable(model), logprobs: true, topLogprobs });
      const { completions } = await ask(model, request);
      for (const token of completions.flatMap(({ logprobs = [] }) => logprobs)) {
        assertAlternatives(token, topLogprobs);
      }
    }
  });
}

function assertLogprob(logprob: number): void {
  assert.ok(Number.isFinite(logprob) && logprob <= 0, `got ${logprob}`);
}

function assertAlternatives({ token, logprob, top }: TokenLogprob, count: number): void {
  assert.ok(top !== undefined && top.length > 0 && top.length <= count, 'a wrong number of them');
  for (const alternative of top) assertLogprob(alternative.logprob);
  const values = top.map((alternative) => alternative.logprob);
  assert.deepEqual(
    values,
    values.toSorted((a, b) => b - a),
  );
  const mass = values.reduce((sum, value) => sum + Math.exp(value), 0);
  assert.ok(mass <= 1 + 1e-3, `their probabilities sum to ${mass}`);
  // A token that is not among the likeliest is no likelier than they are, except for rounding.
  const isTold = top.some(
    (other) => other.token === token && Math.abs(other.logprob - logprob) <= 1e-3,
  );
  const least = values.at(-1) ?? 0;
  assert.ok(isTold || logprob <= least + 1e-3, `${token} is likelier, and not among them`);
}

/** Adds tests for models that declare a capability. */
function testerOf({ claims, runner }: ModelSubject) {
  return (
    capability: keyof LanguageModel['capabilities'],
    name: string,
    run: (model: LanguageModel) => Promise<void>,
  ) =>
    runner.test(name, async () => {
      const model = await claims.create();
      if (model.capabilities[capability] === true) await run(model);
    });
}

/** Six samples, or six single ones if the model supports only one per request. */
async function sampled(
  claims: LanguageModelClaims,
  model: LanguageModel,
  wish: { readonly seed?: number },
) {
  const several = { ...warm(model), ...wish };
  if (model.capabilities.n === true)
    return ask(model, requestOf(claims, { ...several, samples: 6 }));
  const offsets = Array.from({ length: 6 }, (_, offset) => offset);
  const single = await Promise.all(
    offsets.map((offset) => ask(model, requestOf(claims, { ...several, offset }))),
  );
  return { completions: single.flatMap(({ completions }) => completions), usage: {} };
}

function warm({ capabilities }: LanguageModel): { readonly temperature?: number } {
  return capabilities.temperature === true ? { temperature: 1 } : {};
}
