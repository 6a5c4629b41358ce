import { describe, expect, test } from 'vitest';
import {
  aiSdk,
  anthropic,
  embeddings,
  logprobReward,
  openai,
  openaiCompatible,
  recipes,
  vllmReward,
} from '../../src/backends/index.ts';
import { withCache, withLimit, wrapModel } from '../../src/calls/index.ts';
import { type LanguageModel, provenanceOf } from '../../src/index.ts';
import { fromModel, multiAction, selfRefine } from '../../src/policies/index.ts';
import { scriptedModel } from '../../src/testing/index.ts';
import { criticRanking, debate, judge, pairwise, prm, selfEval } from '../../src/values/index.ts';

describe('what a backend is told beforehand that changes its answers is in its `settings`:', () => {
  const model = { specificationVersion: 'v4', provider: 'p', modelId: 'm', doGenerate };

  test.each<[string, { readonly settings?: object }, object]>([
    [
      'openai',
      openai({ model: 'm', reasoningEffort: 'low', api: 'chat' }),
      { reasoningEffort: 'low', api: 'chat' },
    ],
    [
      'anthropic',
      anthropic({ model: 'm', effort: 'max', thinking: { type: 'adaptive' } }),
      { effort: 'max', thinking: { type: 'adaptive' }, thoughtTokens: 32_768 },
    ],
    [
      'openai-compatible',
      openaiCompatible({ preset: 'vllm', capabilities: { temperature: false } }),
      { capabilities: { temperature: false } },
    ],
    [
      'the AI SDK',
      aiSdk(model, { providerOptions: { p: { effort: 'low' } } }),
      { providerOptions: { p: { effort: 'low' } } },
    ],
    [
      'embeddings',
      embeddings({ model: 'm', baseUrl: 'http://host', dimensions: 8 }),
      { dimensions: 8 },
    ],
    [
      'a reward model of vLLM',
      vllmReward({ model: 'm', recipe: recipes.qwenMathPrm }),
      { recipe: recipes.qwenMathPrm.name, endpoint: 'pooling', activation: 'probabilities' },
    ],
    [
      'a reward model by log-probabilities',
      logprobReward({ model: 'm', baseUrl: 'http://host', recipe: recipes.mathShepherd }),
      { recipe: recipes.mathShepherd.name, topLogprobs: 20 },
    ],
  ])('%s', (_, { settings }, expected) => {
    expect(settings).toEqual(expected);
  });

  test('none where nothing is', () => {
    expect(openai({ model: 'm' }).settings).toEqual({});
    expect(anthropic({ model: 'm' }).settings).toEqual({});
  });

  test('and still there with middleware around it', () => {
    const wrapped = wrapModel(
      openai({ model: 'm', reasoningEffort: 'low' }),
      withCache(),
      withLimit(),
    );
    expect(wrapped.settings).toEqual({ reasoningEffort: 'low' });
  });
});

const doGenerate = async () => ({});

describe('what a part asks of a model is in its provenance:', () => {
  const capabilities = { temperature: true };
  const model: LanguageModel = {
    ...scriptedModel({ answer: () => '', capabilities }),
    settings: { effort: 'low' },
  };
  const settings = (asked: object) => [
    { model: 'scripted:script', settings: { effort: 'low', ...asked } },
  ];

  test.each<[string, { readonly models?: unknown }, object]>([
    [
      'fromModel',
      fromModel({ model, temperature: 0.3, maxTokens: 9 }),
      { temperature: 0.3, maxTokens: 9 },
    ],
    ['multiAction', multiAction({ model }), { temperature: 0.8, maxTokens: 512 }],
    [
      'judge',
      judge({ model, form: 'number', samples: 2, maxTokens: 9 }),
      { samples: 2, maxTokens: 9, temperature: 1 },
    ],
    ['selfEval', selfEval({ model, samples: 3 }), { samples: 3, temperature: 1 }],
    ['pairwise', pairwise({ model, maxTokens: 9 }), { samples: 1, maxTokens: 9, temperature: 0 }],
    ['criticRanking', criticRanking({ model }), { samples: 1, maxTokens: 256, temperature: 0 }],
  ])('%s', (_, { models }, asked) => {
    expect(models).toEqual([
      {
        model: 'scripted:script',
        settings: expect.objectContaining({ effort: 'low', ...asked }) as unknown,
      },
    ]);
  });

  test('of all models, each once', () => {
    const critic = { ...model, modelId: 'critic' };
    expect(selfRefine({ model, critic }).models).toMatchObject([
      { model: 'scripted:script', settings: { maxTokens: 1024 } },
      { model: 'scripted:critic', settings: { maxTokens: 512 } },
    ]);
    expect(debate({ model }).models).toHaveLength(2);
    const policy = fromModel({ model });
    expect(provenanceOf(policy, policy, judge({ model, form: 'number' })).models).toHaveLength(2);
  });

  test('of reward models', () => {
    const reward = vllmReward({ model: 'r', recipe: recipes.qwenMathPrm });
    expect(prm({ model: reward }).models).toEqual([{ model: 'vllm:r', settings: reward.settings }]);
  });

  test('differs where a temperature does', () => {
    const at = (temperature: number) => fromModel({ model, temperature }).models;
    expect(at(0.2)).not.toEqual(at(0.3));
    expect(at(0.2)).toEqual(settings({ temperature: 0.2, maxTokens: 256 }));
  });
});
