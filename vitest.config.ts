import { defineConfig } from 'vitest/config';

// biome-ignore lint/style/noDefaultExport: vitest reads the default export
export default defineConfig({
  ssr: { resolve: { conditions: ['source'] } },
  resolve: { conditions: ['source'] },
  test: { include: ['tests/**/*.test.ts'], testTimeout: 30_000 },
});
