import { describe, test } from 'vitest';
import { replay } from '../../../src/backends/index.ts';
import { systemClock } from '../../../src/base/clock.ts';
import { memoryJournal } from '../../../src/calls/journal.ts';
import type { LanguageModel } from '../../../src/contracts/language-model.ts';
import { describeLanguageModel, scriptedModel } from '../../../src/testing/index.ts';
import { openGate } from '../../calls/harness.ts';

const words = 'one two three four five six seven eight nine ten'.split(' ');

/** A model of words that is honest about its limit. */
const original = scriptedModel({
  capabilities: { n: true },
  answer: ({ messages, maxTokens = 9 }, index) => {
    const whole = [...words.slice(index), String(messages.at(-1)?.content.length)].slice(0, 9);
    const written = whole.slice(0, maxTokens);
    return {
      text: written.join(' '),
      finishReason: written.length < whole.length ? 'length' : 'stop',
    };
  },
  usage: ({ messages }, completions) => ({
    inputTokens: messages.reduce((sum, { content }) => sum + content.split(' ').length, 0),
    outputTokens: completions.reduce((sum, { text }) => sum + text.split(' ').length, 0),
  }),
});

/** Buys through a runtime what the replay does not hold, and plays that. */
function playedOver(): LanguageModel {
  const journal = memoryJournal();
  const { calls } = openGate({ journal });
  return {
    provider: original.provider,
    modelId: original.modelId,
    capabilities: original.capabilities,
    async generate(request, call) {
      call.signal.throwIfAborted();
      const { signal } = call;
      await calls.generate(original, request);
      return replay({ journal }).generate(request, { signal, clock: systemClock });
    },
  };
}

describeLanguageModel('played from a journal', { create: playedOver }, { describe, test });
