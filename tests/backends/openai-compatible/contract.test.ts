import { afterAll, describe, test } from 'vitest';
import { openaiCompatible } from '../../../src/backends/index.ts';
import { emulator } from '../../../src/testing/emulator/emulator.ts';
import { describeLanguageModel } from '../../../src/testing/index.ts';

const runner = { describe, test };
const exempt = {
  'the emulator draws no tokens, and so knows no likeliest ones': [
    'has no choice but the likeliest token where `topK` is 1',
  ],
};

for (const dialect of ['vllm', 'sglang', 'llama-server', 'ollama'] as const) {
  const server = await emulator({ dialect });
  afterAll(() => server.close());
  const reached = { baseUrl: `${server.url}/v1`, model: 'emulated', retry: false } as const;
  const known = openaiCompatible({ ...reached, preset: dialect });
  describeLanguageModel(`${dialect}, named`, { create: () => known, exempt }, runner);

  const unknown = openaiCompatible({ baseUrl: server.url, retry: false });
  describeLanguageModel(`${dialect}, recognised`, { create: () => unknown, exempt }, runner);
}

const plain = await emulator({ dialect: 'openai' });
afterAll(() => plain.close());
describeLanguageModel(
  'any other server',
  {
    create: () =>
      openaiCompatible({ preset: 'generic', baseUrl: plain.url, model: 'emulated', retry: false }),
  },
  runner,
);

for (const fault of ['ignores-n', 'rejects-n'] as const) {
  const server = await emulator({ dialect: 'vllm', faults: [fault] });
  afterAll(() => server.close());
  describeLanguageModel(
    `a vLLM that ${fault}`,
    {
      create: () =>
        openaiCompatible({ preset: 'vllm', baseUrl: server.url, model: 'emulated', retry: false }),
      exempt,
    },
    runner,
  );
}
