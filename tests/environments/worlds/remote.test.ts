import { spawn, spawnSync } from 'node:child_process';
import { getEventListeners, once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { join } from 'node:path';
import { inspect } from 'node:util';
import { afterAll, describe, expect, test } from 'vitest';
import { remoteEnvironment } from '../../../src/environments/index.ts';
import { mcts, search } from '../../../src/index.ts';
import { describeEnvironment, plainContext } from '../../../src/testing/index.ts';

const context = plainContext();
const folder = import.meta.dirname;
const python = join(folder, '../../../python/espalier_environment.py');
const hasPython = spawnSync('python3', ['--version']).status === 0;

function hostile(fault: string, timeoutMs = 10_000) {
  const command = [process.execPath, join(folder, 'hostile-server.mjs'), fault];
  return remoteEnvironment<string>({ name: 'hostile', command, timeoutMs });
}

describe('a server of worlds', () => {
  test('is asked in lines of JSON', async () => {
    await using environment = hostile('none');
    let { state, ...ends } = await environment.reset(context);
    expect({ state, ...ends }).toEqual({ state: { start: { observation: 'step 0' }, steps: [] } });
    ({ state, ...ends } = await environment.step(state, 'on', context));
    expect(state.steps).toEqual([{ action: 'on', observation: 'step 1' }]);
    expect(ends).toEqual({ reward: 0.5 });
  });

  test.each([
    ['garbage', /^The program `.*` wrote something that is not an answer: /],
    ['long', /wrote a line of more than 16777216 bytes\.$/],
    ['exit', /ended with 3\. It ran out of memory\.$/],
    ['wrong id', /answered 999, which was not asked\.$/],
    ['no id', /answered null, which was not asked\.$/],
    ['no message', /^\{"message":\{"toString":1\}\}$/],
    ['shape', /^The server's answer to `step` was not as expected: /],
    ['error', /^No such move\.$/],
    ['silent', /^The world of `hostile` took longer than 2000 ms to `act`, and was abandoned\.$/],
  ])('that answers with %s fails the step, and no other', async (fault, message) => {
    await using environment = hostile(fault, fault === 'silent' ? 2_000 : 10_000);
    const { state } = await environment.reset(context);
    await expect(environment.step(state, 'on', context)).rejects.toThrow(message);
    // Another one takes its place.
    expect((await environment.reset(context)).state).toEqual(state);
  });

  test.each([
    ['hello', 'create'],
    ['reset', 'reset'],
    ['fork', 'snapshot'],
    ['restore', 'restore'],
  ])('that is silent on `%s` is told of in time, and ended', async (method, what) => {
    const environment = hostile(`silent on ${method}`, 2_000);
    const stepped = async () => {
      const { state } = await environment.reset(context);
      await environment.step(state, 'on', context);
      await environment.step(state, 'on', context);
    };
    const told = `The world of \`hostile\` took longer than 2000 ms to \`${what}\`, and was abandoned.`;
    await expect(stepped()).rejects.toThrow(told);
    await environment.close();
    const isRunning = () => {
      const { stdout } = spawnSync('ps', ['-eo', 'args'], { encoding: 'utf8' });
      return stdout.includes(`hostile-server.mjs silent on ${method}`);
    };
    await expect.poll(isRunning, { timeout: 5_000 }).toBe(false);
  });

  test('that says more than it was asked fails the step after', async () => {
    await using environment = hostile('twice');
    const { state } = await environment.reset(context);
    const next = await environment.step(state, 'on', context);
    const later = environment.step(next.state, 'on', context);
    await expect(later).rejects.toThrow('which was not asked');
  });

  test('that does not end with its input is ended', async () => {
    const environment = hostile('stays');
    await environment.reset(context);
    await environment.close();
    const { stdout } = spawnSync('ps', ['-eo', 'args'], { encoding: 'utf8' });
    expect(stdout).not.toContain('hostile-server.mjs stays');
  });

  test('that is not there is told of', async () => {
    const environment = remoteEnvironment({ name: 'none', command: ['no-such-program-7'] });
    await expect(environment.reset(context)).rejects.toThrow(
      'The program `no-such-program-7` could not be started: spawn no-such-program-7 ENOENT. Check `command`, and `cwd`.',
    );
    const options = { name: 'none', command: [] };
    expect(() => remoteEnvironment(options)).toThrow('Expected `command` to be a program');
    expect(() => remoteEnvironment({ name: 'none', url: 'file:///x' })).toThrow('of HTTP');
  });
});

test('a program that floods what it should answer is ended at once', async () => {
  const flood = 'process.stdout.write("y\\n".repeat(500_000)); setInterval(() => {}, 1_000)';
  const command = [process.execPath, '-e', flood];
  await using environment = remoteEnvironment<string>({ name: 'flood', command });
  await expect(environment.reset(context)).rejects.toThrow('something that is not an answer: y');
}, 10_000);

test('a server may be told to show observations of a type', async () => {
  const command = [process.execPath, join(folder, 'hostile-server.mjs'), 'none'];
  const options = { name: 'typed', command };
  await using environment = remoteEnvironment<string, `step ${number}`>(options);
  const { state } = await environment.reset(context);
  const seen: `step ${number}` = state.start.observation;
  expect(seen).toBe('step 0');
});

describe('a server over HTTP', () => {
  const answers = (body: unknown, status = 200) =>
    remoteEnvironment({
      name: 'web',
      url: 'http://worlds.test/',
      fetch: async () => new Response(JSON.stringify(body), { status }),
    });

  test.each([
    [{ id: 7, result: {} }, 200, 'wrote something that is not an answer'],
    [{ id: 1, error: { message: 'No.' } }, 200, 'No.'],
    [{ id: 1 }, 200, 'wrote something that is not an answer'],
    [{}, 502, 'answered with status 502'],
    [{ id: 1, result: { forks: 'x'.repeat(17_000_000) } }, 200, 'more than 16777216 bytes'],
  ])('that misbehaves fails the step', async (body, status, message) => {
    await expect(answers(body, status).reset(context)).rejects.toThrow(message);
  });

  test('that cannot be asked is told of, without keys in its address', async () => {
    const closed = createServer().listen(0);
    await once(closed, 'listening');
    const { port } = closed.address() as AddressInfo;
    await new Promise((resolve) => closed.close(resolve));
    const url = `http://127.0.0.1:${port}/worlds?key=secret`;
    await expect(remoteEnvironment({ name: 'web', url }).reset(context)).rejects.toThrow(
      `The server \`http://127.0.0.1:${port}/worlds\` could not be reached: connect ECONNREFUSED 127.0.0.1:${port}. Check that it runs, and that the address is right.`,
    );
    const withUser = { name: 'web', url: 'http://ada:secret@worlds.test/' };
    expect(() => remoteEnvironment(withUser)).toThrow('got `"http://worlds.test"`');
  });

  test('is asked on a signal of its own each time: listeners do not pile up', async () => {
    let [asked, most] = [0, 0];
    const listening: typeof fetch = async (_, { body, signal } = {}) => {
      const { id } = JSON.parse(String(body)) as { id: number };
      // As the platform's does, which takes it away when it is collected.
      signal?.addEventListener('abort', () => {});
      most = Math.max(most, signal == null ? 0 : getEventListeners(signal, 'abort').length);
      asked += 1;
      const result = { handle: 'h', observation: 'o', seen: { observation: 'o' } };
      return new Response(JSON.stringify({ id, result }));
    };
    const options = { name: 'web', url: 'http://worlds.test/', fetch: listening };
    await using environment = remoteEnvironment<string>(options);
    const { state } = await environment.reset(context);
    await environment.step(state, 'on', context);
    expect(asked).toBeGreaterThan(2);
    expect(most).toBe(1);
  });
});

async function failureOf(environment: ReturnType<typeof remoteEnvironment>): Promise<Error> {
  try {
    await environment.reset(context);
  } catch (error) {
    return error as Error;
  }
  return expect.fail('It was asked.');
}

describe('a key of a server', () => {
  test.each([
    ...[
      'http://bob:S3cr3t@h/',
      'HTTP://bob:S3cr3t@h/',
      ' http://bob:S3cr3t@h/',
      'http:bob:S3cr3t@h',
    ],
    ...['https://bob:S3cr3t#x@h/', 'https://bob:S3cr3t/x@h/', 'https://bob:S3cr3t?x@h/'],
    ...['https://bob:p@S3cr3t#x@h/', 'https://bob:p@S3cr3t/x@h/', 'https://S3cr3t#x@h/'],
    ...[
      'http:\\\\bob:S3cr3t@h',
      'ht\ttp://bob:S3cr3t@h/',
      'http:/\t/bob:S3cr3t@h/',
      'bob:S3cr3t@h',
    ],
    ...['ws://bob:S3cr3t@h', 'htps://h/?token=S3cr3t', '//bob:S3cr3t@h/', 'S3cr3t'],
    ...['http://h:99999/?token=S3cr3t', 'http://[h/?token=S3cr3t', 'http://bob%3AS3cr3t%40h/'],
  ])('is not in what is told of an address that is refused: %j', (url) => {
    const made = () => remoteEnvironment({ name: 'web', url });
    expect(made).toThrow('Expected `url` to be an address');
    expect(made).not.toThrow(/s3cr3t|bob/i);
  });

  test.each([
    ['an error', (id: number, url: string) => ({ id, error: { message: `No \u001b ${url}` } })],
    ['an odd error', (id: number, url: string) => ({ id, error: { url } })],
    ['no answer', (id: number, url: string) => ({ id: id + 1, url })],
  ])('is blanked where the server repeats it in %s', async (_, answer) => {
    const asked: typeof fetch = async (url, { body } = {}) => {
      const { id } = JSON.parse(String(body)) as { id: number };
      return Response.json(answer(id, `${url} and S3cr3t/+`));
    };
    const url = 'http://worlds.test/?key=S3cr3t%2F%2B&v=1';
    const made = remoteEnvironment({ name: 'web', url, fetch: asked });
    const told = await failureOf(made);
    expect(told.message).toContain('key=…&v=1 and …');
    expect(told.message).not.toMatch(/S3cr3t|\p{Cc}/u);
  });

  test('is not in what caused that it cannot be asked', async () => {
    const asked: typeof fetch = async (url) => {
      throw new Error(`Not ${url}`, { cause: new Error('down') });
    };
    const url = 'http://worlds.test/?S3cr3t';
    const made = remoteEnvironment({ name: 'web', url, fetch: asked });
    const error = await failureOf(made);
    expect(inspect(error)).toContain('could not be reached: down.');
    expect(inspect(error, { depth: 9 })).not.toContain('S3cr3t');
  });
});

const gym = (name: string) => ['python3', python, `gym_worlds:${name}`];
const moves = ['add 1', 'double'];

/** A server of Python worlds over HTTP. */
async function served(name: string): Promise<{ readonly url: string } & AsyncDisposable> {
  const [program = '', ...rest] = gym(name);
  const server = spawn(program, [...rest, '--http', '0'], { cwd: folder });
  const [chunk] = (await once(server.stderr, 'data')) as [Buffer];
  return {
    url: chunk.toString().trim(),
    [Symbol.asyncDispose]: async () => {
      const ended = once(server, 'exit');
      server.kill();
      await ended;
    },
  };
}

if (!hasPython) {
  test.skip('Python worlds: skipped, because there is no python3 on this machine.', () => {});
} else {
  const create = (task: { goal: number }) =>
    remoteEnvironment<string>({ name: 'walk', command: gym('Walk'), cwd: folder, task });
  const open: ReturnType<typeof create>[] = [];
  afterAll(async () => {
    for (const environment of open) await environment.close();
  });
  describeEnvironment(
    'in Python',
    {
      create: () => {
        const environment = create({ goal: 9 });
        open.push(environment);
        return environment;
      },
      actions: ({ start, steps }) =>
        Number((steps.at(-1) ?? start).observation) >= 9 ? [] : moves,
      ...{ walks: 2, maxDepth: 5 },
    },
    { describe, test },
  );
}

describe.skipIf(!hasPython)('a world in Python', () => {
  test('is searched as it is', async () => {
    await using environment = remoteEnvironment<string>({
      ...{ name: 'walk', command: gym('Walk'), cwd: folder, instances: 2 },
    });
    const { best } = await search(environment, {
      policy: () => moves.map((action) => ({ action })),
      evaluator: ({ depth }) => depth / 20,
      algorithm: mcts({ evaluate: 'all' }),
      ...{ budget: { simulations: 200 }, concurrency: 2 },
      stopWhen: ({ best: { reward = 0 } }) => reward === 1,
    });
    expect(best.kind === 'proposed' || best.state.steps.length).toBeGreaterThan(3);
  });

  test('is given its seed, and tells what JSON has no form for', async () => {
    const command = gym('Dice');
    await using environment = remoteEnvironment<string>({ name: 'dice', command, cwd: folder });
    const { state } = await environment.reset(context);
    const one = await environment.step(state, 'roll', context);
    await environment.reset(context);
    const again = await environment.step(state, 'roll', context);
    expect(again).toEqual(one);
    expect(one.state.steps[0]?.observation).toMatchObject({ rolled: [expect.any(Number), 5000] });
  });

  test('that cannot be copied is done again', async () => {
    const command = gym('Locked');
    await using environment = remoteEnvironment<number>({ name: 'locked', command, cwd: folder });
    const { state } = await environment.reset(context);
    const [one] = [(await environment.step(state, 1, context)).state];
    const two = (await environment.step(one, 2, context)).state;
    const other = (await environment.step(one, 10, context)).state;
    expect([two, other].map(({ steps }) => steps.at(-1)?.observation)).toEqual([3, 11]);
  });

  test.each([
    ['gym_worlds:Nope', "nothing in gym_worlds is called 'Nope' and can be called."],
    ['gym_worlds', "got 'gym_worlds'."],
    ['nowhere.at_all:Corridor', "there is no module 'nowhere' in "],
  ])('that is not there is told of in a sentence: %s', (path, message) => {
    const { status, stderr } = spawnSync('python3', [python, path], {
      cwd: folder,
      encoding: 'utf8',
    });
    expect(status).toBe(2);
    expect(stderr).toContain(`got '${path}'`);
    expect(stderr).toContain(message);
    expect(stderr).not.toContain('Traceback');
  });

  test('says what it threw', async () => {
    await using environment = remoteEnvironment<string>({
      ...{ name: 'walk', command: gym('Walk'), cwd: folder },
    });
    const { state } = await environment.reset(context);
    await expect(environment.step(state, 'fly', context)).rejects.toThrow("KeyError: 'fly'");
  });
});

describe.skipIf(!hasPython)('a Python server over HTTP', () => {
  test('serves worlds too', async () => {
    await using server = await served('Walk');
    const { url } = server;
    await using environment = remoteEnvironment<string>({ name: 'walk', url, instances: 3 });
    const { state } = await environment.reset(context);
    const all = await Promise.all(
      moves.map(async (action) => environment.step(state, action, context)),
    );
    expect(all.map(({ state: { steps } }) => steps.at(-1)?.fingerprint)).toEqual([
      'number 2',
      'number 2',
    ]);
  });

  test('serves each client its own task', async () => {
    await using server = await served('Walk');
    const create = (goal: number) =>
      remoteEnvironment<string>({
        ...{ name: 'walk', url: server.url, task: { goal }, snapshots: 0 },
      });
    await using near = create(2);
    await using far = create(28);
    const { state } = await near.reset(context);
    await far.reset(context);
    await near.step(state, 'double', context);
    // A state is come to from a new start, after the other client has said what its task is.
    expect(await near.step(state, 'add 1', context)).toMatchObject({ reward: 1, terminal: true });
  });
});
