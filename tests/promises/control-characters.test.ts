import { afterAll, beforeAll, expect, test } from 'vitest';
import { build, espalier, temporaryFolder } from '../cli/espalier.ts';
import { hostileCommands, hostileServer, rawIn, steering } from '../verify/control-corpus.ts';

const folder = temporaryFolder();
const server = await hostileServer();
afterAll(() => server.close());
beforeAll(build, 300_000);

test('the corpus is raw where nobody filters it', () => {
  expect(rawIn(steering)).toHaveLength(77);
});

const all = hostileCommands(folder, server.url);

test.each(all.map((args) => [args.map((arg) => arg.replace(steering, '…')).join(' '), args]))(
  'espalier %s sends nothing that steers a terminal',
  async (_name, args) => {
    // A NUL cannot stand in an argument.
    const { stdout, stderr } = await espalier(...args.map((arg) => arg.replaceAll('\0', '')));
    expect(rawIn(stdout)).toEqual([]);
    expect(rawIn(stderr)).toEqual([]);
    expect(stdout + stderr).not.toBe('');
    if (args.includes('--json') && stdout !== '') JSON.parse(stdout);
  },
  120_000,
);
