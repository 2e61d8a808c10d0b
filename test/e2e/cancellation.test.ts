/** Cancellation ends the work of one request of one peer, and no other work. */
import { truncate } from 'node:fs/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { bytesOf, readOne } from './answers.ts';
import { type Folder, temporaryFolder, writeConfig } from './folders.ts';
import { connectHttp, MATRIX } from './harness.ts';
import { KNOWS_READ_BYTES, readBytes } from './process-io.ts';
import { type ConnectedProgram, connectToProgram, startProgram } from './programs.ts';
import { until } from './waiting.ts';

const MEBIBYTE = 1024 ** 2;
/** The size of a file that takes a while to read and does not fit into a message. No test waits for all of it. */
const LONG_BYTES = 500 * MEBIBYTE;

describe.each(MATRIX)('cancellation over $transport, $era', ({ transport, era }) => {
  let folder: Folder;
  let server: ConnectedProgram;
  beforeAll(async () => {
    folder = await temporaryFolder({ 'data/long.bin': '', 'data/short.txt': 'short', 'data/many/': '' });
    await truncate(folder.at('data', 'long.bin'), LONG_BYTES);
    const config = await writeConfig(folder, { limits: { maxReadBytes: LONG_BYTES }, mounts: { data: './data' } });
    server = await connectToProgram(transport, era, ['--config', config]);
  });
  afterAll(async () => {
    await server.close();
    await folder[Symbol.asyncDispose]();
  });

  /** Starts the long read. Resolves when the server has begun to read, where the system tells that. */
  async function startLongRead(signal: AbortSignal): Promise<{ outcome: Promise<unknown> }> {
    const before = KNOWS_READ_BYTES ? readBytes(server.pid) : 0;
    const outcome = server
      .request('resources/read', { uri: 'data+file:///long.bin' }, { signal })
      .catch((error: unknown) => error);
    if (KNOWS_READ_BYTES) await until(() => readBytes(server.pid) > before + MEBIBYTE, 'the server to begin reading');
    return { outcome };
  }

  it('ends the request for its client [SEC-UTIL-2]', async () => {
    const patience = new AbortController();
    const { outcome } = await startLongRead(patience.signal);
    patience.abort('no longer wanted');
    expect(await outcome).toBeInstanceOf(Error);
    expect((await readOne(server, 'data+file:///short.txt')).text).toBe('short');
  });

  // Only Linux tells how many bytes a process has read.
  it.runIf(KNOWS_READ_BYTES)('ends the work [SEC-UTIL-2, RES-7]', async () => {
    const before = readBytes(server.pid);
    const patience = new AbortController();
    const { outcome } = await startLongRead(patience.signal);
    patience.abort('no longer wanted');
    await outcome;
    // The server is idle when several requests in a row make it read no more bytes than these requests need.
    let last = readBytes(server.pid);
    await until(async () => {
      for (let round = 0; round < 20; round++) await readOne(server, 'data+file:///short.txt');
      const now = readBytes(server.pid);
      const rested = now - last < MEBIBYTE / 4;
      last = now;
      return rested;
    }, 'the server to stop reading');
    expect(last - before).toBeLessThan(LONG_BYTES / 2);
  });

  it('leaves all other requests of the client alone [SEC-UTIL-2]', async () => {
    const patience = new AbortController();
    const { outcome } = await startLongRead(patience.signal);
    const others = Promise.all([
      readOne(server, 'data+file:///short.txt'),
      server.request('resources/list'),
      server.request('resources/metadata', { uri: 'data+file:///long.bin' }),
      readOne(server, 'data+file:///long.bin', { offset: 0, length: MEBIBYTE }),
    ]);
    patience.abort('no longer wanted');
    const [short, , , window] = await others;
    expect(short.text).toBe('short');
    expect(bytesOf(window).byteLength).toBe(MEBIBYTE);
    await outcome;
  });

  it('of an unknown or answered request is ignored [SEC-UTIL-2]', async () => {
    for (const requestId of [0, 1, 999_999, 'listen:7']) {
      await server.client.notification({ method: 'notifications/cancelled', params: { requestId, reason: 'none' } });
    }
    expect((await readOne(server, 'data+file:///short.txt')).text).toBe('short');
  });
});

describe.each(['legacy', 'modern'] as const)('cancellation by another client, %s', (era) => {
  it('has no effect, even with the same request id [SEC-UTIL-2]', async () => {
    const size = 24 * MEBIBYTE;
    await using folder = await temporaryFolder({ 'data/long.bin': '', 'data/short.txt': 'short' });
    await truncate(folder.at('data', 'long.bin'), size);
    const config = await writeConfig(folder, { limits: { maxReadBytes: size }, mounts: { data: './data' } });
    await using listening = await startProgram(['--config', config]);
    await using victim = await connectHttp(era, listening);
    await using attacker = await connectHttp(era, listening);
    const reading = readOne(victim, 'data+file:///long.bin');
    for (let requestId = 0; requestId < 20; requestId++) {
      await attacker.client.notification({ method: 'notifications/cancelled', params: { requestId } });
    }
    expect(bytesOf(await reading).byteLength).toBe(size);
    expect((await readOne(attacker, 'data+file:///short.txt')).text).toBe('short');
  });
});
