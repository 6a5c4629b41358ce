import { join } from 'node:path';
import { defineConfig, type ViteUserConfig } from 'vitest/config';
import { bindingPath } from './support/binding.ts';

const root = join(import.meta.dirname, '../..');

/** One project a job: `scripts/live.js` runs them, after it has fetched what they need. */
function project(name: string, { timeout, setup }: { timeout: number; setup?: string }) {
  return {
    root,
    ssr: { resolve: { conditions: ['espalier-source'] } },
    resolve: {
      conditions: ['espalier-source'],
      // It is no dependency of this package: users install it, and these tests do in their own folder.
      alias: { 'node-llama-cpp': bindingPath },
    },
    test: {
      name,
      include: [`tests/live/${name}/*.live.ts`],
      ...(setup !== undefined && { globalSetup: `tests/live/${name}/${setup}` }),
      testTimeout: timeout,
      hookTimeout: timeout,
      // Two cores: the server and the tests.
      fileParallelism: false,
    },
  };
}

const config: ViteUserConfig = defineConfig({
  root,
  test: {
    projects: [
      project('llama-server', { timeout: 60_000, setup: 'setup.ts' }),
      project('llama', { timeout: 60_000 }),
      project('tinyllama', { timeout: 600_000 }),
      project('transformers', { timeout: 300_000 }),
    ],
  },
});

// biome-ignore lint/style/noDefaultExport: vitest reads the default export
export default config;
