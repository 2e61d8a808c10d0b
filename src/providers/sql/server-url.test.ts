import { mkdtemp, rm, truncate, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { SILENT } from '../../core/context.ts';
import { parseServerUrl } from './server-url.ts';

describe('the file of `sslrootcert`', () => {
  let folder: string;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'vitrine-server-url-'));
  });
  afterAll(() => rm(folder, { recursive: true }));

  const parsed = (name: string): ReturnType<typeof parseServerUrl> =>
    parseServerUrl(`postgres://db.example/shop?sslrootcert=${encodeURIComponent(join(folder, name))}`, 5432, SILENT);

  it('has the certificates that are trusted', async () => {
    await writeFile(join(folder, 'ca.pem'), 'the certificates');
    expect((await parsed('ca.pem')).tls).toMatchObject({ ca: 'the certificates', rejectUnauthorized: true });
  });

  it('is refused without being read if it is larger than 1 MiB, and where it is not there', async () => {
    await writeFile(join(folder, 'large.pem'), '');
    await truncate(join(folder, 'large.pem'), 2 ** 36);
    await expect(parsed('large.pem')).rejects.toMatchObject({
      code: 'invalid',
      message: expect.stringContaining('more than 1048576 bytes'),
    });
    await expect(parsed('missing.pem')).rejects.toMatchObject({
      code: 'invalid',
      message: expect.stringContaining('cannot be read'),
    });
  });
});
