/** The package is what it says: exports and built files agree, and the version stands in one value. */
import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { VERSION } from '../src/vitrine.ts';
import tsdown from '../tsdown.config.ts';

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

/** Whose script only looks whether the binary is there that the package has in it: it works without having run. */
const WORKS_WITHOUT: ReadonlySet<string> = new Set(['node_modules/@photostructure/sqlite']);

describe('package.json', () => {
  it('has the version that the server says', () => {
    expect(VERSION).toBe(manifest.version);
  });

  it.each(targets)('$subpath is built, with types', async ({ types, default: file }) => {
    expect(existsSync(`${ROOT}${types}`), types).toBe(true);
    const module = (await import(`${ROOT}${file}`)) as object;
    expect(Object.keys(module).length).toBeGreaterThan(0);
  });

  it('exports every entry that is built, but the command and the schema', () => {
    const entries = Object.keys((tsdown as { entry: Record<string, string> }).entry);
    const exported = targets.map((target) => target.default.replace(/^\.\/dist\/|\.js$/g, ''));
    expect(entries.filter((entry) => !exported.includes(entry)).sort()).toEqual(['cli/main', 'config/schema']);
    expect(exported.filter((entry) => !entries.includes(entry))).toEqual([]);
  });

  it('has a command that is built and executable', async () => {
    const text = await readFile(`${ROOT}${manifest.bin.vitrine}`, 'utf8');
    expect(text.startsWith('#!/usr/bin/env node\n')).toBe(true);
  });

  it('locks no dependency that needs to run a script when it is installed', async () => {
    const lock = JSON.parse(await readFile(`${ROOT}package-lock.json`, 'utf8')) as {
      packages: Record<string, { hasInstallScript?: boolean; dev?: boolean; optional?: boolean }>;
    };
    const scripted = Object.entries(lock.packages).filter(
      ([path, entry]) => path !== '' && entry.hasInstallScript === true && !WORKS_WITHOUT.has(path),
    );
    expect(scripted.filter(([, entry]) => entry.optional !== true).map(([path]) => path)).toEqual([]);
  });
});
