import assert from 'node:assert/strict';
import { turn } from '#platform';
import type { GenerateRequest, LanguageModel } from '../../../contracts/language-model.ts';
import { manualClock } from '../../manual-clock.ts';
import {
  ask,
  assertAborts,
  conversation,
  type LanguageModelClaims,
  type ModelSubject,
  repeatable,
  requestOf,
  textsOf,
} from './claims.ts';

/** Concurrent calls. */
export function describeConcurrency({ claims, runner }: ModelSubject): void {
  runner.test('keeps calls at the same time apart', async () => {
    const model = await claims.create();
    const requests = differentRequests(claims, model);
    const together = await Promise.all(requests.map((request) => ask(model, request)));
    for (const [place, request] of requests.entries()) {
      const generation = together[place] ?? assert.fail();
      assert.equal(generation.completions.length, request.samples ?? 1);
      if (repeatable(model) === undefined) continue;
      const alone = await ask(model, request);
      assert.deepEqual(textsOf(generation), textsOf(alone), `call ${place}`);
      assert.deepEqual(generation.usage.outputTokens, alone.usage.outputTokens, `call ${place}`);
    }
  });
}

/** Aborts, and calls after them. */
export function describeAborts({ claims, runner }: ModelSubject): void {
  runner.test('does not begin when its signal is aborted already', async () => {
    const model = await claims.create();
    const reason = new Error('too late');
    const call = ask(model, requestOf(claims), { signal: AbortSignal.abort(reason) });
    await assertAborts({ call, reason }, claims);
  });

  runner.test('rejects with the reason of its signal when it is aborted on the way', async () => {
    const model = await claims.create();
    for (const turns of [0, 1, 5]) {
      const { call, controller } = begin(claims, model);
      for (let left = turns; left > 0; left--) await turn();
      const reason = new Error(`changed my mind after ${turns} turns`);
      controller.abort(reason);
      await assertAborts({ call, reason, mayBeOver: turns > 0 }, claims);
    }
  });

  runner.test('answers other calls as if the aborted one had never been', async () => {
    const model = await claims.create();
    const [request] = differentRequests(claims, model);
    assert.ok(request !== undefined);
    const before = await ask(model, request);
    const { call, controller } = begin(claims, model);
    const beside = ask(model, request);
    const reason = new Error('changed my mind');
    controller.abort(reason);
    await assertAborts({ call, reason }, claims);
    for (const generation of [await beside, await ask(model, request)]) {
      assert.equal(generation.completions.length, before.completions.length);
      if (repeatable(model) === undefined) continue;
      assert.deepEqual(textsOf(generation), textsOf(before));
    }
  });

  runner.test('does not mind an abort that comes after its answer', async () => {
    const model = await claims.create();
    const controller = new AbortController();
    const generation = await ask(model, requestOf(claims), { signal: controller.signal });
    controller.abort(new Error('too late'));
    await turn();
    assert.equal(generation.completions.length, 1);
    assert.equal((await ask(model, requestOf(claims))).completions.length, 1);
  });
}

/** Starts a long call with a clock that stands still, so that a model that sleeps by it never ends. */
function begin(claims: LanguageModelClaims, model: LanguageModel) {
  const controller = new AbortController();
  const request = requestOf(claims, {
    messages: conversation(claims, 'And then go on.'),
    maxTokens: 400,
    ...(model.capabilities.n === true && { samples: 4 }),
  });
  const call = ask(model, request, { signal: controller.signal, clock: manualClock() });
  // It may be rejected before it is awaited.
  call.catch(() => {});
  return { call, controller };
}

/** Requests with different texts, and with different numbers of samples if the model supports several. */
function differentRequests(
  claims: LanguageModelClaims,
  model: LanguageModel,
): readonly GenerateRequest[] {
  return ['', 'Slowly.', 'In German.', 'Backwards.', 'Leave out seven.'].map((topic, place) =>
    requestOf(claims, {
      ...repeatable(model),
      messages: conversation(claims, topic),
      ...(model.capabilities.n === true && { samples: 1 + (place % 3) }),
    }),
  );
}
