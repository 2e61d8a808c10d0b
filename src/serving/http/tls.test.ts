import { mkdtemp, rm, truncate, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { loadCertificates } from './tls.ts';

const LIMIT = 1024 * 1024;

describe('a file for TLS', () => {
  let folder: string;
  let file: string;

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'vitrine-'));
    file = join(folder, 'file.pem');
  });
  afterAll(() => rm(folder, { recursive: true }));

  const problem = (path = file): Promise<string> =>
    loadCertificates({ cert: path, key: path }).then(
      () => 'none',
      ({ message }: Error) => message,
    );

  it.each(['x', 'é', '日'])(
    'of letters like %s may have as many bytes as the limit, and not one more',
    async (letter) => {
      const size = Buffer.byteLength(letter);
      const text = letter.repeat(LIMIT / size) + 'x'.repeat(LIMIT % size);
      await writeFile(file, text);
      expect(await problem()).not.toContain('more than');
      await writeFile(file, `${text}x`);
      expect(await problem()).toBe(`The TLS certificate at ${file}: it has more than ${LIMIT} bytes`);
    },
  );

  it('that is larger than memory is refused as too large, without being read', async () => {
    await writeFile(file, '');
    await truncate(file, 2 ** 36);
    expect(await problem()).toContain(`more than ${LIMIT} bytes`);
  });

  it('that is missing, or a folder, is refused with the reason', async () => {
    const missing = join(folder, 'missing.pem');
    expect(await problem(missing)).toBe(`The TLS certificate at ${missing}: there is no such file`);
    expect(await problem(join(file, 'below'))).toContain('there is no such file');
    expect(await problem(folder)).toContain('it is a folder');
  });
});
