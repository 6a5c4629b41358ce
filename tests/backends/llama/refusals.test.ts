import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import type { LlamaBinding, NativeModel } from '../../../src/backends/llama/binding.ts';
import { llama } from '../../../src/backends/llama/index.ts';
import { openModel } from '../../../src/backends/llama/open.ts';
import { bench } from './bench.ts';
import { FakeLlama, FakeModel } from './fake-llama.ts';

function folder(): string {
  const path = mkdtempSync(join(tmpdir(), 'espalier-llama-'));
  onTestFinished(() => rmSync(path, { recursive: true, force: true }));
  return path;
}

const loading = (model: string) => llama({ model }).load();

describe('a request that cannot be answered', () => {
  test('a prompt longer than the context', async () => {
    const { ask } = bench({ contextSize: 8 });
    await expect(ask({ prompt: 'abcdefg' })).rejects.toMatchObject({
      kind: 'context-length',
      message:
        'The prompt has 8 tokens, and the context of fake.gguf holds 7: shorten it, or set a larger `contextSize`.',
      retryable: false,
      charged: false,
    });
    expect((await ask({ prompt: 'abcdef' })).usage.inputTokens).toBe(7);
  });

  test('tools', async () => {
    const tools = [{ name: 'add', input: { type: 'object' } }];
    await expect(bench().ask({ tools })).rejects.toMatchObject({
      kind: 'capability',
      parameter: 'tools',
    });
  });
});

describe('a file that cannot be read', () => {
  test('a file that is not there', async () => {
    const path = join(folder(), 'none.gguf');
    await expect(loading(path)).rejects.toThrow(
      `Expected \`model\` to be the path of a GGUF file, but there is none at ${path}.`,
    );
  });

  test.each([
    ['text', Buffer.from('This is no model, and longer than the beginning of one.')],
    ['an empty file', Buffer.alloc(0)],
    ['the name of the format and nothing that follows', Buffer.from('GGUF')],
    ['an unknown version', header(99, 1n, 1n)],
    ['a number of tensors beyond all models', header(3, 2n ** 60n, 1n)],
    ['a number of entries beyond all models', header(3, 1n, 2n ** 60n)],
  ])('%s', async (_, bytes) => {
    const path = join(folder(), 'model.gguf');
    writeFileSync(path, bytes);
    await expect(loading(path)).rejects.toThrow(
      `Expected \`model\` to be a GGUF file, but ${path} does not begin like one.`,
    );
  });

  test('a folder', async () => {
    const path = folder();
    await expect(loading(path)).rejects.toThrow(
      `Expected \`model\` to be a GGUF file, but ${path} cannot be read.`,
    );
  });

  test('a model without its package', () => {
    // It is no dependency of this package, and so not there.
    const path = join(folder(), 'model.gguf');
    writeFileSync(path, header(3, 1n, 1n));
    const script = `
      import { llama } from 'espalier/backends/llama';
      const model = llama({ model: process.argv[1] });
      await model.load().catch(({ code, message }) => process.stdout.write(code + ': ' + message));
    `;
    const args = ['--input-type=module', '-e', script, path];
    const root = join(import.meta.dirname, '../../..');
    expect(execFileSync(process.execPath, args, { cwd: root, encoding: 'utf8' })).toBe(
      'usage: Expected the package `node-llama-cpp` to be installed, but it is not. Run: npm install node-llama-cpp',
    );
  });
});

describe('options', () => {
  test('out of their range are refused', () => {
    const thrown = (options: object) => () => llama(options);
    expect(thrown({})).toThrow('Expected `model` to be the path of a GGUF file, got `undefined`.');
    expect(thrown({ llama: new FakeLlama() })).toThrow('Expected `model` to be the path');
    expect(thrown({ model: 'a', sequences: 0 })).toThrow(
      'Expected `sequences` to be an integer from 1 to 256, got `0`.',
    );
    expect(thrown({ model: 'a', sequences: 4, contextSize: 2 ** 26 + 1 })).toThrow(
      'Expected `contextSize` to be an integer from 2 to 67108864, got `67108865`.',
    );
    expect(thrown({ model: 'a', threads: 0.5 })).toThrow('Expected `threads` to be an integer');
    expect(thrown({ model: 'a', gpu: true })).toThrow(
      "Expected `gpu` to be 'auto', 'metal', 'cuda', 'vulkan' or false, got `true`.",
    );
    expect(thrown({ model: 'a', seed: 1.5 })).toThrow('Expected `seed` to be an integer');
    expect(thrown({ model: 'a', llama: {} })).toThrow(
      'Expected `llama` to be a `Llama` or a `LlamaModel` of node-llama-cpp, got an object.',
    );
  });
});

describe('what the package throws', () => {
  const settings = {
    ...{ path: undefined, name: 'big.gguf', sequences: 1, contextSize: undefined, threads: 1 },
    gpu: false,
  } as const;

  test.each([
    [
      'A context size of 9 with 4 sequences is too large for the available RAM',
      'big.gguf does not fit into memory: take a smaller or more quantised file, a smaller `contextSize` or fewer `sequences` (A context size of 9 with 4 sequences is too large for the available RAM).',
    ],
    ['Failed to create context', 'llama.cpp cannot load big.gguf: Failed to create context.'],
  ])('%s', async (message, expected) => {
    const native = new FakeModel();
    native.createContext = () => Promise.reject(new Error(message));
    const opening = openModel({
      ...settings,
      own: { model: native as unknown as NativeModel },
      binding: () => Promise.reject(new Error('There is no package.')),
    });
    await expect(opening).rejects.toMatchObject({ code: 'usage', message: expected });
    expect(native.disposed).toBe(false);
  });

  test.each([
    ['auto', 'this machine. Build one with `npx node-llama-cpp source download`.'],
    [
      'cuda',
      "`gpu: 'cuda'` on this machine. Build one with `npx node-llama-cpp source download`, or leave `gpu` out.",
    ],
  ] as const)('no binary for %s', async (gpu, expected) => {
    const path = join(folder(), 'model.gguf');
    writeFileSync(path, header(3, 1n, 1n));
    const getLlama = () => Promise.reject(new Error('NoBinaryFoundError'));
    const binding = () => Promise.resolve({ getLlama } as unknown as LlamaBinding);
    const opening = openModel({ ...settings, path, gpu, own: undefined, binding });
    await expect(opening).rejects.toMatchObject({
      code: 'usage',
      message: `The package \`node-llama-cpp\` has no binary for ${expected}`,
    });
  });
});

function header(version: number, tensors: bigint, entries: bigint): Buffer {
  const bytes = Buffer.alloc(64);
  bytes.write('GGUF', 'latin1');
  bytes.writeUInt32LE(version, 4);
  bytes.writeBigUInt64LE(tensors, 8);
  bytes.writeBigUInt64LE(entries, 16);
  return bytes;
}
