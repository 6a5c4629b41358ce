import { join } from 'node:path';
import { defineConfig, type ViteUserConfig } from 'vitest/config';
import { modules } from './packages.ts';

const config: ViteUserConfig = defineConfig({
  root: join(import.meta.dirname, '../../..'),
  ssr: { resolve: { conditions: ['espalier-source'] } },
  resolve: {
    conditions: ['espalier-source'],
    // They are no dependencies of this package: users install them.
    alias: Object.entries(modules).map(([name, replacement]) => ({
      find: new RegExp(`^${name}$`),
      replacement,
    })),
  },
  test: {
    name: 'embeddings',
    include: ['tests/live/embeddings/*.live.ts'],
    testTimeout: 60_000,
    hookTimeout: 60_000,
  },
});

// biome-ignore lint/style/noDefaultExport: vitest reads the default export
export default config;
