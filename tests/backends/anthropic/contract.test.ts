import { afterAll, beforeAll, describe, test } from 'vitest';
import { anthropic } from '../../../src/backends/index.ts';
import { describeLanguageModel, type Emulator, emulator } from '../../../src/testing/index.ts';

const names = ['claude-sonnet-5-5', 'claude-haiku-4-5'];

describe.each(names)('%s', (model) => {
  let server: Emulator;
  beforeAll(async () => {
    const modern = model === 'claude-sonnet-5-5';
    server = await emulator({ dialect: 'anthropic', models: names, modern });
  });
  afterAll(() => server.close());

  describeLanguageModel(
    model,
    {
      create: () => anthropic({ model, apiKey: 'some-key', baseUrl: server.url, retry: false }),
      exempt: {
        'The emulator takes no notice of top_k.': [
          'has no choice but the likeliest token where `topK` is 1',
        ],
      },
    },
    { describe, test },
  );
});
