/** Tests that opening stays below the root, copes with deleted files, and never wakes a pipe or device. */
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, mkdir, open, readdir, readlink, rename, rm, symlink, unlink, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';
import { temporaryFolder } from '../../../test/e2e/folders.ts';
import { CLI } from '../../../test/e2e/harness.ts';
import { within } from '../../../test/e2e/waiting.ts';
import { startHands } from '../../../test/security/hands.ts';
import { refusal, refused, serve } from '../../../test/security/served.ts';
import { chunksOf } from '../../core/body.ts';
import { createContext } from '../../core/context.ts';
import { ResourceError } from '../../core/errors.ts';
import { openBeneath } from './open.ts';

const run = promisify(execFile);
const linux = process.platform === 'linux';

/** The open descriptors of this process for files in a folder, deleted ones too. */
async function descriptorsIn(path: string): Promise<string[]> {
  const all = await readdir('/proc/self/fd');
  const targets = await Promise.all(all.map((fd) => readlink(`/proc/self/fd/${fd}`).catch(() => '')));
  return targets.filter((target) => target.startsWith(path));
}

describe('a path below the root', () => {
  it('is opened at its place, and a link at its target', async () => {
    await using folder = await temporaryFolder({ 'x/y/a.txt': 'a' });
    await symlink('x/y', folder.at('link'));
    await symlink('../link/a.txt', folder.at('x/second'));
    for (const [asked, lies] of [
      [[], []],
      [
        ['x', 'y', 'a.txt'],
        ['x', 'y', 'a.txt'],
      ],
      [['link'], ['x', 'y']],
      [
        ['link', 'a.txt'],
        ['x', 'y', 'a.txt'],
      ],
      [
        ['x', 'second'],
        ['x', 'y', 'a.txt'],
      ],
    ]) {
      for (const use of ['content', 'metadata'] as const) {
        const opened = await openBeneath(folder.path, asked ?? [], use, '');
        await opened.handle.close();
        await opened.handle.close();
        expect(opened.segments).toEqual(lies);
      }
    }
  });

  it.runIf(linux)('may have a name that ends like the mark of a deleted file', async () => {
    await using folder = await temporaryFolder({ 'a.txt (deleted)': 'a', 'b (deleted)/c.txt': 'c' });
    await using served = await serve({ path: folder.path });
    expect(await served.names('file:///')).toEqual(['b (deleted)', 'a.txt (deleted)']);
    expect(await served.text('file:///a.txt%20(deleted)')).toBe('a');
    expect(await served.text('file:///b%20(deleted)/c.txt')).toBe('c');
  });

  it.runIf(linux)('leaves no descriptor behind, whether it succeeds or fails', async () => {
    await using folder = await temporaryFolder({ 'root/a.txt': 'a', 'root/x/': '', 'outside.txt': 'o' });
    await symlink('../outside.txt', folder.at('root/out'));
    await symlink('loop', folder.at('root/loop'));
    await run('mkfifo', [folder.at('root/pipe')]);
    await using served = await serve({ path: folder.at('root') });
    for (let round = 0; round < 20; round++) {
      for (const name of ['', 'a.txt', 'x', 'out', 'loop', 'pipe', 'gone', 'a.txt/', 'a.txt/b', 'x/gone/gone']) {
        const uri = `file:///${name}`;
        await Promise.allSettled([
          served.bytes(uri),
          served.bytes(uri, { range: { offset: 100 } }),
          served.bytes(uri, { maxBytes: 0 }),
          served.metadata(uri),
          served.list(uri),
          served.complete(name),
        ]);
      }
    }
    expect(await descriptorsIn(folder.path)).toEqual([]);
  });

  it.runIf(linux)('leaves no descriptor behind when a stream is never begun, or left early', async () => {
    await using folder = await temporaryFolder({ 'big.bin': Buffer.alloc(1_000_000) });
    await using served = await serve({ path: folder.path });
    const want = { maxBytes: 2_000_000, maxChildren: 1 };
    const [unread] = await served.provider.read('file:///big.bin', want, createContext());
    await unread?.close?.();
    await unread?.close?.();
    const [left] = await served.provider.read('file:///big.bin', want, createContext());
    if (left !== undefined) for await (const _chunk of chunksOf(left.content)) break;
    const gone = new AbortController();
    const [given] = await served.provider.read('file:///big.bin', want, createContext({ signal: gone.signal }));
    gone.abort(new Error('given up'));
    await expect(
      (async () => {
        if (given !== undefined) for await (const _chunk of chunksOf(given.content));
      })(),
    ).rejects.toThrow('given up');
    expect(await descriptorsIn(folder.path)).toEqual([]);
  });
});

