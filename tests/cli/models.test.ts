import { randomUUID } from 'node:crypto';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { type Emulator, emulator } from '../../src/testing/index.ts';
import { build, espalier, temporaryFolder } from './espalier.ts';

// The commands that take any model, against servers that answer as model servers do.

const folder = temporaryFolder();
const steps = ['Six times seven is meant.', 'Then 6 · 7 = 42.', 'The answer is 42.'];
let reasoner: Emulator;
let writer: Emulator;
beforeAll(async () => {
  await build();
  reasoner = await emulator({
    dialect: 'ollama',
    models: ['reasoner'],
    // The third step knows the answer; who judges is sure.
    answer: ({ messages }) => {
      const prompt = messages.map(({ content }) => content).join('\n');
      if (prompt.includes('Judge how likely')) return 'sure';
      const step = Number(/Write step (\d)/.exec(prompt)?.[1]);
      return JSON.stringify({ step: steps[step - 1], answer: step === 3 ? '42' : null });
    },
  });
  writer = await emulator({ dialect: 'vllm', models: ['writer'] });
}, 60_000);
afterAll(async () => {
  await reasoner.close();
  await writer.close();
});

test('a question is answered step by step, and called unverified', async () => {
  const spec = `ollama:${reasoner.url}#reasoner`;
  const { code, stdout, stderr } = await espalier(
    ...['search', 'What is six times seven?', '--model', spec, '--calls', '30'],
  );
  expect(stderr).toBe('');
  expect(stdout).toMatch(
    /^Question: What is six times seven\?\nModel: ollama:reasoner\.\n\nThe best path so far:\n\n1\. Six times seven is meant\.\n2\. Then 6 · 7 = 42\.\n3\. The answer is 42\.\n\nAnswered in 3 steps, valued at 1\.00, not verified: 42\n\d+ simulations · \d+ calls · \d+ tokens · \d+ ms\n$/,
  );
  expect(code).toBe(0);
});

test('the lines of what a search cost add up, failed attempts included', async () => {
  const server = await emulator({
    dialect: 'vllm',
    models: ['flaky'],
    faults: ({ index }) => (index % 3 === 1 ? ['reset-midway'] : []),
  });
  const { stdout } = await espalier(
    ...['search', 'What is six times seven?', '--model', `vllm:${server.url}#flaky`],
    ...['--calls', '8', '--price-in', '100', '--price-out', '400'],
  );
  await server.close();
  const dollars = stdout
    .split('\n')
    .flatMap((line) => (line.startsWith('Caches') ? [] : (/\$([\d.]+\d)/.exec(line)?.[1] ?? [])));
  const [sum = 0, ...parts] = dollars.map(Number);
  expect(stdout).toMatch(
    /\nFailed attempts and calls without known usage: counted above at the maximum cost of \d+ tokens · \$[\d.]+\d\.\n/,
  );
  // Each is rounded by up to $0.00005.
  expect(Math.abs(parts.reduce((all, part) => all + part, 0) - sum)).toBeLessThan(0.0003);
});

test('how hard a model thinks, and how long a step is, is said by role', async () => {
  const before = reasoner.requests.length;
  const spec = `ollama:${reasoner.url}#reasoner`;
  const { code, stderr } = await espalier(
    ...['search', 'What is six times seven?', '--model', spec, '--calls', '30'],
    ...[
      '--effort',
      'low',
      '--judge-effort',
      'none',
      '--thought-tokens',
      '70',
      '--max-tokens',
      '30',
    ],
  );
  expect(stderr).toBe('');
  expect(code).toBe(0);
  const told = reasoner.requests.slice(before).flatMap(({ body }) => {
    const {
      messages,
      reasoning_effort: effort,
      max_tokens: most,
    } = body as Record<string, unknown>;
    const role = JSON.stringify(messages).includes('Judge how likely') ? 'judge' : 'policy';
    return most === undefined ? [] : [`${role} ${String(effort)} ${String(most)}`];
  });
  expect([...new Set(told)].sort()).toEqual(['judge none 78', 'policy low 100']);
});

test('a limit on dollars is kept where the price is known, and needs one', async () => {
  const question = ['search', 'What is six times seven?', '--budget-usd', '0.05'];
  const own = await espalier(
    ...question,
    '--model',
    `ollama:${reasoner.url}#reasoner`,
    '--calls',
    '9',
  );
  expect(own.code).toBe(0);
  const unknown = await espalier(...question, '--model', 'openai:nobody-knows');
  expect(unknown.code).toBe(2);
  expect(unknown.stderr).toContain('`--budget-usd` needs the price of openai:nobody-knows');
});

