import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, vi } from 'vitest';

/** Gives the tests of a file a temporary folder of their own: what others leave behind is none of theirs. */
export function inOwnTemporaryFolder(): void {
  let own = '';
  beforeAll(() => {
    own = mkdtempSync(join(tmpdir(), 'worlds-'));
    vi.stubEnv('TMPDIR', own);
  });
  afterAll(() => {
    vi.unstubAllEnvs();
    rmSync(own, { recursive: true, force: true });
  });
}
