/** A program that uses only a provider stays alive while it waits for the provider, and then ends by itself. */
import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));

/** Providers that start processes: the module, its factory, the options, and a URI to read. */
const PROVIDERS = [
  ['sql', 'sqlProvider', { sql: 'examples/registrar.sqlite' }, 'sqlite:///objects'],
  ['git', 'gitProvider', { path: 'examples/restoration.git' }, 'git:///HEAD'],
  ['command', 'commandProvider', { run: { 'date.txt': { argv: ['date'], follow: ['cat'] } } }, 'command:///date.txt'],
] as const;

const READS = `
  for (const { content } of await provider.read(uri, { maxBytes: 1e6, maxChildren: 100 }, ctx))
    if (content.kind === 'stream') for await (const _ of content.open()) break;`;
const WATCHES = 'const watching = await provider.watch(uri, () => {}, ctx);';
const STOPS_WATCHING = 'await watching[Symbol.asyncDispose]();';
const CLOSES = 'await provider.close();';

const COURSES = {
  nothing: [CLOSES],
  'a read': [READS, CLOSES],
  'a watch, and a read': [WATCHES, READS, STOPS_WATCHING, CLOSES],
  'a watch, which ends after the provider': [WATCHES, CLOSES, STOPS_WATCHING],
};

describe.each(PROVIDERS)('a program with only the %s provider', (module, create, options, uri) => {
  it.each(Object.entries(COURSES))('ends by itself after %s', async (_, steps) => {
    const program = `
      import { ${create} } from 'vitrine/providers/${module}';
      const provider = await ${create}(${JSON.stringify(options)});
      const uri = '${uri}';
      const log = { debug() {}, info() {}, warn() {}, error() {} };
      const ctx = { principal: { id: 'anonymous' }, signal: new AbortController().signal, log };
      ${steps.join('\n')}
      console.log('closed');`;
    const run = promisify(execFile)(process.execPath, ['--input-type=module', '-e', program], { cwd: ROOT });
    await expect(run).resolves.toEqual({ stdout: 'closed\n', stderr: '' });
  });
});
