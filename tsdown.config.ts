import { defineConfig } from 'tsdown';

/** One entry per subpath export; `test/package.test.ts` fails when these and `exports` disagree. */
export default defineConfig({
  entry: ['src/index.ts', 'src/cli/main.ts'],
  format: 'esm',
  platform: 'node',
  target: 'node20',
  dts: true,
  sourcemap: true,
  clean: true,
  fixedExtension: false,
});
