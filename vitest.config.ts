import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['src/**/*.test.ts', 'test/**/*.test.ts'],
    // Every error that leaves a server while a test runs is looked at.
    setupFiles: ['test/errors/setup.ts'],
    // Most tests wait for other processes: two files at a time are half the wait on two cores, where one is the default.
    maxWorkers: 2,
    testTimeout: 60_000,
    hookTimeout: 60_000,
    teardownTimeout: 10_000,
  },
});
