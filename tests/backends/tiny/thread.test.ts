import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, describe, expect, test } from 'vitest';
import { checkedRequest } from '../../../src/backends/in-process/request.ts';
import { threadHost, workerScript } from '../../../src/backends/tiny/thread.ts';
import { modelFolder } from '../../support/random-model.ts';

const folder = modelFolder();
const path = folder.write('random.gguf');
const settings = { path, batch: 4, cacheBytes: undefined };
const crashing = new URL('../../fixtures/crashing-worker.js', import.meta.url);
const messages = [{ role: 'user' as const, content: 'Say something.' }];
const never = new AbortController().signal;

afterAll(() => folder[Symbol.dispose]());

describe('a thread', () => {
  test('that dies fails what is under way, and is followed by another', async () => {
    const host = threadHost(settings, crashing);
    for (const [seed, reason] of [
      [0, 'It was too much.'],
      [3, 'it ended with exit code 3.'],
      [0, 'It was too much.'],
    ] as const) {
      const request = checkedRequest({ messages, seed }, 0);
      const both = await Promise.allSettled([
        host.generate(request, never),
        host.generate(request, never),
      ]);
      for (const outcome of both) {
        expect(outcome).toMatchObject({
          status: 'rejected',
          reason: { message: `The thread of random.gguf stopped: ${reason}` },
        });
      }
    }
    await host.close(new Error('over'));
  });

  test('is not started for its numbers', async () => {
    const host = threadHost(settings, crashing);
    expect(await host.stats()).toMatchObject({ requests: 0 });
  });

  test('whose program is missing says so', async () => {
    const host = threadHost(settings, new URL('file:///nowhere/worker.js'));
    const request = checkedRequest({ messages }, 0);
    await expect(host.generate(request, never)).rejects.toThrow(
      'The program of the thread is missing at /nowhere/worker.js: build the package, or set `thread` to false.',
    );
  });

  test('runs the built program from sources', () => {
    expect(workerScript.pathname).toMatch(/\/dist\/backends\/tiny\/worker\.js$/);
  });
});

describe('the process', () => {
  const entry = pathToFileURL(
    join(import.meta.dirname, '../../../dist/backends/tiny/index.js'),
  ).href;

  async function ran(program: string): Promise<{ code: number | null; output: string }> {
    const start = `
      import { tiny } from ${JSON.stringify(entry)};
      const model = tiny({ model: ${JSON.stringify(path)} });
      const call = { signal: new AbortController().signal, clock: undefined };
      const messages = [{ role: 'user', content: 'Say something.' }];
    `;
    const child = spawn(process.execPath, ['--input-type=module', '-e', start + program], {
      stdio: ['ignore', 'pipe', 'inherit'],
      timeout: 30_000,
    });
    let output = '';
    child.stdout.on('data', (text) => {
      output += String(text);
    });
    await once(child, 'close');
    return { code: child.exitCode, output };
  }

  test('lives while a thread works, and ends when it has nothing to do', async () => {
    const program = `
      await model.generate({ messages, maxTokens: 20 }, call);
      model.generate({ messages, maxTokens: 30 }, call).then(({ completions }) => {
        console.log(completions.length);
      });
    `;
    expect(await ran(program)).toEqual({ code: 0, output: '1\n' });
  });

  test('lives until a thread is closed that has work', async () => {
    const program = `
      const under = model.generate({ messages, maxTokens: 1000 }, call);
      under.catch((error) => console.log(error.message));
      await model.close();
      console.log('closed');
    `;
    expect(await ran(program)).toEqual({ code: 0, output: 'random.gguf is closed.\nclosed\n' });
  });
});
