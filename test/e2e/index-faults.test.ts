/** The file of an index is damaged, lost or full. The index is repaired, and gives no wrong answers until then. */
import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { open, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { filesProvider } from '../../src/providers/files/index.ts';
import { createIndex, type IndexOptions } from '../../src/search/index.ts';
import { type Engine, engineOf, structured, textOf } from '../tools/engine.ts';
import { temporaryFolder } from './folders.ts';
import { CLI } from './harness.ts';
import { until } from './waiting.ts';

const COUNT = 300;
const wordsOf = (at: number): string => Array.from({ length: 300 }, (_, word) => `w${at * 300 + word}`).join(' ');
const FILES = Object.fromEntries(
  Array.from({ length: COUNT }, (_, at) => [`docs/${at}.md`, `# Note ${at}\n\nclock${at} brass ${wordsOf(at)}\n`]),
);

/** The sizes and times of the files of the index. They are different after the index has written. */
const written = async (folder: string): Promise<string> => {
  const stats = await Promise.all(
    ['', '-wal'].map((suffix) => stat(join(folder, `index/index.sqlite${suffix}`)).catch(() => undefined)),
  );
  return JSON.stringify(stats.map((each) => [each?.size, each?.mtimeMs]));
};

const serving = async (folder: string, options: Partial<IndexOptions> = {}): Promise<Engine> =>
  engineOf(
    { m: await filesProvider({ path: join(folder, 'docs') }) },
    { index: createIndex({ folder: join(folder, 'index'), ...options }) },
  );

async function found(engine: Engine, pattern: string): Promise<readonly string[]> {
  const result = await engine.call('search', { pattern, mode: 'ranked' });
  if (result.isError) throw new Error(textOf(result));
  return structured<{ matches: { uri: string }[] }>(result).matches.map(({ uri }) => uri);
}

describe('the file of an index', () => {
  it('is completed after kills at any moment, without lost or duplicated entries', async () => {
    await using folder = await temporaryFolder(FILES);
    const config = join(folder.path, 'vitrine.yaml');
    await writeFile(config, JSON.stringify({ index: { folder: './index' }, mounts: { m: './docs' } }));
    for (let kill = 0; kill < 3; kill++) {
      const child = spawn(process.execPath, [CLI, 'serve', '--config', config, '--http', '0'], { stdio: 'ignore' });
      const ended = once(child, 'exit');
      const before = await written(folder.path);
      await until(async () => (await written(folder.path)) !== before, 'the index to be written');
      await pause(Math.random() * 150);
      child.kill('SIGKILL');
      await ended;
    }
    await using engine = await serving(folder.path, { everything: true });
    await engine.vitrine.ranked?.settled();
    // One passage for each file, and one for the folder.
    const passages = COUNT + 1;
    expect(engine.vitrine.ranked?.state()).toMatchObject({ state: 'ready', resources: COUNT, passages, leftOut: {} });
    for (const at of [0, 7, 150, COUNT - 1]) expect(await found(engine, `clock${at}`)).toEqual([`m+file:///${at}.md`]);
  });

  it('stays as it is while the disk is full, without blocking, and is completed when there is room', async () => {
    await using folder = await temporaryFolder(FILES);
    const config = join(folder.path, 'vitrine.yaml');
    await writeFile(config, JSON.stringify({ index: { folder: './index' }, mounts: { m: './docs' } }));
    // The server can write no file of more than 200 blocks of 512 bytes.
    const limited = ['-c', 'ulimit -f 200; exec "$0" "$@"', process.execPath, CLI, 'serve', '--config', config];
    const child = spawn('sh', [...limited, '--http', '0', '--log-level', 'warn'], {
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    let said = '';
    for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk: Buffer) => (said += chunk.toString()));
    try {
      await expect.poll(() => said, { timeout: 30_000 }).toContain('its file cannot be written or read');
      const url = /http:\/\/127\.0\.0\.1:\d+\/mcp/.exec(said)?.[0] ?? '';
      const page = await fetch(url.replace(/mcp$/, ''));
      expect(page.status).toBe(200);
    } finally {
      child.kill('SIGKILL');
      await once(child, 'exit');
    }
    await using engine = await serving(folder.path);
    await engine.vitrine.ranked?.settled();
    expect(engine.vitrine.ranked?.state()).toMatchObject({ state: 'ready', resources: COUNT, leftOut: {} });
    for (const at of [0, COUNT - 1]) expect(await found(engine, `clock${at}`)).toEqual([`m+file:///${at}.md`]);
    for (const [name, text] of Object.entries(FILES).slice(0, 20))
      expect(await readFile(join(folder.path, name), 'utf8')).toBe(text);
  });

  it('gives right answers or none while its file is being damaged, and is made again', async () => {
    await using folder = await temporaryFolder(FILES);
    await using engine = await serving(folder.path);
    await engine.vitrine.ranked?.settled();
    const file = await open(join(folder.path, 'index/index.sqlite'), 'r+');
    const { size } = await file.stat();
    for (let at = 4_096; at < size; at += 1_024) await file.write(randomBytes(700), 0, 700, at);
    await file.close();
    for (let at = 0; at < 40; at++) {
      const places = await found(engine, `clock${at}`).catch(() => undefined);
      if (places !== undefined && places.length > 0) expect(places).toEqual([`m+file:///${at}.md`]);
    }
    await writeFile(join(folder.path, 'docs/new.md'), 'A walnut case');
    const heals = { timeout: 30_000 };
    await expect.poll(() => found(engine, 'walnut').catch(() => []), heals).toEqual(['m+file:///new.md']);
    await expect.poll(() => found(engine, 'clock42').catch(() => []), heals).toEqual(['m+file:///42.md']);
    expect(await readFile(join(folder.path, 'docs/42.md'), 'utf8')).toBe(FILES['docs/42.md']);
  });

  it('is used as soon as its folder can be used', async () => {
    await using folder = await temporaryFolder({ 'docs/a.md': 'clock', index: 'a file where the folder should be' });
    await using engine = await serving(folder.path);
    await engine.vitrine.ranked?.settled();
    expect(await engine.refusal('search', { pattern: 'clock', mode: 'ranked' })).toContain('cannot be made or written');
    await rm(join(folder.path, 'index'));
    await expect.poll(() => found(engine, 'clock').catch(() => []), { timeout: 20_000 }).toEqual(['m+file:///a.md']);
  });

  it('holds as much as there is room for, and the rest is counted', async () => {
    await using folder = await temporaryFolder(FILES);
    await using engine = await serving(folder.path, { maxBytes: 300_000 });
    await engine.vitrine.ranked?.settled();
    const state = engine.vitrine.ranked?.state();
    expect(state).toMatchObject({ resources: COUNT, leftOut: { maxBytes: expect.any(Number) } });
    expect(state?.bytes).toBeLessThan(5_000_000);
    expect((await found(engine, 'brass')).length).toBeGreaterThan(0);
  });

  it('belongs to one server; another one says so, and searches lines', async () => {
    await using folder = await temporaryFolder({ 'docs/a.md': 'clock' });
    const first = await serving(folder.path);
    await first.vitrine.ranked?.settled();
    await using second = await serving(folder.path);
    await second.vitrine.ranked?.settled();
    expect(second.vitrine.ranked?.state()).toMatchObject({
      state: 'down',
      reason: expect.stringContaining('another'),
    });
    await expect(found(second, 'clock')).rejects.toThrow(/another server/);
    const lines = await second.call('search', { pattern: 'clock' });
    expect(structured(lines)).toMatchObject({ matches: [{ uri: 'm+file:///a.md', line: 1 }] });
    expect(await found(first, 'clock')).toEqual(['m+file:///a.md']);
    await first[Symbol.asyncDispose]();
    await expect.poll(() => found(second, 'clock').catch(() => []), { timeout: 20_000 }).toEqual(['m+file:///a.md']);
  });

  it('is put aside if it is damaged, and made again', async () => {
    await using folder = await temporaryFolder({ 'docs/a.md': 'clock', 'index/index.sqlite': 'Dear grandmother,' });
    await using engine = await serving(folder.path);
    await engine.vitrine.ranked?.settled();
    await expect.poll(() => engine.vitrine.ranked?.state().state).toBe('ready');
    expect(await found(engine, 'clock')).toEqual(['m+file:///a.md']);
    expect(await readdir(join(folder.path, 'index'))).toContain('index.damaged');
  });
});
