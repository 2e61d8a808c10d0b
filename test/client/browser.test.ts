/** The client library as a browser gets it: one bundle, without anything of Node and of the server. */
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { build } from 'tsdown';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type * as library from '../../src/client/index.ts';
import { temporaryFolder } from '../e2e/folders.ts';
import { startHttp } from '../e2e/harness.ts';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));

type Library = typeof library;

describe('vitrine/client in a bundle for browsers', () => {
  let folder: string;
  let text = '';
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'vitrine-bundle-'));
    await build({
      config: false,
      cwd: ROOT,
      entry: { client: 'src/client/index.ts' },
      outDir: folder,
      platform: 'browser',
      format: 'esm',
      dts: false,
      clean: false,
      logLevel: 'error',
      deps: { alwaysBundle: [/.*/], onlyBundle: false },
    });
    const files = (await readdir(folder)).filter((name) => /\.m?js$/.test(name));
    text = (await Promise.all(files.map((name) => readFile(join(folder, name), 'utf8')))).join('\n');
  });
  afterAll(() => rm(folder, { recursive: true, force: true }));

  const imports = (): string[] =>
    [...text.matchAll(/^(?:import|export)\b[^;]*?\bfrom\s*["']([^"']+)["']|\bimport\s*\(\s*["']([^"']+)["']/gm)].map(
      (match) => match[1] ?? match[2] ?? '',
    );

  it('imports nothing but its own pieces', () => {
    expect(text.includes('createResourceClient')).toBe(true);
    expect(imports().filter((target) => !target.startsWith('./'))).toEqual([]);
    expect(/\brequire\(["']/.test(text)).toBe(false);
    expect(/["'`]node:/.test(text)).toBe(false);
  });

  it('has no server in it', () => {
    const parts = [...text.matchAll(/^\/\/#region (\S+)/gm)].map((match) => match[1] ?? '');
    expect(parts).toContain('src/client/client.ts');
    const own = parts.filter((part) => part.startsWith('src/') && !/^src\/(client|protocol|core)\//.test(part));
    const others = parts.filter((part) => /modelcontextprotocol\/server|\bajv\b|src\/client\/node/i.test(part));
    expect([...own, ...others]).toEqual([]);
  });

  it('reads from a real server', async () => {
    await using files = await temporaryFolder({ 'a.txt': 'from the bundle' });
    await using server = await startHttp([files.path]);
    const { createResourceClient } = (await import(pathToFileURL(join(folder, 'client.js')).href)) as Library;
    await using resources = createResourceClient({ url: server.url });
    expect((await resources.read('file:///a.txt')).primary?.text()).toBe('from the bundle');
  });
});
