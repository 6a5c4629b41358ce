import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, relative } from 'node:path';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { languageModel } from '../../src/backends/language-model.ts';
import { type ModelSpec, modelSpecForms, parseModelSpec } from '../../src/backends/model-spec.ts';
import { EspalierError } from '../../src/base/errors.ts';
import { openJournal } from '../../src/calls/journal-file.ts';
import type { Generation, LanguageModel } from '../../src/contracts/language-model.ts';
import { type Emulator, emulator, manualClock } from '../../src/testing/index.ts';

const server = 'server';

describe('a model spec', () => {
  test.each<[string, ModelSpec]>([
    ['tiny', { kind: 'tiny' }],
    ['tiny:./file.gguf', { kind: 'tiny', path: './file.gguf' }],
    ['tiny:C:\\models\\file.gguf', { kind: 'tiny', path: 'C:\\models\\file.gguf' }],
    ['llama:./model.gguf', { kind: 'llama', path: './model.gguf' }],
    ['anthropic:claude-sonnet-5-5', { kind: 'anthropic', model: 'claude-sonnet-5-5' }],
    ['openai:gpt-6-luna', { kind: 'openai', model: 'gpt-6-luna' }],
    ['openai:ft:gpt-6:acme', { kind: 'openai', model: 'ft:gpt-6:acme' }],
    ['vllm', { kind: server, server: 'vllm' }],
    ['vllm:Qwen/Qwen3-8B', { kind: server, server: 'vllm', model: 'Qwen/Qwen3-8B' }],
    [
      'vllm:http://localhost:8000/v1#Qwen/Qwen3-8B',
      {
        kind: server,
        server: 'vllm',
        baseUrl: 'http://localhost:8000/v1',
        model: 'Qwen/Qwen3-8B',
      },
    ],
    ['sglang', { kind: server, server: 'sglang' }],
    [
      'llama-server:http://localhost:8080',
      { kind: server, server: 'llama-server', baseUrl: 'http://localhost:8080' },
    ],
    ['ollama:qwen3', { kind: server, server: 'ollama', model: 'qwen3' }],
    ['ollama:qwen3:8b', { kind: server, server: 'ollama', model: 'qwen3:8b' }],
    [
      'ollama:http://host:11434#qwen3:8b',
      { kind: server, server: 'ollama', baseUrl: 'http://host:11434', model: 'qwen3:8b' },
    ],
    ['lm-studio:some', { kind: server, server: 'lm-studio', model: 'some' }],
    ['transformers', { kind: server, server: 'transformers' }],
    ['groq:openai/gpt-oss-120b', { kind: server, server: 'groq', model: 'openai/gpt-oss-120b' }],
    [
      'bedrock:openai.gpt-oss-1:0',
      { kind: server, server: 'bedrock', model: 'openai.gpt-oss-1:0' },
    ],
    [
      'azure:https://acme.openai.azure.com#mine',
      { kind: server, server: 'azure', baseUrl: 'https://acme.openai.azure.com', model: 'mine' },
    ],
    ['https://gpu.example/v1', { kind: server, baseUrl: 'https://gpu.example/v1' }],
    ['http://gpu:1#a#b', { kind: server, baseUrl: 'http://gpu:1', model: 'a#b' }],
    ['HTTP://gpu:1', { kind: server, baseUrl: 'HTTP://gpu:1' }],
    ['replay:runs/first', { kind: 'replay', path: 'runs/first' }],
    [
      'replay:runs/first#openai:gpt-6-luna',
      { kind: 'replay', path: 'runs/first', model: 'openai:gpt-6-luna' },
    ],
  ])('%s is taken apart', (spec, parts) => {
    expect(parseModelSpec(spec)).toEqual(parts);
  });
});

test.each([
  ['Tiny', 'tiny'],
  ['opnai:gpt-6-luna', 'openai:gpt-6-luna'],
  ['gpt-6-luna', 'openai:gpt-6-luna'],
  ['vlm:http://ada@host/v1', 'vllm:http://…@host/v1'],
])('the provider of “%s” was misspelt', (spec, meant) => {
  expect(() => parseModelSpec(spec)).toThrow(
    `Expected \`model\` to name a known provider, got \`"${spec.replace('ada@', '…@')}"\`. Did you mean \`${meant}\`?`,
  );
});

