// Every command, with and without --json, on a pseudo-terminal of python3, with hostile text in all that it reads:
// nothing that steers a terminal arrives raw.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { hostileCommands, hostileServer, rawIn } from './control-corpus.ts';

const terminal =
  'import os, pty, sys; sys.exit(os.waitstatus_to_exitcode(pty.spawn(sys.argv[1:])))';
const main = join(import.meta.dirname, '../../dist/cli/main.js');
const folder = mkdtempSync(join(tmpdir(), 'espalier-terminal-'));
const server = await hostileServer();
let raw = 0;
let bytes = 0;
const commands = hostileCommands(folder, server.url);
try {
  for (const args of commands) {
    // A NUL cannot stand in an argument.
    const plain = args.map((arg) => arg.replaceAll('\0', ''));
    const child = spawn('python3', ['-c', terminal, process.execPath, main, ...plain], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const output = await text(child.stdout);
    const found = rawIn(output);
    bytes += output.length;
    assert.notEqual(output, '', `no output of ${JSON.stringify(args)}`);
    if (found.length > 0) process.stdout.write(`${JSON.stringify(args)}: ${found.join(' ')}\n`);
    raw += found.length;
  }
} finally {
  server.close();
  rmSync(folder, { recursive: true, force: true });
}
process.stdout.write(
  `${commands.length} commands on a pseudo-terminal, ${bytes} characters, ${raw} control characters raw\n`,
);
assert.equal(raw, 0);
