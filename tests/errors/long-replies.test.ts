import { expect, test } from 'vitest';
import { aiSdk, decisionsFromModel, openaiCompatible } from '../../src/backends/index.ts';
import { remoteEnvironment } from '../../src/environments/index.ts';
import { plainContext } from '../../src/testing/index.ts';

const long = 'ab '.repeat(47_000);
const messages = [{ role: 'user' as const, content: 'Why?' }];
const context = plainContext();

/** A server that gives the same reply to whatever it is asked, and what it says it serves. */
function server(reply: object, status = 200) {
  const fetch: typeof globalThis.fetch = async (asked) =>
    /\/models$/.test(String(asked))
      ? Response.json({ data: [{ id: long }] })
      : Response.json(reply, { status });
  return openaiCompatible({ model: 'm', preset: 'vllm', fetch, retry: false });
}

/** A world whose server reports an error. */
function world(error: object) {
  const fetch: typeof globalThis.fetch = async (_url, init) => {
    const { id } = JSON.parse(String(init?.body)) as { readonly id: number };
    return Response.json({ id, error });
  };
  return remoteEnvironment({ name: 'far', url: 'http://127.0.0.1:9/', fetch });
}

/** A model of the AI SDK that cannot be called. */
function sdk(name: string) {
  const doGenerate = () => Promise.reject(Object.assign(new Error(long), { name }));
  const model = { specificationVersion: 'v3', provider: 'a', modelId: 'a', doGenerate };
  return aiSdk(model, { retry: false });
}

const unsure = { token: long, logprob: 0, top_logprobs: [{ token: long, logprob: 0 }] };
const choice = { index: 0, finish_reason: 'stop', message: { content: 'a' } };
const tokens = { choices: [{ ...choice, logprobs: { content: [unsure] } }] };

test.each<[what: string, ask: () => unknown]>([
  ['of an error', () => context.generate(server({ error: { message: long } }, 500), { messages })],
  ['with the names of models', () => context.generate(server({}, 404), { messages })],
  ['of a world', () => world({ message: long }).reset(context)],
  ['of a world without a message', () => world({ code: long }).reset(context)],
  ['of an unknown model', () => context.generate(sdk('AI_NoSuchModelError'), { messages })],
  ['of a missing key', () => context.generate(sdk('AI_LoadAPIKeyError'), { messages })],
  [
    'in a token',
    async () => {
      const model = decisionsFromModel({ model: server(tokens) });
      const questions = { sure: { type: 'yes-no', text: 'Sure?' } } as const;
      const { answers } = await context.decide(model, { messages, questions });
      throw Object.assign(new Error(), answers['sure']);
    },
  ],
])('a long reply %s is not told as a whole', async (_what, ask) => {
  const told: unknown = await Promise.resolve()
    .then(ask)
    .catch((error: unknown) => (error as Error).message);
  expect(told).toMatch(/ab ab/);
  expect(String(told).length).toBeLessThan(700);
});