test('a model is not taken for a provider', () => {
  expect(() => parseModelSpec('gemma')).toThrow('Expected `model` to be tiny, ');
});

describe('what is no model spec', () => {
  const forms =
    'tiny, tiny:FILE.gguf, llama:FILE.gguf, anthropic:MODEL, openai:MODEL, openrouter:MODEL, gemini:MODEL, groq:MODEL, mistral:MODEL, deepseek:MODEL, together:MODEL, fireworks:MODEL, azure:DEPLOYMENT, bedrock:MODEL, vertex:MODEL, vllm, sglang, llama-server, ollama, lm-studio, transformers, SERVER:MODEL, SERVER:http://HOST:PORT#MODEL, http://HOST:PORT#MODEL, replay:RUN';

  test.each<[string, string]>([
    ['', `${forms}, got \`""\``],
    ['luna', `${forms}, got \`"luna"\``],
    ['cohere:command', `${forms}, got \`"cohere:command"\``],
    ['groq', 'a spec that names a model, as in groq:MODEL, got `"groq"`'],
    [
      'groq:https://host/v1',
      'a spec that names a model after #, as in groq:https://HOST/v1#MODEL, got `"groq:https://host/v1"`',
    ],
    ['ftp://host', `${forms}, got \`"ftp://host"\``],
    [
      './model.gguf',
      `a GGUF file, as in tiny:./model.gguf or llama:./model.gguf; other specs are ${forms}, got \`"./model.gguf"\``,
    ],
    [
      'tiny:',
      'a spec that names a GGUF file, as in tiny:./model.gguf or llama:./model.gguf, got `"tiny:"`',
    ],
    [
      'llama',
      'a spec that names a GGUF file, as in tiny:./model.gguf or llama:./model.gguf, got `"llama"`',
    ],
    [
      'anthropic',
      'a spec that names a model, as in anthropic:claude-sonnet-5-5, got `"anthropic"`',
    ],
    ['openai: ', 'a spec that names a model, as in openai:gpt-6-luna, got `"openai: "`'],
    ['vllm:', 'a spec that names a model, as in vllm:MODEL, got `"vllm:"`'],
    ['vllm:http://host#', 'a spec that names a model after #, got `"vllm:http://host#"`'],
    ['http://', 'a spec with an address that can be read, got `"http://"`'],
    ['http://host:99999', 'a spec with an address that can be read, got `"http://host:99999"`'],
    [
      'vllm:/v1',
      'a model or an address, as in vllm:MODEL or vllm:http://HOST:PORT/v1, got `"vllm:/v1"`',
    ],
    [
      'vllm:localhost:8000',
      'an address with http:// or https://, as in vllm:http://localhost:8000, got `"vllm:localhost:8000"`',
    ],
    [
      'vllm:10.0.0.7:8000/v1',
      'an address with http:// or https://, as in vllm:http://10.0.0.7:8000/v1, got `"vllm:10.0.0.7:8000/v1"`',
    ],
    ['replay', 'a spec that names a run, as in replay:runs/first, got `"replay"`'],
    ['replay:#a', 'a spec that names a run, as in replay:runs/first, got `"replay:#a"`'],
    ['replay:runs/first#', 'a spec that names a model after #, got `"replay:runs/first#"`'],
  ])('“%s” is refused', (spec, sentence) => {
    expect(() => parseModelSpec(spec)).toThrow(EspalierError);
    expect(() => parseModelSpec(spec)).toThrow(`Expected \`model\` to be ${sentence}.`);
    expect(modelSpecForms.join(', ')).toBe(forms);
  });

  test('may hold no key, and shows none', () => {
    for (const spec of ['http://me:s3/cret@host#m', 'vllm:http://s3@host/v1', 'x:http://s3@h']) {
      expect(() => parseModelSpec(spec)).toThrow('Expected `model` to be');
      expect(() => parseModelSpec(spec)).not.toThrow('s3');
    }
  });

  test('is a string', () => {
    expect(() => parseModelSpec(7 as never)).toThrow('got `7`.');
  });
});

