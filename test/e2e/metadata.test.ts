/** `resources/metadata`: the entry that a list would have, at a cost that does not grow with the content. */
import { chmod, truncate } from 'node:fs/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { drain, failure, HINTS, hintsIn, metadata, readOne, refusedAs } from './answers.ts';
import { type Folder, temporaryFolder } from './folders.ts';
import { MATRIX, MUSEUM } from './harness.ts';
import { KNOWS_READ_BYTES, readBytes } from './process-io.ts';
import { type ConnectedProgram, connectToProgram } from './programs.ts';

const GIBIBYTE = 1024 ** 3;
const MEBIBYTE = 1024 ** 2;
const isRoot = process.getuid?.() === 0;

describe.each(MATRIX)('metadata over $transport, $era', ({ transport, era }) => {
  let museum: ConnectedProgram;
  beforeAll(async () => {
    museum = await connectToProgram(transport, era, [MUSEUM, '--icons', 'on']);
  });
  afterAll(() => museum.close());

  it('agrees with the list, for folders, files and the root [2093-2, 2093-3]', async () => {
    const listed = await drain(museum, 'resources/list');
    expect(listed.length).toBeGreaterThan(40);
    for (const resource of listed) expect(await metadata(museum, resource.uri)).toEqual(resource);
  });

  it('answers {resource}, with private cache hints [2093-2]', async () => {
    const answer = await museum.request('resources/metadata', { uri: 'file:///README.md' });
    expect(answer).toMatchObject({
      resource: { uri: 'file:///README.md', name: 'README.md', mimeType: 'text/markdown', size: expect.any(Number) },
    });
    expect(hintsIn({ ...(answer as object) })).toEqual(HINTS[era]);
    expect(answer).not.toHaveProperty('contents');
  });

  it('accepts a folder with a trailing slash, and names it without [2093-2]', async () => {
    expect(await metadata(museum, 'file:///guide/')).toMatchObject({
      uri: 'file:///guide',
      mimeType: 'inode/directory',
    });
  });

  it.each([
    ['file:///nothing.md', 'not-found'],
    ['file:///README.md/', 'not-found'],
    ['file:///guide/%2e%2e/README.md', 'invalid'],
    ['other:thing', 'not-found'],
  ])('refuses %s as %s [2093-2, RES-6]', async (uri, reason) => {
    const refused = await failure(metadata(museum, uri));
    expect(refused).toMatchObject(refusedAs(era, uri, reason));
  });

  it('refuses a request without a URI [2093-2]', async () => {
    expect((await failure(museum.request('resources/metadata'))).code).toBe(-32602);
  });
});

describe.each(MATRIX)('the cost of metadata over $transport, $era', ({ transport, era }) => {
  let folder: Folder;
  let server: ConnectedProgram;
  beforeAll(async () => {
    folder = await temporaryFolder({ 'huge.bin': '', 'tiny.bin': '\u0000', 'closed.txt': 'closed' });
    await truncate(folder.at('huge.bin'), GIBIBYTE);
    await chmod(folder.at('closed.txt'), 0);
    server = await connectToProgram(transport, era, [folder.path]);
  });
  afterAll(async () => {
    await server.close();
    await folder[Symbol.asyncDispose]();
  });

  it('gives the size of a gibibyte [2093-2]', async () => {
    expect(await metadata(server, 'file:///huge.bin')).toMatchObject({ size: GIBIBYTE });
  });

  // Only Linux tells how many bytes a process has read.
  it.runIf(KNOWS_READ_BYTES)('reads no content, neither for metadata nor for lists [2093-2]', async () => {
    const ask = async (): Promise<void> => {
      for (let round = 0; round < 20; round++) await metadata(server, 'file:///huge.bin');
      await drain(server, 'resources/list', { uri: 'file:///' });
    };
    await ask();
    const before = readBytes(server.pid);
    await ask();
    expect(readBytes(server.pid) - before).toBeLessThan(MEBIBYTE / 4);
    // Checks the measurement: a read does show.
    await readOne(server, 'file:///huge.bin', { offset: 0, length: MEBIBYTE });
    expect(readBytes(server.pid) - before).toBeGreaterThan(MEBIBYTE);
  });

  // Root may read everything, and on systems other than Linux a file has to be opened for a safe description.
  it.skipIf(isRoot || process.platform !== 'linux')('describes a file without read permission [2093-2]', async () => {
    expect(await metadata(server, 'file:///closed.txt')).toMatchObject({ name: 'closed.txt', size: 6 });
    expect(await failure(readOne(server, 'file:///closed.txt'))).toMatchObject({ data: { reason: 'denied' } });
  });
});
