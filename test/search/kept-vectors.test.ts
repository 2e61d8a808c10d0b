/** Vectors outlive the process that requested them, over restarts and kills, with real servers. */
import { rm, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { type Folder, temporaryFolder, writeConfig } from '../e2e/folders.ts';
import { connectOnly } from '../e2e/harness.ts';
import { type ListeningProgram, startProgram } from '../e2e/programs.ts';
import { type EmbeddingServer, embeddingServer } from '../tools/embedding-server.ts';

const DIRECTIONS = [['clock', 'timepiece'], ['key'], ['bell', 'chime']];
const FILES = {
  'docs/a.md': '# Hall\n\nAn old timepiece.\n',
  'docs/b.md': '# Doors\n\nA key of brass.\n\n# Tower\n\nThe bell.\n',
  'docs/c.md': 'A stove.\n',
};

/** The number of texts that are sent in one request. Their vectors are written together. */
const TOGETHER = 32;

interface Running extends AsyncDisposable {
  readonly program: ListeningProgram;
  /** The names of the found resources. */
  find(pattern: string): Promise<readonly string[]>;
}

async function start(folder: Folder, server: EmbeddingServer, model = 'm'): Promise<Running> {
  const embeddings = { url: server.url, model };
  const index = { folder: './index', embeddings, rescanSeconds: 1 };
  const config = await writeConfig(folder, { index, mounts: { m: './docs' } });
  const program = await startProgram(['--config', config, '--log-level', 'info']);
  const client = await connectOnly('modern', program);
  return {
    program,
    async find(pattern) {
      const { structuredContent } = await client.request<{ structuredContent?: { matches: { uri: string }[] } }>(
        'tools/call',
        { name: 'search', arguments: { pattern, mode: 'ranked' } },
      );
      return structuredContent?.matches.map(({ uri }) => uri.slice('m+file:///'.length)) ?? [];
    },
    async [Symbol.asyncDispose]() {
      await client.close();
      await program.stop();
    },
  };
}

/** Resolves when the index is complete, with all vectors. */
async function made(running: Running): Promise<void> {
  await expect.poll(() => running.program.output(), { timeout: 60_000 }).toContain('the index is built');
}

/** The texts of documents that were sent to the server of embeddings, without questions. */
const documents = (texts: readonly string[]): readonly string[] => texts.filter((text) => text.includes('.md'));

describe('vectors of an index, in processes that end', () => {
  it('are not requested again, except for changed passages', async () => {
    await using folder = await temporaryFolder(FILES);
    await using server = await embeddingServer(DIRECTIONS);
    {
      await using first = await start(folder, server);
      await made(first);
      expect(await first.find('clock')).toEqual(['a.md']);
    }
    expect(documents(server.texts)).toHaveLength(4);
    let before = server.texts.length;
    {
      await using second = await start(folder, server);
      await made(second);
      expect(await second.find('clock')).toEqual(['a.md']);
    }
    expect(documents(server.texts.slice(before))).toEqual([]);
    await writeFile(join(folder.path, 'docs/b.md'), FILES['docs/b.md'].replace('The bell', 'A clock'));
    await utimes(join(folder.path, 'docs/b.md'), new Date(), new Date('2025-04-01T10:00:00Z'));
    await rm(join(folder.path, 'docs/a.md'));
    before = server.texts.length;
    await using third = await start(folder, server);
    await made(third);
    expect(await third.find('timepiece')).toEqual(['b.md']);
    expect(documents(server.texts.slice(before))).toEqual([expect.stringContaining('A clock.')]);
  });

  it('are there after a kill in the middle, and only the rest is requested', async () => {
    const count = 300;
    const names = Array.from({ length: count }, (_, at) => `docs/${at}.md`);
    await using folder = await temporaryFolder(Object.fromEntries(names.map((name) => [name, `The bell of ${name}.`])));
    await using server = await embeddingServer(DIRECTIONS);
    server.most = 3 * TOGETHER;
    {
      await using first = await start(folder, server);
      await expect.poll(() => server.texts.length, { timeout: 60_000 }).toBeGreaterThan(server.most);
      await first.program.stop('SIGKILL');
    }
    const answered = new Set(documents(server.answered));
    const sent = server.texts.length;
    server.most = Number.POSITIVE_INFINITY;
    await using second = await start(folder, server);
    await made(second);
    const rest = documents(server.texts.slice(sent));
    expect(rest.filter((text) => answered.has(text))).toEqual([]);
    expect(new Set([...answered, ...rest]).size).toBe(count);
    expect(rest).toHaveLength(count - answered.size);
    expect((await second.find('chime')).length).toBeGreaterThan(0);
  });

  it('are made again for another model, and if the server returns another dimension', async () => {
    await using folder = await temporaryFolder(FILES);
    await using server = await embeddingServer(DIRECTIONS);
    for (const model of ['m', 'n']) {
      const before = server.texts.length;
      await using running = await start(folder, server, model);
      await made(running);
      expect(documents(server.texts.slice(before))).toHaveLength(4);
      expect(await running.find('clock')).toEqual(['a.md']);
    }
    const before = server.texts.length;
    server.answer = 'other dimensions';
    await using running = await start(folder, server, 'n');
    await made(running);
    expect(documents(server.texts.slice(before))).toEqual([]);
    await expect.poll(() => running.find('clock'), { timeout: 30_000 }).toContain('a.md');
    expect(documents(server.texts.slice(before))).toHaveLength(4);
  });

  it('are requested after a restart if the server was away while the index was made', async () => {
    await using folder = await temporaryFolder(FILES);
    await using server = await embeddingServer(DIRECTIONS);
    server.answer = 'status';
    {
      await using first = await start(folder, server);
      await made(first);
      expect(await first.find('timepiece')).toEqual(['a.md']);
      expect(await first.find('clock')).toEqual([]);
    }
    server.answer = 'well';
    await using second = await start(folder, server);
    await made(second);
    expect(await second.find('clock')).toEqual(['a.md']);
  });

  it('outlive damage to the file of words, and are requested again if their own file is damaged', async () => {
    await using folder = await temporaryFolder(FILES);
    await using server = await embeddingServer(DIRECTIONS);
    {
      await using first = await start(folder, server);
      await made(first);
    }
    const damaged = [
      { file: 'index.sqlite', again: 0 },
      { file: 'vectors.sqlite', again: 4 },
    ];
    for (const { file, again } of damaged) {
      const before = server.texts.length;
      await writeFile(join(folder.path, 'index', file), 'Dear grandmother,');
      await using running = await start(folder, server);
      await made(running);
      expect(await running.find('clock')).toEqual(['a.md']);
      expect(documents(server.texts.slice(before))).toHaveLength(again);
    }
  });
});
