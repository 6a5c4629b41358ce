import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { JsonValue } from '../../src/index.ts';
import type { Asked, Witnessing } from './witness.ts';

/** A witness in another process, asked over HTTP. */
export interface WitnessProcess {
  readonly url: string;
  readonly ask: Witnessing;
  /** Each request in its order, as the process has written it down. */
  log(): Asked[];
  close(): Promise<void>;
}

/** Asks a witness over HTTP. */
export function askAt(url: string): Witnessing {
  return async (asked) => {
    const response = await fetch(url, { method: 'POST', body: JSON.stringify(asked) });
    return (await response.json()) as JsonValue;
  };
}

/** Starts a witness. */
export async function startWitness(): Promise<WitnessProcess> {
  const folder = mkdtempSync(join(tmpdir(), 'witness-'));
  const log = join(folder, 'log.jsonl');
  const program = join(import.meta.dirname, 'witness-server.ts');
  const child = spawn(process.execPath, ['--import', 'tsx', program, log], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const [port] = (await once(child.stdout, 'data')) as [Buffer];
  const url = `http://127.0.0.1:${port.toString().trim()}/`;
  return {
    url,
    ask: askAt(url),
    log: () =>
      readFileSync(log, 'utf8')
        .split('\n')
        .filter((line) => line !== '')
        .map((line) => JSON.parse(line) as Asked),
    close: async () => {
      const ended = once(child, 'exit');
      child.stdin.end();
      await ended;
      rmSync(folder, { recursive: true });
    },
  };
}
