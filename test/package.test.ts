/** The package has what it declares: exports and built files agree, and there is one version. */
import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';
import { LICENSES } from '../scripts/bundled-licenses.ts';
import { VERSION } from '../src/vitrine.ts';
import tsdown from '../tsdown.config.ts';
import { CLI, ERAS } from './e2e/harness.ts';
import { INITIALIZE, startStdio } from './e2e/raw.ts';

const ROOT = fileURLToPath(new URL('../', import.meta.url));

interface Manifest {
  readonly version: string;
  readonly exports: Readonly<Record<string, string | { readonly types: string; readonly default: string }>>;
  readonly bin: Readonly<Record<string, string>>;
  readonly dependencies: Readonly<Record<string, string>>;
}

const manifest = JSON.parse(await readFile(`${ROOT}package.json`, 'utf8')) as Manifest;
const targets = Object.entries(manifest.exports).flatMap(([subpath, target]) =>
  typeof target === 'string' ? [] : [{ subpath, ...target }],
);

/** Packages whose script only checks for the binary in the package, and which work without the script. */
const WORKS_WITHOUT: ReadonlySet<string> = new Set(['node_modules/@photostructure/sqlite']);

const scriptUrl = (code: string): string => `data:text/javascript,${encodeURIComponent(code)}`;

/** Makes Node.js write each module that it loads to standard error. */
const HOOKS = `export function load(url, context, next) { process._rawDebug('loads ' + url); return next(url, context); }`;
const TELLING = `import { register } from 'node:module'; register(${JSON.stringify(scriptUrl(HOOKS))});`;

describe('package.json', () => {
  it('has the version of the server', () => {
    expect(VERSION).toBe(manifest.version);
  });

  it.each(targets)('$subpath is built, with types', async ({ types, default: file }) => {
    expect(existsSync(`${ROOT}${types}`), types).toBe(true);
    const module = (await import(`${ROOT}${file}`)) as object;
    expect(Object.keys(module).length).toBeGreaterThan(0);
  });

  it('exports every built entry, except the command, the schema and the island', () => {
    const entries = (tsdown as readonly { entry: Record<string, string>; outDir?: string }[]).flatMap(
      ({ entry, outDir = 'dist' }) => Object.keys(entry).map((name) => `${outDir}/${name}`.replace('dist/', '')),
    );
    const exported = targets.map((target) => target.default.replace(/^\.\/dist\/|\.js$/g, ''));
    expect(entries.filter((entry) => !exported.includes(entry)).sort()).toEqual([
      'cli/main',
      'config/schema',
      'explorer/island',
    ]);
    expect(exported.filter((entry) => !entries.includes(entry))).toEqual([]);
  });

  it('has a command that is built, and names Node.js in its first line', async () => {
    const text = await readFile(`${ROOT}${manifest.bin.vitrine}`, 'utf8');
    expect(text.startsWith('#!/usr/bin/env node\n')).toBe(true);
  });

  it('has the licences of all packages that are bundled with the command', async () => {
    const folder = `${ROOT}dist/cli/`;
    const files = (await readdir(folder)).filter((name) => name.endsWith('.js'));
    const texts = await Promise.all(files.map((name) => readFile(`${folder}${name}`, 'utf8')));
    const parts = texts.flatMap((text) => [
      ...text.matchAll(/^\/\/#region (?:.*\/)?node_modules\/((?:@[^/\n]+\/)?[^/\n]+)/gm),
    ]);
    const packages = new Set(parts.map(([, name = '']) => name));
    expect([...packages]).toEqual(expect.arrayContaining(['zod', 'commander', '@modelcontextprotocol/server']));
    const licences = await readFile(`${folder}${LICENSES}`, 'utf8');
    const listed = [...licences.matchAll(/^==== (\S+) /gm)].map(([, name = '']) => name);
    expect(listed.sort()).toEqual([...packages].sort());
  });

  it.each(ERAS)('has everything in the command that it needs to answer over stdio, %s', async (era) => {
    await using host = startStdio(era, [`${ROOT}examples/museum`], ['--import', scriptUrl(TELLING), CLI, 'serve']);
    const [method, params] = era === 'legacy' ? ['initialize', INITIALIZE] : ['server/discover', {}];
    expect(await host.request(1, method, params)).toHaveProperty('result');
    const loaded = host.stderr().match(/(?<=^loads ).*/gm) ?? [];
    expect(loaded.some((url) => url.endsWith('/dist/cli/main.js'))).toBe(true);
    expect(loaded.filter((url) => url.includes('/node_modules/'))).toEqual([]);
  });

  it('has a subpath for servers of the SDK that loads no SDK of its own', async () => {
    const script = ['--import', scriptUrl(TELLING), '--input-type=module', '-e', "await import('vitrine/sep-2093')"];
    const { stderr } = await promisify(execFile)(process.execPath, script, { cwd: ROOT });
    const loaded = stderr.match(/(?<=^loads ).*/gm) ?? [];
    expect(loaded.some((url) => url.endsWith('/dist/sep-2093.js'))).toBe(true);
    const packages = loaded.filter((url) => url.includes('/node_modules/') && !url.includes('/node_modules/zod/'));
    expect(packages).toEqual([]);
  });

  it('locks no dependency with a required install script', async () => {
    const lock = JSON.parse(await readFile(`${ROOT}package-lock.json`, 'utf8')) as {
      packages: Record<string, { hasInstallScript?: boolean; dev?: boolean; optional?: boolean }>;
    };
    const scripted = Object.entries(lock.packages).filter(
      ([path, entry]) => path !== '' && entry.hasInstallScript === true && !WORKS_WITHOUT.has(path),
    );
    expect(scripted.filter(([, entry]) => entry.optional !== true).map(([path]) => path)).toEqual([]);
  });
});
