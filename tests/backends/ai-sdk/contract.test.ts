import { createHash } from 'node:crypto';
import { describe, test } from 'vitest';
import { type AiSdkModel, aiSdk } from '../../../src/backends/index.ts';
import { describeLanguageModel } from '../../../src/testing/index.ts';

interface Options {
  readonly prompt: readonly unknown[];
  readonly maxOutputTokens: number;
  readonly temperature?: number;
  readonly stopSequences?: readonly string[];
  readonly seed?: number;
  readonly headers: Readonly<Record<string, string>>;
}

/** A model whose tokens are words, fixed by the prompt and the seed, or else the sample. */
function wordy(specificationVersion: string): AiSdkModel {
  return {
    specificationVersion,
    provider: 'words.chat',
    modelId: 'wordy',
    async doGenerate(options) {
      const {
        prompt,
        maxOutputTokens,
        temperature,
        stopSequences = [],
        seed,
        headers,
      } = options as Options;
      const sample = temperature === 0 ? 0 : (seed ?? headers['x-espalier-sample']);
      const key = JSON.stringify([prompt, sample]);
      const words = createHash('sha256').update(key).digest('hex').match(/.{4}/g) ?? [];
      const all = words.join(' ');
      const ends = stopSequences.map((stop) => all.indexOf(stop)).filter((place) => place >= 0);
      const whole = all.slice(0, Math.min(all.length, ...ends)).trimEnd();
      const written = whole.split(' ').slice(0, maxOutputTokens);
      const isCut = written.length < whole.split(' ').length;
      const read = JSON.stringify(prompt).split(/\W+/).length;
      const isFlat = specificationVersion === 'v2';
      const reason = isCut ? 'length' : 'stop';
      return {
        content: [{ type: 'text', text: written.join(' ') }],
        finishReason: isFlat ? reason : { unified: reason, raw: reason },
        usage: isFlat
          ? { inputTokens: read, outputTokens: written.length }
          : { inputTokens: { total: read }, outputTokens: { total: written.length } },
        warnings: [],
      };
    },
  };
}

for (const version of ['v2', 'v3', 'v4']) {
  describeLanguageModel(
    `of the AI SDK, ${version}`,
    {
      create: () => aiSdk(wordy(version), { capabilities: { seed: true }, retry: false }),
    },
    { describe, test },
  );
}
