import { afterAll, describe, test } from 'vitest';
import { openaiCompatible } from '../../../src/backends/index.ts';
import { providerNames } from '../../../src/testing/emulator/dialects/openai-providers.ts';
import {
  describeLanguageModel,
  type EmulatorOptions,
  emulator,
} from '../../../src/testing/index.ts';

type Provider = NonNullable<EmulatorOptions['provider']>;

for (const provider of providerNames as readonly Provider[]) {
  const server = await emulator({ dialect: 'openai', provider });
  afterAll(() => server.close());
  const model = openaiCompatible({
    ...{ preset: provider, model: 'emulated', apiKey: 'some-key', retry: false },
    baseUrl: `${server.url}/v1`,
  });
  describeLanguageModel(provider, { create: () => model }, { describe, test });
}
