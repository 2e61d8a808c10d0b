/** What may happen to the file of an index: it heals, and until then nothing wrong is answered. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdir, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { filesProvider } from '../../src/providers/files/index.ts';
import { createIndex, type IndexOptions } from '../../src/search/index.ts';
import { type Engine, engineOf, structured, textOf } from '../tools/engine.ts';
import { temporaryFolder } from './folders.ts';
import { CLI } from './harness.ts';

const COUNT = 300;
const wordsOf = (at: number): string => Array.from({ length: 300 }, (_, word) => `w${at * 300 + word}`).join(' ');
const FILES = Object.fromEntries(
  Array.from({ length: COUNT }, (_, at) => [`docs/${at}.md`, `# Note ${at}\n\nclock${at} brass ${wordsOf(at)}\n`]),
);

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
  it('is finished after a kill in the middle of its making, with nothing lost or doubled', async () => {
    await using folder = await temporaryFolder(FILES);
    const config = join(folder.path, 'vitrine.yaml');
    await writeFile(config, JSON.stringify({ index: { folder: './index' }, mounts: { m: './docs' } }));
    const child = spawn(process.execPath, [CLI, 'serve', '--config', config, '--http', '0'], { stdio: 'ignore' });
    const ended = once(child, 'exit');
    const written = async (): Promise<number> =>
      (await stat(join(folder.path, 'index/index.sqlite-wal')).catch(() => ({ size: 0 }))).size;
    await expect.poll(written, { timeout: 20_000, interval: 5 }).toBeGreaterThan(100_000);
    child.kill('SIGKILL');
    await ended;
    await using engine = await serving(folder.path, { everything: true });
    await engine.vitrine.ranked?.settled();
    const state = engine.vitrine.ranked?.state();
    expect(state).toMatchObject({ state: 'ready', resources: COUNT, passages: expect.any(Number) });
    for (const at of [0, 7, 150, COUNT - 1]) expect(await found(engine, `clock${at}`)).toEqual([`m+file:///${at}.md`]);
  });

  it('has what there is room for; the rest is counted', async () => {
    await using folder = await temporaryFolder(FILES);
    await using engine = await serving(folder.path, { maxBytes: 300_000 });
    await engine.vitrine.ranked?.settled();
    const state = engine.vitrine.ranked?.state();
    expect(state).toMatchObject({ resources: COUNT, leftOut: { maxBytes: expect.any(Number) } });
    expect(state?.bytes).toBeLessThan(5_000_000);
    expect((await found(engine, 'brass')).length).toBeGreaterThan(0);
  });

  it('is of one server; another one says so, and searches lines', async () => {
    await using folder = await temporaryFolder({ 'docs/a.md': 'clock' });
    await using first = await serving(folder.path);
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
  });

  it('is made anew where it is damaged, and put aside', async () => {
    await using folder = await temporaryFolder({ 'docs/a.md': 'clock', 'index/index.sqlite': 'Dear grandmother,' });
    await using engine = await serving(folder.path);
    await engine.vitrine.ranked?.settled();
    await expect.poll(() => engine.vitrine.ranked?.state().state).toBe('ready');
    expect(await found(engine, 'clock')).toEqual(['m+file:///a.md']);
    expect(await readdir(join(folder.path, 'index'))).toContain('index.damaged');
  });
});