test('a model spec has no query, which may hold a key', () => {
  for (const spec of ['http://host/v1?api_key=s3#m', 'vllm:http://host/v1?api_key=s3#m']) {
    expect(() => parseModelSpec(spec)).toThrow('the key goes in an environment variable');
    expect(() => parseModelSpec(spec)).not.toThrow('s3');
  }
});

async function ask(model: LanguageModel, maxTokens = 9): Promise<Generation> {
  const { signal } = new AbortController();
  const messages = [{ role: 'user', content: 'Why?' }] as const;
  const clock = manualClock({ auto: true });
  return model.generate({ messages, maxTokens }, { signal, clock });
}

const open: Emulator[] = [];
afterEach(async () => {
  vi.unstubAllEnvs();
  for (const emulated of open.splice(0)) await emulated.close();
});

async function emulated(
  dialect: 'anthropic' | 'openai' | 'vllm' | 'ollama',
  apiKey?: string,
): Promise<Emulator> {
  const models = ['claude-sonnet-5-5', 'gpt-6-luna', 'qwen3'];
  const started = await emulator({ dialect, models, ...(apiKey !== undefined && { apiKey }) });
  open.push(started);
  return started;
}

const options: Parameters<typeof languageModel>[1] = {
  apiKey: 'some-key',
  headers: { 'x-mine': 'yes' },
  retry: false,
};

describe('the model that a spec names', () => {
  test('is hosted by Anthropic', async () => {
    const { url, requests } = await emulated('anthropic', 'some-key');
    vi.stubEnv('ANTHROPIC_BASE_URL', url);
    await using model = await languageModel('anthropic:claude-sonnet-5-5', options);
    expect((await ask(model)).completions).toHaveLength(1);
    expect(model).toMatchObject({ provider: 'anthropic', modelId: 'claude-sonnet-5-5' });
    expect(requests.map(({ headers }) => headers['x-mine'])).toEqual(['yes']);
  });

  test('is hosted by OpenAI', async () => {
    const { url, requests } = await emulated('openai', 'some-key');
    vi.stubEnv('OPENAI_BASE_URL', `${url}/v1`);
    await using model = await languageModel('openai:gpt-6-luna', options);
    expect((await ask(model)).completions).toHaveLength(1);
    expect(model).toMatchObject({ provider: 'openai', modelId: 'gpt-6-luna' });
    expect(requests[0]?.headers['x-mine']).toBe('yes');
  });

  test.each(['vllm', 'ollama'] as const)('is served by %s', async (dialect) => {
    const { url, requests } = await emulated(dialect, 'some-key');
    await using model = await languageModel(`${dialect}:${url}/v1#qwen3`, options);
    expect((await ask(model)).completions).toHaveLength(1);
    expect(model).toMatchObject({ provider: dialect, modelId: 'qwen3' });
    expect(requests.at(-1)?.headers['x-mine']).toBe('yes');
  });

  test('is served at an address', async () => {
    const { url } = await emulated('vllm');
    await using model = await languageModel(`${url}#qwen3`, { retry: false });
    expect((await ask(model)).completions).toHaveLength(1);
  });
});

describe('the model that a spec names, with options,', () => {
  test('has the options of its caller: time and fetch', async () => {
    const fetch: typeof globalThis.fetch = () => new Promise(() => {});
    for (const spec of ['anthropic:claude-sonnet-5-5', 'openai:gpt-6-luna', 'vllm:qwen3']) {
      await using model = await languageModel(spec, { ...options, fetch, timeoutMs: 30 });
      await expect(ask(model)).rejects.toMatchObject({ kind: 'timeout' });
    }
  });

  test('is asked again where it fails, unless that is not wished', async () => {
    let calls = 0;
    const fetch: typeof globalThis.fetch = async () => {
      calls++;
      return new Response('{}', { status: 503 });
    };
    const spec = 'anthropic:claude-sonnet-5-5';
    await using model = await languageModel(spec, { ...options, fetch, retry: { attempts: 3 } });
    await expect(ask(model)).rejects.toMatchObject({ kind: 'overloaded' });
    expect(calls).toBe(3);
  });
});

