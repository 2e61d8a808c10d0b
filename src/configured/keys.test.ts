import { mkdtemp, rm, truncate, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { createSecrets } from '../config/secrets.ts';
import { keysOf } from './keys.ts';

const KEY = Buffer.alloc(32, 1).toString('base64');

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'vitrine-keys-'));
});
afterAll(() => rm(folder, { recursive: true }));

/** Reads the keys of a file that has this text, followed by zeros up to a length. */
async function read(name: string, text: string, bytes = text.length) {
  await writeFile(join(folder, name), text);
  await truncate(join(folder, name), bytes);
  return keysOf({ keys: { file: name } }, folder, createSecrets());
}

it('reads a file of keys up to its longest length', async () => {
  expect(await read('short', `${KEY}\n`)).toBeDefined();
  expect(await read('longest', KEY.padEnd(8_192, '\n'))).toBeDefined();
});

it.each([
  ['one byte too long', 8_193],
  ['longer than memory may hold', 3 * 1024 ** 3],
])('refuses a file that is %s, and reads no more of it', async (_what, bytes) => {
  await expect(read('long', KEY, bytes)).rejects.toThrow(
    'keys.file: long cannot be read as a file of keys: it is too long',
  );
});

it('refuses a folder, and a file that does not exist', async () => {
  await expect(keysOf({ keys: { file: '.' } }, folder, createSecrets())).rejects.toThrow(/a file of keys: EISDIR$/);
  await expect(keysOf({ keys: { file: 'gone' } }, folder, createSecrets())).rejects.toThrow(/there is no such file$/);
});

it.runIf(process.platform === 'linux')('refuses a device that does not end', async () => {
  await expect(keysOf({ keys: { file: '/dev/zero' } }, folder, createSecrets())).rejects.toThrow(/it is too long$/);
});
