import { defineConfig, type ViteUserConfig } from 'vitest/config';

const config: ViteUserConfig = defineConfig({
  ssr: { resolve: { conditions: ['espalier-source'] } },
  resolve: { conditions: ['espalier-source'] },
  test: {
    include: ['tests/**/*.test.ts'],
    globalSetup: 'tests/global-setup.ts',
    testTimeout: 180_000,
    hookTimeout: 180_000,
    // By default a core is left idle: on two cores, half of them.
    maxWorkers: '100%',
    // Modules are loaded once for all files of a process, and not once a file: half of the time. No test changes a global
    // that it does not put back.
    isolate: false,
  },
});

// biome-ignore lint/style/noDefaultExport: vitest reads the default export
export default config;