describe('the model of a spec without a server', () => {
  test('is played from a run', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'espalier-spec-'));
    {
      using journal = openJournal(join(folder, 'journal.jsonl'));
      const spend = { calls: 1, tokens: 1, usd: 0 };
      const call = { call: 0, key: 'k' };
      const request = { messages: [{ role: 'user', content: 'Why?' }], maxTokens: 9 };
      const output = { completions: [{ text: 'So.' }], usage: {} };
      const name = 'acme:large';
      journal.append({ type: 'journal', version: 2, run: {} });
      journal.append({
        type: 'intent',
        ...call,
        kind: 'generate',
        name,
        samples: [0, 1],
        reserved: spend,
        request,
      });
      journal.append({ type: 'result', ...call, spend, output });
    }
    for (const spec of [`replay:${folder}`, `replay:${folder}#acme:large`]) {
      await using model = await languageModel(spec);
      expect((await ask(model)).completions).toEqual([{ text: 'So.' }]);
    }
    rmSync(folder, { recursive: true });
  });

  test('is the one that comes with the package', async () => {
    await using model = await languageModel('tiny');
    expect(model).toMatchObject({ provider: 'tiny', modelId: 'espalier-tiny' });
    expect((await ask(model, 2)).completions).toHaveLength(1);
  });

  test('is a file', async () => {
    await using small = await languageModel('tiny:./missing.gguf');
    expect(small).toMatchObject({ provider: 'tiny', modelId: 'missing.gguf' });
    await using large = await languageModel('llama:./missing.gguf');
    expect(large).toMatchObject({ provider: 'llama', modelId: 'missing.gguf' });
  });

  test('is not made from a spec that nobody understands', async () => {
    await expect(languageModel('nonsense')).rejects.toThrow(
      'Expected `model` to be tiny, tiny:FILE',
    );
  });
});

/** The files that come along when a file is imported, as paths from `src`, and the packages that they name. */
function loadedWith(file: string, found = new Set<string>()): ReadonlySet<string> {
  if (found.has(file)) return found;
  found.add(file);
  const text = readFileSync(join(source, file), 'utf8');
  const imports = text.matchAll(/^(?:import|export|\}) (?!type )[^;]*?from '([^']+)';$/gm);
  for (const [, target = ''] of imports) {
    if (target.startsWith('.'))
      loadedWith(relative(source, join(source, dirname(file), target)), found);
    else found.add(target);
  }
  return found;
}

const source = join(import.meta.dirname, '../../src');

test('nothing comes along that is not used', () => {
  const loaded = [...loadedWith('backends/language-model.ts')];
  expect(loaded).toContain('backends/model-spec.ts');
  const kinds = /^backends\/(tiny|llama|anthropic|openai|replay|ai-sdk)\//;
  expect(loaded.filter((name) => kinds.test(name))).toEqual([]);
  const packages = loaded.filter((name) => !name.endsWith('.ts') && !name.startsWith('node:'));
  expect(packages).toEqual([]);
  expect([...loadedWith('backends/tiny/index.ts')]).toContain('@huggingface/gguf');
});

test('a provider with an SDK of its own may be at another address', () => {
  const baseUrl = 'http://127.0.0.1:9/v1';
  expect(parseModelSpec(`openai:${baseUrl}#m`)).toEqual({ kind: 'openai', baseUrl, model: 'm' });
  expect(parseModelSpec(`anthropic:${baseUrl}#m`)).toEqual({
    ...{ kind: 'anthropic', baseUrl, model: 'm' },
  });
  expect(() => parseModelSpec(`openai:${baseUrl}`)).toThrow(
    'a spec that names a model after #, as in openai:https://HOST/v1#gpt-6-luna',
  );
});
