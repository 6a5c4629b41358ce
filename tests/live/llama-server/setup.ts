import { join } from 'node:path';
import type { TestProject } from 'vitest/node';
import { startServer } from '../support/llama-server.ts';
import { root } from '../support/packages.ts';

declare module 'vitest' {
  interface ProvidedContext {
    /** The address of the server that the tests share. */
    readonly server: string;
  }
}

/** One server for all files; it is stopped when they are through. */
export async function setup(project: TestProject): Promise<() => Promise<void>> {
  const model = join(root, 'models/tiny.gguf');
  const server = await startServer({ model, parallel: 8, context: 512 });
  project.provide('server', server.url);
  return () => server.stop();
}
