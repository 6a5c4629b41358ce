import { spawn, spawnSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { readdirSync, statSync } from 'node:fs';
import { hostname, tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { describe, expect, test, vi } from 'vitest';
import { endOrphans, removeLeftovers } from '../../../src/environments/worlds/leftovers.ts';
import {
  plainVariables,
  runProgram,
  startProgram,
} from '../../../src/environments/worlds/run-program.ts';
import { inOwnTemporaryFolder } from './own-temporary-folder.ts';
import { givenUp, processesWith, put, userFolder } from './user-folder.ts';

inOwnTemporaryFolder();

const given = givenUp();

const onLinux = process.platform === 'linux';

test.runIf(onLinux)('no process is looked at twice', async () => {
  const asked: number[] = [];
  const ended = await endOrphans((pid) => {
    asked.push(pid);
    return false;
  });
  expect(ended).toEqual({ killed: 0, isDone: true, isKilling: false });
  expect(asked).toContain(process.ppid);
  expect(new Set(asked).size).toBe(asked.length);
});

test.runIf(onLinux)('others have their turn meanwhile, and it ends in time', async () => {
  const others = Array.from({ length: 8 }, () => spawn('sleep', ['98741']));
  let ticks = 0;
  const timer = setInterval(() => ticks++, 1);
  const slow = () => {
    for (const end = performance.now() + 300; performance.now() < end; );
    return false;
  };
  const began = performance.now();
  expect(await endOrphans(slow)).toMatchObject({ killed: 0, isDone: false });
  expect(performance.now() - began).toBeLessThan(3_000);
  expect(ticks).toBeGreaterThanOrEqual(5);
  clearInterval(timer);
  for (const other of others) other.kill();
});

// Others start and end all the time, so that one of them always ends unseen: the time runs out.
test.runIf(onLinux)(
  'on a busy machine, one that was killed long before is not told of',
  async () => {
    const sleeping = ['98744', '98745'].map((seconds) => spawn('sleep', [seconds]));
    const spin = () => {
      for (const end = performance.now() + 2_100; performance.now() < end; );
    };
    let looks = 0;
    const before = await endOrphans((pid) => {
      if (pid === sleeping[0]?.pid) return true;
      if (pid !== process.ppid) return false;
      if (looks++ > 20) spin();
      throw Object.assign(new Error('It has ended.'), { code: 'ESRCH' });
    });
    expect(before).toEqual({ killed: 1, isDone: false, isKilling: false });
    const justNow = await endOrphans((pid) => {
      if (pid !== sleeping[1]?.pid) return false;
      spin();
      return true;
    });
    expect(justNow).toEqual({ killed: 1, isDone: false, isKilling: true });
  },
);

test('on a busy machine, where none was seen in time, none is told of', async () => {
  let now = 0;
  const clock = vi.spyOn(performance, 'now').mockImplementation(() => (now += 1_000));
  const { failed } = await removeLeftovers();
  clock.mockRestore();
  expect(failed).toEqual([]);
});

describe('what the dead have left', () => {
  const { pid: dead } = spawnSync('true');
  const left = JSON.stringify({ pid: dead, host: hostname(), id: randomUUID() });

  test.runIf(onLinux)('is told from what somebody else calls as we do', async () => {
    const texts = ['alice', '', '{}', 'null', `{"pid":${dead},"host":"${hostname()}"}`, left];
    const sleeping = texts.map((text) =>
      spawn('sleep', ['98742'], { env: { ...plainVariables(), ESPALIER_OWNER: text } }),
    );
    const last = sleeping.at(-1);
    const ended = new Promise((resolve) => last?.once('exit', (_, signal) => resolve(signal)));
    expect((await removeLeftovers()).failed).toEqual([]);
    expect(await ended).toBe('SIGKILL');
    await wait(100);
    const others = sleeping.slice(0, -1);
    expect(others.map(({ signalCode }) => signalCode)).toEqual(others.map(() => null));
    for (const other of others) other.kill();
  });

  test('is told from folders of somebody else', async () => {
    const owners = { mine: 'alice', torn: '', left };
    for (const [name, owner] of Object.entries(owners)) {
      put(join(tmpdir(), `espalier-world-${name}`), 'owner', owner);
    }
    expect((await removeLeftovers()).failed).toEqual([]);
    const kept = readdirSync(tmpdir()).filter((name) => name.startsWith('espalier-world-'));
    expect(kept.sort()).toEqual(['espalier-world-mine', 'espalier-world-torn']);
  });
});

test('the group of a program is ended when that exits, and not later: another may have its number', async () => {
  await once(startProgram(['sh', '-c', 'sleep 98743 & exit 0'], {}).child, 'exit');
  await expect.poll(() => processesWith('sleep 98743')).toEqual([]);
  const { child, end } = startProgram(['true'], {});
  await once(child, 'exit');
  const kill = vi.spyOn(process, 'kill');
  expect(await end()).toBe(true);
  expect(kill).not.toHaveBeenCalled();
  kill.mockRestore();
});

// Each link leaves the session, says that it lives, and starts the next one, for at most ten seconds.
const chain = `
  import os, sys, time
  end = time.monotonic() + 10
  if all([os.fork() for _ in range(int(sys.argv[2]))]):
    time.sleep(0.02)
    os._exit(0)
  while time.monotonic() < end and not os.path.exists('stop'):
    os.setsid()
    with open('lives', 'a') as told: told.write('.')
    time.sleep(float(sys.argv[1]))
    if os.fork(): os._exit(0)
`;

test.runIf(onLinux).each([
  ['0.0005', '1'],
  ['0.001', '1'],
  ['0.002', '1'],
  ['0.004', '1'],
  ['0', '4'],
  ['0.001', '8'],
])(
  'programs that start another one every %s s, and end, end with all of them or are told of: %s of them',
  async (pause, count) => {
    const cwd = given.root(userFolder());
    put(cwd, 'chain.py', chain.replaceAll('\n  ', '\n'));
    const began = performance.now();
    const { code, output } = await runProgram(['python3', 'chain.py', pause, count], { cwd });
    expect(code).toBe(0);
    // By itself it would end then.
    expect(performance.now() - began).toBeLessThan(10_000);
    // On a machine with much else to do, several may be quicker than who looks for them.
    const told = '[the processes that it started could not be killed]';
    expect(count === '1' ? [''] : ['', told]).toContain(output);
    if (output === told) return put(cwd, 'stop', '');
    // None may have come so far as to write.
    const lives = () => statSync(join(cwd, 'lives'), { throwIfNoEntry: false })?.size ?? 0;
    const before = lives();
    await wait(100);
    expect(lives()).toBe(before);
  },
);