describe('a file that is deleted', () => {
  it('during a read is read to its end', async () => {
    await using folder = await temporaryFolder({ 'big.txt': 'x'.repeat(500_000) });
    await using served = await serve({ path: folder.path });
    const bodies = await served.provider.read('file:///big.txt', { maxBytes: 1e6, maxChildren: 1 }, createContext());
    await unlink(folder.at('big.txt'));
    let size = 0;
    for (const body of bodies) for await (const chunk of chunksOf(body.content)) size += chunk.byteLength;
    expect(size).toBe(500_000);
    expect(await refused(served.text('file:///big.txt'))).toBe('not-found');
  });

  it('and replaced during a read is read as it was', async () => {
    await using folder = await temporaryFolder({ 'big.txt': 'old'.repeat(100_000), 'new.txt': 'new' });
    await using served = await serve({ path: folder.path });
    const bodies = await served.provider.read('file:///big.txt', { maxBytes: 1e6, maxChildren: 1 }, createContext());
    await rename(folder.at('new.txt'), folder.at('big.txt'));
    const chunks: Uint8Array[] = [];
    for (const body of bodies) for await (const chunk of chunksOf(body.content)) chunks.push(chunk);
    expect(Buffer.concat(chunks).toString()).toBe('old'.repeat(100_000));
    expect(await served.text('file:///big.txt')).toBe('new');
  });

  it('and replaced again and again is one or the other, and never missing', async () => {
    await using folder = await temporaryFolder({ 'a.txt': 'first' });
    await using hands = await startHands();
    await using served = await serve({ path: folder.path });
    const at = folder.at('a.txt');
    const dance = await hands.repeat(
      ['writeFile', `${at}.1`, 'first'],
      ['rename', `${at}.1`, at],
      ['writeFile', `${at}.2`, 'second'],
      ['rename', `${at}.2`, at],
    );
    const seen = new Set<string>();
    for (let round = 0; round < 2_000; round++) {
      const outcome = await served.text('file:///a.txt').catch((error: unknown) => error);
      // If the file is replaced too fast to be opened, the read is unavailable, and not not-found.
      seen.add(outcome instanceof ResourceError ? outcome.code : String(outcome));
    }
    expect(await dance.stop()).toBeGreaterThan(10);
    seen.delete('unavailable');
    expect(seen).toEqual(new Set(['first', 'second']));
  });

  it.runIf(linux)('and replaced again and again outside of the root is never read through a link', async () => {
    await using folder = await temporaryFolder({ 'root/x.txt': 'x', 'outside.txt': 'SECRET' });
    await symlink('../outside.txt', folder.at('root/link'));
    await using hands = await startHands();
    await using served = await serve({ path: folder.at('root') });
    const at = folder.at('outside.txt');
    const dance = await hands.repeat(['writeFile', `${at}.1`, 'SECRET'], ['rename', `${at}.1`, at]);
    const codes = new Set<string>();
    for (let round = 0; round < 3_000; round++) {
      codes.add(await refused(served.text('file:///link')));
      codes.add(await refused(served.metadata('file:///link')));
    }
    expect(await dance.stop()).toBeGreaterThan(10);
    codes.delete('unavailable');
    expect([...codes]).toEqual(['not-found']);
  });

  it.runIf(linux)('and replaced again and again stays hidden behind a link if its name is hidden', async () => {
    await using folder = await temporaryFolder({ 'server.pem': 'SECRET', 'x.txt': '' });
    await symlink('server.pem', folder.at('link.txt'));
    await using hands = await startHands();
    await using served = await serve({ path: folder.path });
    const at = folder.at('server.pem');
    const dance = await hands.repeat(['writeFile', folder.at('tmp'), 'SECRET'], ['rename', folder.at('tmp'), at]);
    for (let round = 0; round < 3_000; round++) {
      expect(await refused(served.text('file:///link.txt'))).toMatch(/^(?:not-found|unavailable)$/);
    }
    expect(await dance.stop()).toBeGreaterThan(10);
  });
});

