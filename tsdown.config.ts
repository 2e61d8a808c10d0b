import { defineConfig } from 'tsdown';

/** One entry for each subpath export; `test/package.test.ts` fails when these and `exports` disagree. */
export default defineConfig({
  entry: {
    index: 'src/index.ts',
    'cli/main': 'src/cli/main.ts',
    'providers/files': 'src/providers/files/index.ts',
    'providers/memory': 'src/providers/memory/index.ts',
    'providers/upstream': 'src/providers/upstream/index.ts',
    'layers/mime': 'src/layers/mime/index.ts',
    'layers/telemetry': 'src/layers/telemetry/index.ts',
    'layers/timeout': 'src/layers/timeout/index.ts',
    'access/cedar': 'src/layers/access/cedar/index.ts',
    client: 'src/client/index.ts',
    'client/node': 'src/client/node/index.ts',
    'client/safety': 'src/client/safety/index.ts',
    'client/guards': 'src/client/guards/index.ts',
    'uri-template': 'src/core/uri-template.ts',
    testing: 'src/testing/index.ts',
    'config/schema': 'src/config/schema.ts',
  },
  format: 'esm',
  platform: 'node',
  target: 'node20',
  dts: true,
  sourcemap: true,
  clean: true,
  fixedExtension: false,
});
