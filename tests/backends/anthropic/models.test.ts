import { describe, expect, test } from 'vitest';
import { modelPriceOf, traitsOf } from '../../../src/backends/anthropic/models.ts';

describe('what a model honours', () => {
  // From the API's own documentation: a temperature up to 4.6, prefill up to 4.5, forced tools up to 5.0,
  // schemas from Opus 4.1 and the models of version 4.5 on.
  test.each([
    ['claude-3-5-sonnet-20241022', true, true, true, false],
    ['claude-3-opus-20240229', true, true, true, false],
    ['claude-sonnet-4-20250514', true, true, true, false],
    ['claude-opus-4-1-20250805', true, true, true, true],
    ['claude-sonnet-4-5', true, true, true, true],
    ['claude-haiku-4-5-20251001', true, true, true, true],
    ['claude-opus-4-6', true, false, true, true],
    ['claude-opus-4-7', false, false, true, true],
    ['claude-sonnet-5', false, false, true, true],
    ['claude-fable-5-1', false, false, false, true],
    ['claude-opus-5-5', false, false, false, true],
    ['claude-haiku-5-5', false, false, false, true],
    ['claude-opus-12-1', false, false, false, true],
    ['anthropic.claude-haiku-4-5-20251001-v1:0', true, true, true, true],
    ['claude-opus-4@20250514', true, true, true, false],
    ['claude-mythos-preview', false, false, false, true],
    ['qwen3', false, false, false, true],
  ])('%s', (modelId, ...honoured) => {
    const { sampling, prefill, forcedTools, schema } = traitsOf(modelId);
    expect([sampling, prefill, forcedTools, schema]).toEqual(honoured);
  });
});

// LiteLLM's table of models, November 2026.
test.each([
  ['claude-opus-5-5', 512],
  ['claude-opus-5', 512],
  ['claude-sonnet-5-5-20261001', 512],
  ['claude-haiku-5-5', 512],
  ['claude-fable-5', 512],
  ['claude-fable-5-1', 512],
  ['claude-sonnet-5', 1024],
  ['claude-sonnet-4-5-20250929', 1024],
  ['anthropic.claude-sonnet-4-6-v1:0', 1024],
  ['claude-opus-4-8', 1024],
  ['claude-opus-4-7', 2048],
  ['claude-opus-4-5', 4096],
  ['claude-opus-4-6', 4096],
  ['claude-haiku-4-5-20251001', 4096],
  ['claude-fable-5-2', 0],
  ['qwen3', 0],
])('the cache keeps prompts of %s from %d tokens on', (modelId, tokens) => {
  expect(traitsOf(modelId).leastPrefixTokens).toBe(tokens);
});

describe('what a model costs', () => {
  test('is what its undated name costs', () => {
    const price = {
      input: 1,
      output: 5,
      cachedInput: 0.1,
      cacheWrite: 1.25,
      tiers: { batch: 0.5 },
    };
    expect(modelPriceOf('claude-haiku-4-5', false)).toEqual(price);
    expect(modelPriceOf('claude-haiku-4-5-20251001', false)).toEqual(price);
    expect(modelPriceOf('claude-haiku-9', false)).toBeUndefined();
    expect(modelPriceOf('toString', false)).toBeUndefined();
  });

  test('is twice the input for what is kept for an hour', () => {
    expect(modelPriceOf('claude-haiku-4-5', true)?.cacheWrite).toBe(2);
    expect(modelPriceOf('claude-opus-5-5', true)).toEqual({
      input: 4,
      output: 20,
      cachedInput: 0.2,
      cacheWrite: 8,
      tiers: { batch: 0.5, fast: 2 },
    });
  });
});
