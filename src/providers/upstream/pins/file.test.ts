import { mkdtemp, rm, truncate, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { accepting, createAccepted, readAccepted, textOf, writeAccepted } from './file.ts';

const LIMIT = 32 * 1024 * 1024;

describe('a file of pins', () => {
  let folder: string;
  let file: string;

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'vitrine-'));
    file = join(folder, 'up.pins.json');
  });
  afterAll(() => rm(folder, { recursive: true }));

  const described = (description: string) =>
    accepting({ tools: [{ name: 'a', description, inputSchema: {} }], prompts: [] });

  /** Makes the text of a file of so many bytes, most of them in one description. */
  async function textWith(bytes: number, letter: string): Promise<string> {
    const written = async (description: string): Promise<string> => textOf('up', await described(description));
    const room = bytes - Buffer.byteLength(await written(''));
    const size = Buffer.byteLength(letter);
    return written(letter.repeat(room / size) + 'x'.repeat(room % size));
  }

  it.each(['x', 'é', '日'])(
    'of letters like %s may have as many bytes as the limit, and not one more',
    async (letter) => {
      const text = await textWith(LIMIT, letter);
      await writeFile(file, text);
      expect([...((await readAccepted(file))?.tools.keys() ?? [])]).toEqual(['a']);
      await writeFile(file, `${text}\n`);
      await expect(readAccepted(file)).rejects.toMatchObject({
        code: 'unavailable',
        message: `The file of pins, up.pins.json, has more than ${LIMIT} bytes`,
      });
    },
  );

  it('is not written if it would be too large to be read', async () => {
    const path = join(folder, 'large.pins.json');
    const large = await described('x'.repeat(LIMIT));
    const refused = { code: 'unavailable', message: expect.stringContaining(`would have more than ${LIMIT} bytes`) };
    await expect(createAccepted(path, 'up', large)).rejects.toMatchObject(refused);
    await expect(writeAccepted(path, 'up', large)).rejects.toMatchObject(refused);
    expect(await readAccepted(path)).toBeUndefined();
  });

  it('that is larger than memory is refused as too large, without being read', async () => {
    await writeFile(file, '');
    await truncate(file, 2 ** 36);
    await expect(readAccepted(file)).rejects.toThrow(`has more than ${LIMIT} bytes`);
  });

  it('that is not there, or a folder, is told from one that is too large', async () => {
    expect(await readAccepted(join(folder, 'missing'))).toBeUndefined();
    await expect(readAccepted(folder)).rejects.toThrow('cannot be read');
  });
});
