// Runs every example to its end; each of them closes with an assertion. Those that ask hosted models run once for each
// provider: live where its key is in the environment, else against an emulator of its server.
import { spawn } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { env } from 'node:process';
import { fileURLToPath } from 'node:url';
import { emulator } from 'espalier/testing';
import { answers } from '../tests/support/answers-for-examples.ts';

const folder = fileURLToPath(new URL('../examples/', import.meta.url));

/** How an example is led to each provider: the variable of its key, and what says where the emulator is. */
const providers = {
  anthropic: {
    key: 'ANTHROPIC_API_KEY',
    server: { dialect: 'anthropic', models: ['claude-haiku-5-5'] },
    at: (url) => ({ ANTHROPIC_BASE_URL: url }),
  },
  openai: {
    key: 'OPENAI_API_KEY',
    server: { dialect: 'openai', models: ['gpt-6-luna'] },
    at: (url) => ({ OPENAI_BASE_URL: `${url}/v1` }),
  },
  gemini: {
    key: 'GEMINI_API_KEY',
    server: { dialect: 'openai', models: ['gemini-3.8-flash'] },
    at: (url) => ({ ESPALIER_MODEL: `gemini:${url}/v1#gemini-3.8-flash` }),
  },
  openrouter: {
    key: 'OPENROUTER_API_KEY',
    // Of the emulated servers one that ignores fields it does not know, as OpenRouter does.
    server: { dialect: 'vllm', models: ['openai/gpt-6-luna'] },
    at: (url) => ({ ESPALIER_MODEL: `openrouter:${url}/v1#openai/gpt-6-luna` }),
  },
};

/** The environment without what would lead an example to another provider than the one whose turn it is. */
function without(environment) {
  const others = [...Object.values(providers).map(({ key }) => key), 'ESPALIER_MODEL'];
  return Object.fromEntries(Object.entries(environment).filter(([name]) => !others.includes(name)));
}

/** Runs an example, and resolves to whether it passed. */
async function passes(file, environment, how = '') {
  const started = performance.now();
  const example = spawn(
    process.execPath,
    ['--import', 'tsx', '--conditions=espalier-source', join(folder, file)],
    { env: environment },
  );
  const output = [];
  example.stdout.on('data', (chunk) => output.push(chunk));
  example.stderr.on('data', (chunk) => output.push(chunk));
  const status = await new Promise((resolve) => example.once('close', resolve));
  const seconds = ((performance.now() - started) / 1_000).toFixed(1);
  const verdict = status === 0 ? 'passed' : 'FAILED';
  process.stdout.write(`${verdict}  ${file}${how === '' ? '' : `, ${how}`}  ${seconds} s\n`);
  if (status !== 0) process.stdout.write(Buffer.concat(output));
  return status === 0;
}

async function passesWith(file, provider) {
  const { key, server: kind, at } = providers[provider];
  const { [key]: secret } = env;
  const bare = without(env);
  if (secret) return passes(file, { ...bare, [key]: secret }, `${provider} live`);
  const server = await emulator({ ...kind, answer: answers[file].answer });
  try {
    const led = { ...bare, ...at(server.url), [key]: 'emulated' };
    const passed = await passes(file, led, `${provider} emulated`);
    if (server.account.completionsServed > 0) return passed;
    process.stdout.write(`FAILED  ${file} asked ${provider} for nothing\n`);
    return false;
  } finally {
    await server.close();
  }
}

const ends = [];
for (const file of readdirSync(folder).filter((name) => name.endsWith('.ts'))) {
  const asked = answers[file]?.providers;
  if (asked === undefined) ends.push(await passes(file, env));
  for (const provider of asked ?? []) ends.push(await passesWith(file, provider));
}
const failed = ends.filter((passed) => !passed).length;
process.stdout.write(`${ends.length - failed} passed, ${failed} failed\n`);
process.exitCode = failed === 0 ? 0 : 1;