test('a server that is not there is one sentence, and the exit code 1', async () => {
  const { code, stdout } = await espalier(
    ...['search', 'Why?', '--model', 'vllm:http://127.0.0.1:9/v1#nobody', '--calls', '5'],
  );
  expect(stdout).toMatch(/\nThe search failed: .*127\.0\.0\.1:9.* cannot be reached/);
  expect(code).toBe(1);
}, 120_000);

test('a run at a server that names no model is one with the model that it serves', async () => {
  const path = join(folder, 'served');
  const search = async (calls: string, name: string) => {
    const served = await emulator({ dialect: 'vllm', models: [name] });
    const at = ['--model', `vllm:${served.url}`, '--calls', calls, '--save', path];
    // The address is part of a run too: only the names are compared here.
    const { stdout, stderr } = await espalier('search', 'Which door?', ...at);
    await served.close();
    return stdout + stderr;
  };
  expect(await search('6', 'first')).toContain('Model: vllm:first.');
  expect(await search('9', 'second')).toMatch(/belongs to another run: .*vllm:first.*vllm:second/s);
}, 60_000);

test.each([
  ['openai', 'OPENAI', '/v1'],
  ['anthropic', 'ANTHROPIC', ''],
] as const)('a key of %s reaches no file and no output', async (dialect, name, path) => {
  const key = `sk-${randomUUID()}`;
  const server = await emulator({ dialect, apiKey: key, models: ['keyed'] });
  const search = (run: string) =>
    espalier(
      ...['search', 'Which door?', '--model', `${dialect}:keyed`, '--calls', '8', '--save', run],
    );
  const runs = ['right', 'wrong'].map((which) => join(folder, `${dialect}-${which}`));
  try {
    vi.stubEnv(`${name}_BASE_URL`, `${server.url}${path}`);
    vi.stubEnv(`${name}_API_KEY`, key);
    const right = await search(runs[0] ?? '');
    expect(server.account.completionsServed).toBeGreaterThan(0);
    vi.stubEnv(`${name}_API_KEY`, `${key}x`);
    const wrong = await search(runs[1] ?? '');
    expect(wrong.stdout).toMatch(/The search failed: .* refuses the key \(401/);
    expect(wrong.code).toBe(1);
    const files = runs.flatMap((run) =>
      readdirSync(run).map((file) => readFileSync(join(run, file), 'utf8')),
    );
    // A journal, a tree, what was asked and what was found, of each.
    expect(files.length).toBeGreaterThanOrEqual(8);
    const written = [right, wrong].flatMap(({ stdout, stderr }) => [stdout, stderr]);
    expect([...files, ...written].filter((text) => text.includes(key.slice(3)))).toEqual([]);
  } finally {
    vi.unstubAllEnvs();
    await server.close();
  }
});

test('doctor prints what a model honours', async () => {
  const { code, stdout } = await espalier('doctor', '--model', `vllm:${writer.url}/v1`);
  expect(stdout).toMatch(
    /^Model: vllm:writer\nServer: vllm, context of \d+ tokens\nModels: writer\n/,
  );
  expect(stdout).toMatch(/\nseveral samples +yes +One request brought three, \d different\.\n/);
  expect(stdout).toMatch(/\nlog-probabilities +yes +5 alternatives per token\.\n/);
  expect(stdout).toMatch(/\nJSON schema +yes /);
  expect(stdout).toMatch(/\nprefix cache +yes +\d+ of \d+ tokens/);
  expect(stdout).toMatch(/\n8 at once +\d+ ms +\d+ tokens\/s\n/);
  expect(stdout).toContain('- It costs nothing.\n');
  expect(code).toBe(0);
});

test('doctor --json prints one document', async () => {
  const { stdout } = await espalier(
    'doctor',
    '--model',
    `ollama:${reasoner.url}#reasoner`,
    '--json',
  );
  const found = JSON.parse(stdout) as { findings: readonly { about: string; outcome: string }[] };
  expect(found).toMatchObject({ model: 'ollama:reasoner', reachable: true });
  const outcomes = Object.fromEntries(found.findings.map(({ about, outcome }) => [about, outcome]));
  // Ollama ignores `n`: three samples take three requests.
  expect(outcomes['several samples']).toBe('no');
});

test('doctor --judge measures a model as a judge', async () => {
  const file = join(folder, 'states.jsonl');
  // The reasoner is sure of everything: a judge that tells nothing.
  const lines = [true, true, false].map((good, place) => ({ state: `Work ${place}`, good }));
  writeFileSync(file, lines.map((line) => JSON.stringify(line)).join('\n'));
  const asked = ['doctor', '--model', `ollama:${reasoner.url}#reasoner`, '--judge', file] as const;
  const { code, stdout } = await espalier(...asked);
  expect(stdout).toMatch(
    /^Model: ollama:reasoner\n\n3 states, 2 of them good\. The value cannot be told from noise \(AUC 0\.50, .*\)\.\nJudgements of one state differ by 0\.000, as a standard deviation\.\n\nHow many siblings it can choose between cannot be told /,
  );
  expect(code).toBe(0);
  const { stdout: json } = await espalier(...asked, '--json', '--repeats', '1');
  expect(JSON.parse(json)).toMatchObject({
    model: 'ollama:reasoner',
    judge: { auc: 0.5, states: 3, good: 2, failed: 0, width: { estimate: 1 } },
    spend: { calls: 9 },
  });
});

test('doctor --judge names the line of a broken file, and says why nothing was judged', async () => {
  const file = join(folder, 'broken.jsonl');
  writeFileSync(file, '{"state": "a", "good": true}\n{"good": true}');
  const broken = await espalier('doctor', '--model', 'tiny', '--judge', file);
  expect(broken).toEqual({
    code: 2,
    stdout: '',
    stderr: `Line 2 of \`${file}\`: expected \`state\`, a text, and \`good\`, true or false, and \`problem\`, if any, a text or a number, got the keys \`good\`.\n`,
  });
  writeFileSync(file, '{"state": "a", "good": true}\n{"state": "b", "good": false}');
  const nobody = 'vllm:http://127.0.0.1:9/v1#nobody';
  const { code, stdout } = await espalier('doctor', '--model', nobody, '--judge', file);
  expect(stdout).toMatch(/It could not be measured\. .*cannot be reached/);
  expect(code).toBe(1);
}, 60_000);

test('doctor says why a model does not answer', async () => {
  const { code, stdout } = await espalier('doctor', '--model', 'vllm:http://127.0.0.1:9/v1#nobody');
  expect(stdout).toMatch(/It does not answer\. .*cannot be reached/);
  expect(code).toBe(1);
});

test('doctor asks a busy server again', async () => {
  let asked = 0;
  const server = await emulator({
    dialect: 'vllm',
    models: ['busy'],
    faults: ({ asksModel }) =>
      asksModel && asked++ === 0 ? { kind: 'rate-limited', retryAfterMs: 20 } : undefined,
  });
  const { code, stdout } = await espalier('doctor', '--model', `vllm:${server.url}/v1#busy`);
  await server.close();
  expect(stdout).toContain('What espalier does with it:');
  expect(code).toBe(0);
}, 60_000);

test('a key is read from a variable that is named, or that of a provider, and reaches no file', async () => {
  const key = `key-${randomUUID()}`;
  const server = await emulator({ dialect: 'vllm', apiKey: key, models: ['keyed'] });
  const runs = ['named', 'provider'].map((which) => join(folder, `key-${which}`));
  try {
    vi.stubEnv('MY_API_KEY', key);
    vi.stubEnv('GROQ_API_KEY', key);
    const asked = ['search', 'Which door?', '--calls', '4'];
    const at = `${server.url}/v1#keyed`;
    const named = await espalier(
      ...[...asked, '--save', runs[0] ?? '', '--model', at, '--key-variable', 'MY_API_KEY'],
    );
    const provider = await espalier(
      ...[...asked, '--save', runs[1] ?? '', '--model', `groq:${at}`],
    );
    expect(named.stdout).toMatch(/\nModel: openai-compatible:keyed\./);
    expect(provider.stdout).toMatch(/\nModel: groq:keyed\./);
    for (const { stdout } of [named, provider])
      expect(stdout).toMatch(/ · \d calls · .*\$ unknown/);
    const files = runs.flatMap((run) =>
      readdirSync(run).map((file) => readFileSync(join(run, file), 'utf8')),
    );
    expect(files.join('')).toContain('"groq:keyed"');
    const written = [named, provider].flatMap(({ stdout, stderr }) => [stdout, stderr]);
    expect([...files, ...written].join('')).not.toContain(key.slice(4));
  } finally {
    vi.unstubAllEnvs();
    await server.close();
  }
});

test.each(['search', 'doctor'])(
  'a key in place of the name of its variable is not shown: %s',
  async (command) => {
    const { code, stdout, stderr } = await espalier(
      ...[command, '--model', 'https://host.example/v1#m', '--key-variable', 'sk-1234567890'],
    );
    expect([code, stdout]).toEqual([2, '']);
    expect(stderr).toContain('Expected `--key-variable` to be the name of an environment variable');
    expect(stderr).not.toContain('1234567890');
  },
);
