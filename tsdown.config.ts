import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { defineConfig, type Rolldown, type UserConfig } from 'tsdown';
import { bundledLicenses } from './scripts/bundled-licenses.ts';

/** Of these a small part is used, and nobody else's copy of them has to be the same: they are built in. */
const BUILT_IN = [/^@opentelemetry\/semantic-conventions$/, /^kysely$/, /^turndown$/, /^@mixmark-io\/domino$/];

const COMMON = {
  inputOptions: { checks: { pluginTimings: false } },
  format: 'esm',
  platform: 'node',
  target: 'node20',
  fixedExtension: false,
} as const;

/** One entry for each subpath export; `test/package.test.ts` fails when these and `exports` disagree. */
const LIBRARY = {
  ...COMMON,
  entry: {
    index: 'src/index.ts',
    'providers/files': 'src/providers/files/index.ts',
    'providers/git': 'src/providers/git/index.ts',
    'providers/http': 'src/providers/http/index.ts',
    'providers/http/program': 'src/providers/http/program.ts',
    'providers/memory': 'src/providers/memory/index.ts',
    'providers/command': 'src/providers/command/index.ts',
    'providers/s3': 'src/providers/s3/index.ts',
    'providers/sql': 'src/providers/sql/index.ts',
    'providers/upstream': 'src/providers/upstream/index.ts',
    'layers/alternatives': 'src/layers/alternatives/index.ts',
    'layers/alternatives/program': 'src/layers/alternatives/program.ts',
    'layers/mime': 'src/layers/mime/index.ts',
    'layers/telemetry': 'src/layers/telemetry/index.ts',
    'layers/timeout': 'src/layers/timeout/index.ts',
    client: 'src/client/index.ts',
    'client/node': 'src/client/node/index.ts',
    'client/safety': 'src/client/safety/index.ts',
    'client/guards': 'src/client/guards/index.ts',
    'uri-template': 'src/core/uri-template.ts',
    'sep-2093': 'src/sep-2093/index.ts',
    'sep-2093/testing': 'src/sep-2093/testing/index.ts',
    testing: 'src/testing/index.ts',
    search: 'src/search/index.ts',
    config: 'src/configured/index.ts',
    'plug-in': 'src/plug-in/index.ts',
    'plug-ins/cedar': 'plug-ins/cedar/index.ts',
    'plug-ins/feeds': 'plug-ins/feeds/index.ts',
    'plug-ins/media': 'plug-ins/media/index.ts',
    'plug-ins/openapi': 'plug-ins/openapi/index.ts',
    'plug-ins/rtf': 'plug-ins/rtf/index.ts',
    'config/schema': 'src/config/schema.ts',
  },
  deps: { alwaysBundle: BUILT_IN },
  dts: true,
  sourcemap: true,
  clean: true,
  plugins: [bundledLicenses()],
};

/**
 * Puts what serving loads at once into two chunks, of which one is for the other commands, too: a start opens few files, and
 * those need not read what they do not use.
 */
function startChunks() {
  let command: Set<string> | undefined;
  let looking: Set<string> | undefined;
  let serving: Set<string> | undefined;
  return (module: string, context: Rolldown.ChunkingContext): string | null => {
    const loadedBy = (file: string) => reached(resolve(file), (id) => context.getModuleInfo(id)?.importedIds ?? []);
    serving ??= loadedBy('src/cli/serve.ts');
    looking ??= loadedBy('src/cli/client/ls.ts');
    command ??= loadedBy('src/cli/command.ts');
    if (command.has(module) || (looking.has(module) && serving.has(module))) return 'common';
    return serving.has(module) ? 'serving' : null;
  };
}

/** All that this leads to. A set that grows while it is gone through goes on with what has come. */
function reached(first: string, next: (id: string) => readonly string[]): Set<string> {
  const found = new Set([first]);
  for (const id of found) for (const each of next(id)) found.add(each);
  return found;
}

/**
 * The command, with what it needs to start: a host waits for each file that is looked for. All that shares a part with those
 * packages comes along, so that there is one of each; what is loaded when it is needed stays where it is installed.
 */
const COMMAND = {
  ...COMMON,
  entry: { main: 'src/cli/main.ts' },
  outDir: 'dist/cli',
  deps: {
    alwaysBundle: [
      ...BUILT_IN,
      /^@hono\/node-server(\/|$)/,
      /^@modelcontextprotocol\//,
      /^commander$/,
      /^hono(\/|$)/,
      /^ipaddr\.js$/,
      /^lru-cache$/,
      /^mime(\/|$)/,
      /^pino$/,
      /^zod(\/|$)/,
    ],
  },
  dts: false,
  sourcemap: true,
  clean: false,
  plugins: [bundledLicenses()],
  outputOptions: { codeSplitting: { groups: [{ name: startChunks() }] } },
};

/** The style of the island, in the order in which later rules change earlier ones. */
const STYLES = ['page', 'top', 'panes', 'entries', 'resource', 'forms', 'wire', 'adapting'];

/** Puts the parts of the style into one file: a browser asks once. */
function islandStyle(): Rolldown.Plugin {
  return {
    name: 'island-style',
    generateBundle() {
      const source = STYLES.map((name) => readFileSync(`src/explorer/style/${name}.css`, 'utf8')).join('\n');
      this.emitFile({ type: 'asset', fileName: 'island.css', source });
    },
  };
}

/** The island of the explorer, for browsers: previews are files of their own, loaded when first needed. */
const ISLAND: UserConfig = {
  inputOptions: { checks: { pluginTimings: false } },
  format: 'esm',
  platform: 'browser',
  target: 'es2022',
  fixedExtension: false,
  entry: { island: 'src/explorer/island.tsx' },
  outDir: 'dist/explorer',
  tsconfig: 'src/explorer/tsconfig.json',
  deps: { alwaysBundle: [/.*/], onlyBundle: false },
  minify: true,
  dts: false,
  sourcemap: false,
  clean: false,
  plugins: [bundledLicenses(), islandStyle()],
};

export default defineConfig([LIBRARY, COMMAND, ISLAND]);
