import { statSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { endOrphans } from '../../../src/environments/worlds/leftovers.ts';
import { runProgram } from '../../../src/environments/worlds/run-program.ts';
import { inOwnTemporaryFolder } from './own-temporary-folder.ts';
import { givenUp, put, userFolder } from './user-folder.ts';

inOwnTemporaryFolder();

const given = givenUp();

const onLinux = process.platform === 'linux';

test.runIf(onLinux)('no process is looked at twice', () => {
  const asked: number[] = [];
  const killed = endOrphans((pid) => {
    asked.push(pid);
    return false;
  });
  expect(killed).toBe(0);
  expect(asked).toContain(process.ppid);
  expect(new Set(asked).size).toBe(asked.length);
});

// Each link leaves the session, says that it lives, and starts the next one, for at most five seconds.
const chain = `
  import os, sys, time
  end = time.monotonic() + 5
  if os.fork():
    time.sleep(0.02)
    os._exit(0)
  while time.monotonic() < end:
    os.setsid()
    with open('lives', 'a') as told: told.write('.')
    time.sleep(float(sys.argv[1]))
    if os.fork(): os._exit(0)
`;

test.runIf(onLinux).each([['0.0005'], ['0.001'], ['0.002']])(
  'a program that starts another one every %s s, and ends, ends with all of them',
  async (pause) => {
    const cwd = given.root(userFolder());
    put(cwd, 'chain.py', chain.replaceAll('\n  ', '\n'));
    const began = performance.now();
    expect(await runProgram(['python3', 'chain.py', pause], { cwd })).toEqual({
      code: 0,
      output: '',
    });
    // By itself it would end then.
    expect(performance.now() - began).toBeLessThan(5_000);
    const told = () => statSync(join(cwd, 'lives')).size;
    const before = told();
    await wait(100);
    expect(told()).toBe(before);
  },
);
