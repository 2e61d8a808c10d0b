/** `vitrine convert` prints documents as text, whatever their names are. */
import { copyFile, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { run } from './run.ts';

const MUSEUM = fileURLToPath(new URL('../../../examples/museum', import.meta.url));
const PDF = join(MUSEUM, 'guide/leaflet.pdf');
const SHEET = join(MUSEUM, 'office/visitors.xlsx');

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'vitrine-convert-'));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

describe('convert', () => {
  it('prints a document as Markdown, and nothing else', async () => {
    const { status, stdout, stderr } = await run(['convert', PDF]);
    expect(stdout).toContain('# Wound by Hand\n');
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
    expect((await run(['convert', SHEET])).stdout).toContain('| Month | Adults |');
    expect((await run(['convert', SHEET, '--to', 'application/json'])).stdout).toContain('"Month"');
  });

  it.each(['.hidden.pdf', 'a %41 #b?.pdf', 'é(1)[x].pdf'])(
    'prints a document whatever its name is: %s',
    async (name) => {
      await copyFile(PDF, join(folder, name));
      expect((await run(['convert', join(folder, name)])).stdout).toContain('# Wound by Hand\n');
    },
  );

  it('prints text unchanged, also that of a configuration', async () => {
    await writeFile(join(folder, 'notes.txt'), 'one\ntwo\n');
    expect((await run(['convert', join(folder, 'notes.txt')])).stdout).toBe('one\ntwo\n');
    await writeFile(join(folder, 'vitrine.yaml'), 'mounts: {a: .}\n');
    const { stdout } = await run(['convert', join(folder, 'vitrine.yaml'), '--to', 'application/yaml']);
    expect(stdout).toBe('mounts: {a: .}\n');
  });

  it.each([
    [['convert', PDF, '--to', 'image/png'], 'there is application/pdf'],
    [['convert', MUSEUM], 'is no file; vitrine get'],
    [['convert', join(MUSEUM, 'nothing.pdf')], 'There is no file'],
    [['convert', PDF, '--max-bytes', '10'], '10 bytes'],
  ])('%j says why not', async (args, words) => {
    const { status, stdout, stderr } = await run(args);
    expect(stderr).toContain(words);
    expect(stdout).toBe('');
    expect(status).toBeGreaterThan(0);
  });
});