describe.runIf(linux)('a pipe or a device', () => {
  it('is not listed, read, described or completed, and nobody waits for it', async () => {
    await using folder = await temporaryFolder({ 'a.txt': 'a', 'sub/': '' });
    await run('mkfifo', [folder.at('pipe'), folder.at('sub/pipe')]);
    await symlink('pipe', folder.at('link'));
    await symlink('/dev/zero', folder.at('zero'));
    const socket = createServer();
    socket.listen(folder.at('socket'));
    await once(socket, 'listening');
    await using served = await serve({ path: folder.path });
    try {
      expect(await served.names('file:///')).toEqual(['sub', 'a.txt']);
      expect(await served.names('file:///sub')).toEqual([]);
      expect(await within(served.text('file:///'), 'the children')).toBe('a');
      expect(await served.complete('')).toEqual(['sub/', 'a.txt']);
      for (const name of ['pipe', 'sub/pipe', 'link', 'zero', 'socket']) {
        const uri = `file:///${name}`;
        expect(await within(refused(served.text(uri)), `an answer for ${name}`), name).toBe('not-found');
        expect(await within(refused(served.list(uri)), `an answer for ${name}`), name).toBe('not-found');
        expect(await within(refused(served.metadata(uri)), `an answer for ${name}`), name).toBe('not-found');
      }
    } finally {
      socket.close();
      await once(socket, 'close');
    }
  });

  it('is not opened: a program at the other end of a pipe goes on waiting', async () => {
    await using folder = await temporaryFolder({ 'a.txt': 'a' });
    await run('mkfifo', [folder.at('pipe')]);
    const writer = spawn('sh', ['-c', `echo woken > "${folder.at('pipe')}"; echo gone on`], { stdio: 'pipe' });
    const exited = once(writer, 'exit');
    await using served = await serve({ path: folder.path });
    for (let round = 0; round < 50; round++) {
      expect(await refused(served.text('file:///pipe'))).toBe('not-found');
      expect(await served.names('file:///')).toEqual(['a.txt']);
    }
    expect(writer.exitCode).toBeNull();
    // A program that reads from the pipe still gets the text.
    const reader = await open(folder.at('pipe'), 'r');
    expect(await reader.readFile('utf8')).toBe('woken\n');
    await reader.close();
    expect(await within(exited, 'the end of the writer')).toEqual([0, null]);
  });

  it('in place of a folder on the way counts as missing', async () => {
    await using folder = await temporaryFolder({ 'a.txt': 'a' });
    await run('mkfifo', [folder.at('pipe')]);
    await using served = await serve({ path: folder.path });
    expect(await refused(served.text('file:///pipe/a.txt'))).toBe('not-found');
    expect(await refused(served.text('file:///a.txt/a.txt'))).toBe('not-found');
    expect(await served.complete('pipe/')).toEqual([]);
  });
});

describe('the root', () => {
  it('that is missing is unavailable, and works when it is back', async () => {
    await using folder = await temporaryFolder({ 'root/a.txt': 'a' });
    await using served = await serve({ path: folder.at('root') });
    const operations: readonly (() => Promise<unknown>)[] = [
      () => served.list('file:///'),
      () => served.text('file:///'),
      () => served.metadata('file:///'),
      () => served.text('file:///a.txt'),
      () => served.metadata('file:///a.txt'),
      () => served.provider.list(undefined, { limit: 10 }, createContext()),
    ];
    for (let round = 0; round < 3; round++) {
      await rm(folder.at('root'), { recursive: true });
      for (const [index, operation] of operations.entries()) {
        const error = await refusal(operation());
        expect([error.code, error.retryable], `operation ${index}`).toEqual(['unavailable', true]);
        expect(error.message).not.toContain(folder.path);
      }
      await mkdir(folder.at('root'));
      await writeFile(folder.at('root/a.txt'), `a${round}`);
      expect(await served.text('file:///a.txt')).toBe(`a${round}`);
      expect(await served.names('file:///')).toEqual(['a.txt']);
    }
  });

  it('that became a link is refused: the link is not followed', async () => {
    await using folder = await temporaryFolder({ 'root/a.txt': 'a', 'other/a.txt': 'SECRET' });
    await using served = await serve({ path: folder.at('root') });
    await rename(folder.at('root'), folder.at('was'));
    await symlink('other', folder.at('root'));
    expect(await refused(served.text('file:///a.txt'))).toMatch(/not-found|unavailable/);
    expect(await refused(served.list('file:///'))).toMatch(/not-found|unavailable/);
    expect(await refused(served.metadata('file:///'))).toMatch(/not-found|unavailable/);
  });

  it('that became a file is unavailable', async () => {
    await using folder = await temporaryFolder({ 'root/a.txt': 'a' });
    await using served = await serve({ path: folder.at('root') });
    await rm(folder.at('root'), { recursive: true });
    await writeFile(folder.at('root'), 'a file');
    expect(await refused(served.text('file:///a.txt'))).toBe('unavailable');
  });
});

