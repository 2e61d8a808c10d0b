/** `verify` finds every change of an audit file, and says where it is (RES-9). */
import { readFile, rm, writeFile } from 'node:fs/promises';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { SILENT } from '../../src/core/context.ts';
import { fileOutput } from '../../src/layers/audit/file-output.ts';
import { createJournal } from '../../src/layers/audit/journal.ts';
import { verifyAudit } from '../../src/layers/audit/verify.ts';
import { type Folder, temporaryFolder } from '../e2e/folders.ts';

const LINES = 40;

describe('verify', () => {
  let folder: Folder;
  let lines: readonly string[];
  let file: string;

  beforeAll(async () => {
    folder = await temporaryFolder();
    file = folder.at('audit.jsonl');
    await write(file, LINES - 2);
    lines = (await readFile(file, 'utf8')).split(/(?<=\n)/);
    expect(lines).toHaveLength(LINES);
  });

  afterAll(() => folder?.[Symbol.asyncDispose]());

  async function write(to: string, count: number, maxBytes = 1_000_000): Promise<void> {
    const journal = createJournal(fileOutput({ file: to, maxBytes, maxFiles: 1_000 }), SILENT);
    for (let index = 0; index < count; index++) journal.add({ uri: `memory:///${index}`, outcome: 'ok' });
    await journal.close();
  }

  /** The lines with findings, if the file has this content. */
  async function found(content: string | Uint8Array): Promise<readonly number[]> {
    await writeFile(file, content);
    return (await verifyAudit(file)).findings.map(({ line }) => line);
  }

  const index = fc.nat({ max: LINES - 1 });

  it('finds nothing in an unchanged file', async () => {
    expect(await found(lines.join(''))).toEqual([]);
  });

  it('finds each changed byte, on its line', async () => {
    const bytes = Buffer.from(lines.join(''));
    await fc.assert(
      fc.asyncProperty(fc.nat({ max: bytes.length - 1 }), fc.nat({ max: 255 }), async (at, value) => {
        fc.pre(bytes[at] !== value);
        const changed = Buffer.from(bytes);
        changed[at] = value;
        const line = bytes.subarray(0, at).toString('latin1').split('\n').length;
        expect((await found(changed))[0]).toBe(line);
      }),
      { numRuns: 500 },
    );
  });

  it('finds missing lines, in their place; at the end only if it knows a later hash', async () => {
    await fc.assert(
      fc.asyncProperty(index, fc.integer({ min: 1, max: 5 }), async (from, count) => {
        fc.pre(from + count < LINES);
        expect((await found(lines.toSpliced(from, count).join('')))[0]).toBe(from + 1);
      }),
    );
    await found(lines.slice(0, -3).join(''));
    const head = (JSON.parse(lines.at(-1) ?? '') as { hash: string }).hash;
    expect((await verifyAudit(file)).findings).toEqual([]);
    expect((await verifyAudit(file, { head })).findings).toMatchObject([{ line: LINES - 2 }]);
  });

  it('finds reordered and repeated lines', async () => {
    await fc.assert(
      fc.asyncProperty(index, index, async (one, other) => {
        fc.pre(one < other);
        const swapped = lines.with(one, lines[other] ?? '').with(other, lines[one] ?? '');
        expect((await found(swapped.join('')))[0]).toBe(one + 1);
        const twice = lines.toSpliced(other, 0, lines[one] ?? '');
        expect((await found(twice.join('')))[0]).toBe(other + 1);
      }),
    );
  });

  it('finds a truncated line, and an inserted one', async () => {
    await fc.assert(
      fc.asyncProperty(index, fc.integer({ min: 1, max: 60 }), fc.string(), async (at, count, text) => {
        const line = lines[at] ?? '';
        expect((await found(lines.with(at, line.slice(0, -count)).join('')))[0]).toBe(at + 1);
        expect((await found(lines.toSpliced(at, 0, `${text}\n`).join('')))[0]).toBe(at + 1);
      }),
    );
  });

  it('finds a line that was replaced by one with a right hash of its own', async () => {
    const other = folder.at('other.jsonl');
    const journal = createJournal(fileOutput({ file: other, maxBytes: 1_000_000, maxFiles: 2 }), SILENT);
    for (let each = 0; each < LINES - 2; each++) journal.add({ uri: `memory:///forged/${each}`, outcome: 'ok' });
    await journal.close();
    const forged = (await readFile(other, 'utf8')).split(/(?<=\n)/);
    await fc.assert(
      fc.asyncProperty(index, async (at) => {
        expect(await found(lines.with(at, forged[at] ?? '').join(''))).not.toEqual([]);
      }),
    );
  });

  it('goes through rotated files, and finds a missing one', async () => {
    const rotated = folder.at('rotated.jsonl');
    await write(rotated, 100, 5_000);
    const whole = await verifyAudit(rotated);
    expect(whole.findings).toEqual([]);
    expect(whole.files.length).toBeGreaterThan(4);
    // The server removes the oldest file in time.
    await rm(whole.files[0] ?? '');
    expect((await verifyAudit(rotated)).findings).toEqual([]);
    await rm(whole.files[2] ?? '');
    expect((await verifyAudit(rotated)).findings).toMatchObject([{ file: whole.files[3], line: 1 }]);
  });
});
