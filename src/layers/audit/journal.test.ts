import { describe, expect, it, vi } from 'vitest';
import { type Log, SILENT } from '../../core/context.ts';
import { BEGINNING, readLine } from './chain.ts';
import { createJournal } from './journal.ts';
import type { AuditOutput } from './output.ts';

/** An output in memory. `write` behaves like a disk: it may take fewer bytes, or fail. */
function memoryOutput(write: (bytes: Uint8Array) => Promise<number>, maxBytes = Number.POSITIVE_INFINITY) {
  const files: string[] = [''];
  const output: AuditOutput = {
    last: BEGINNING,
    cut: 0,
    maxBytes,
    maxFiles: 1_000,
    beginnings: () => [],
    renew: async () => undefined,
    size: () => files.at(-1)?.length ?? 0,
    async write(bytes) {
      const taken = await write(bytes);
      files.push(`${files.pop()}${Buffer.from(bytes.subarray(0, taken)).toString()}`);
      return taken;
    },
    rotate: async () => void files.push(''),
    close: async () => {},
  };
  return { output, files };
}

const all = async (bytes: Uint8Array): Promise<number> => bytes.byteLength;

/** Parses the lines, and checks that each one continues the chain of hashes. */
function linesOf(files: readonly string[]): readonly Readonly<Record<string, unknown>>[] {
  const lines = files.join('').split('\n').slice(0, -1);
  let before = BEGINNING;
  for (const line of lines) {
    const read = readLine(line);
    expect(read).toMatchObject({ intact: true, prev: before.hash, link: { seq: before.seq + 1 } });
    before = read?.link ?? BEGINNING;
  }
  return lines.map((line) => JSON.parse(line) as Record<string, unknown>);
}

const told = (): Log & { readonly said: string[] } => {
  const said: string[] = [];
  return { ...SILENT, said, error: (message) => void said.push(message), warn: (message) => void said.push(message) };
};

describe('a journal', () => {
  it('writes its lines in order, between a start line and an end line', async () => {
    const { output, files } = memoryOutput(all);
    const journal = createJournal<object>(output, SILENT);
    for (let index = 0; index < 1_000; index++) journal.add({ index });
    await journal.close();
    const lines = linesOf(files);
    expect(lines.flatMap(({ index }) => index ?? [])).toEqual(Array.from({ length: 1_000 }, (_, index) => index));
    expect([lines.at(0)?.event, lines.at(-1)?.event]).toEqual(['start', 'end']);
  });

  it('writes nothing after it was closed', async () => {
    const { output, files } = memoryOutput(all);
    const journal = createJournal<object>(output, SILENT);
    await Promise.all([journal.close(), journal.close()]);
    const written = files.join('');
    journal.add({ index: 1 });
    await new Promise((resolve) => setTimeout(resolve, 50));
    expect(files.join('')).toBe(written);
    expect(linesOf(files)).toHaveLength(2);
  });

  it('continues after a partial write', async () => {
    const { output, files } = memoryOutput(async (bytes) => Math.min(7, bytes.byteLength));
    const journal = createJournal<object>(output, SILENT);
    journal.add({ index: 1 });
    await journal.close();
    expect(linesOf(files)).toHaveLength(3);
  });

  it('waits while the disk is full, says so once, and continues without a gap', async () => {
    let refusals = 0;
    const { output, files } = memoryOutput(async (bytes) => {
      if (refusals++ < 2) throw Object.assign(new Error('no space'), { code: 'ENOSPC' });
      return bytes.byteLength;
    });
    const log = told();
    const journal = createJournal<object>(output, log);
    journal.add({ index: 1 });
    await vi.waitUntil(() => files.join('').includes('"index":1'), { timeout: 60_000 });
    await journal.close();
    expect(linesOf(files)).toHaveLength(3);
    expect(log.said).toEqual(['audit: lines cannot be written, and wait', 'audit: lines are written again']);
  });

  it('drops lines if the queue is full, and writes how many', async () => {
    let open = (): void => {};
    const opened = new Promise<void>((resolve) => {
      open = resolve;
    });
    const { output, files } = memoryOutput(async (bytes) => {
      await opened;
      return bytes.byteLength;
    });
    const log = told();
    const journal = createJournal<object>(output, log, { maxQueued: 1_000 });
    for (let index = 0; index < 512; index++) journal.add({ index });
    open();
    await vi.waitUntil(() => files.join('').includes('"lost"'), { timeout: 60_000 });
    journal.add({ index: 'after' });
    await journal.close();
    const lines = linesOf(files);
    const written = lines.filter(({ index }) => typeof index === 'number').length;
    const lost = lines.flatMap(({ event, count }) => (event === 'lost' ? Number(count) : []));
    expect(written).toBeGreaterThan(0);
    expect(lost.reduce((sum, count) => sum + count, 0)).toBe(512 - written);
    expect(lines.at(-2)?.index).toBe('after');
    expect(log.said).toHaveLength(1);
  });

  it('gives up if nothing can be written before the end, and says so', async () => {
    const { output } = memoryOutput(() => Promise.reject(new Error('broken')));
    const log = told();
    const journal = createJournal<object>(output, log);
    journal.add({ index: 1 });
    await journal.close();
    expect(log.said).toContain('audit: the last lines could not be written');
  });

  it('starts a new file when the old one is full, and continues the chain in it', async () => {
    const { output, files } = memoryOutput(all, 1_000);
    const journal = createJournal<object>(output, SILENT);
    for (let index = 0; index < 100; index++) journal.add({ index });
    await journal.close();
    expect(linesOf(files).filter(({ index }) => index !== undefined)).toHaveLength(100);
    expect(files.length).toBeGreaterThan(5);
    expect(files.filter((file) => file.length > 1_000)).toEqual([]);
    for (const file of files.slice(1)) expect(file).toMatch(/^[^\n]*"event":"rotated"/);
  });
});