describe('links that lead in a circle', () => {
  it('are not shown, nor anything through them', async () => {
    await using folder = await temporaryFolder({ 'a/b/c.txt': 'c', 'a/d.txt': 'd', 'other/e.txt': 'e' });
    await symlink('.', folder.at('self'));
    await symlink('..', folder.at('a/b/up'));
    await symlink('../..', folder.at('a/b/top'));
    await symlink('../other', folder.at('a/across'));
    await symlink('../a', folder.at('other/back'));
    await using served = await serve({ path: folder.path });
    expect(await served.names('file:///')).toEqual(['a', 'other']);
    expect(await served.names('file:///a')).toEqual(['b', 'across', 'd.txt']);
    expect(await served.names('file:///a/b')).toEqual(['c.txt']);
    expect(await served.names('file:///a/across')).toEqual(['e.txt']);
    expect(await served.names('file:///other/back')).toEqual(['b', 'd.txt']);
    for (const path of ['self', 'self/a', 'self/a/d.txt', 'a/b/up', 'a/b/up/d.txt', 'a/b/top/other', 'a/across/back']) {
      expect(await refused(served.metadata(`file:///${path}`)), path).toBe('not-found');
      expect(await refused(served.text(`file:///${path}`)), path).toBe('not-found');
    }
  });
});

describe.runIf(linux)('a file that the server may not read', () => {
  it('is denied if it is shown, and missing if a folder on the way may not be entered', async () => {
    await using folder = await temporaryFolder({
      'root/a.txt': 'a',
      'root/closed.txt': 'SECRET',
      'root/closed/x.txt': 'SECRET',
      'root/blind/x.txt': 'SECRET',
      'root/.hidden': 'SECRET',
      'outside/closed/x.txt': 'SECRET',
    });
    await symlink('../outside', folder.at('root/out'));
    for (const name of ['root/closed.txt', 'root/.hidden']) await chmod(folder.at(name), 0);
    await chmod(folder.at('root/closed'), 0);
    await chmod(folder.at('outside/closed'), 0);
    await chmod(folder.at('root/blind'), 0o444);
    await chmod(folder.path, 0o755);
    await chmod(folder.at('root'), 0o755);
    // Nothing is denied to the superuser, so another process reads as nobody.
    const script = fileURLToPath(new URL('../../../test/security/as-nobody.mjs', import.meta.url));
    const built = join(dirname(CLI), '../providers/files.js');
    const { stdout } = await run(process.execPath, [script, built, folder.at('root')]);
    for (const name of ['root/closed', 'outside/closed', 'root/blind']) await chmod(folder.at(name), 0o755);
    expect(JSON.parse(stdout)).toEqual({
      'read a.txt': 'a',
      'read closed.txt': 'denied',
      'metadata closed.txt': 'closed.txt',
      'list ': 'blind closed a.txt closed.txt',
      'list closed': 'denied',
      'read closed/x.txt': 'not-found',
      'metadata closed/x.txt': 'not-found',
      'read closed/nothing': 'not-found',
      'list blind': '',
      'read .hidden': 'not-found',
      'read out/closed/x.txt': 'not-found',
      'read out/closed/nothing': 'not-found',
      'watch closed/x.txt': 'denied',
    });
  });
});
