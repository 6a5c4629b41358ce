import { afterAll, describe, test } from 'vitest';
import { type OpenAiOptions, openai } from '../../../src/backends/index.ts';
import { emulator } from '../../../src/testing/emulator/emulator.ts';
import { describeLanguageModel } from '../../../src/testing/index.ts';

const models = ['gpt-4o', 'o3', 'gpt-5.1', 'gpt-6-luna'];
const server = await emulator({ dialect: 'openai', models, apiKey: 'sk-right' });
afterAll(() => server.close());

const tooShort = {
  'the Responses API takes no limit below 16 tokens': [
    'ends an answer at `maxTokens`, and says so',
    'counts the tokens of all samples',
    'counts the tokens of the whole conversation',
  ],
};

const settings: readonly Omit<OpenAiOptions, 'apiKey' | 'baseUrl' | 'retry'>[] = [
  { model: 'gpt-4o' },
  { model: 'gpt-4o', api: 'chat' },
  { model: 'gpt-4o', api: 'responses' },
  { model: 'o3' },
  { model: 'gpt-5.1', reasoningEffort: 'none' },
  { model: 'gpt-6-luna', reasoningEffort: 'low' },
];

for (const setting of settings) {
  const model = openai({ ...setting, apiKey: 'sk-right', baseUrl: server.url, retry: false });
  const name = Object.values(setting).join(', ');
  const exempt = setting.api === 'responses' ? tooShort : {};
  describeLanguageModel(`openai ${name}`, { create: () => model, exempt }, { describe, test });
}
