/** Vitrine speaks TLS itself, with certificates that can be renewed while it runs (RES-8). */
import { execFile, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, rename, symlink } from 'node:fs/promises';
import { Agent, request } from 'node:https';
import { connect as connectPlain } from 'node:net';
import { type ConnectionOptions, connect, type TLSSocket } from 'node:tls';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { loadConfig } from '../../src/config/load.ts';
import type { Log } from '../../src/core/context.ts';
import { memoryProvider } from '../../src/providers/memory/index.ts';
import { type HttpServing, serveHttp } from '../../src/serving/http/index.ts';
import type { TlsOptions } from '../../src/serving/http/tls.ts';
import { createVitrine, type Vitrine } from '../../src/vitrine.ts';
import { type Folder, temporaryFolder, writeConfig } from '../e2e/folders.ts';
import { CLI, ERAS, ROOT, startHttp } from '../e2e/harness.ts';
import { PATIENCE_MS, until, within } from '../e2e/waiting.ts';
import { authority, type Pair, signed } from './certificates.ts';

const CLIENT = fileURLToPath(new URL('tls-client.mjs', import.meta.url));

let folder: Folder;
let ca: Pair;
let first: Pair;
let second: Pair;

beforeAll(async () => {
  ca = await authority();
  [first, second] = await Promise.all([signed(ca), signed(ca)]);
});

beforeEach(async () => {
  folder = await temporaryFolder({ 'files/a.txt': 'hello', 'ca.pem': ca.cert });
  await write(first);
});

afterEach(() => folder[Symbol.asyncDispose]());

/** Puts a certificate and its key in place as a renewal does: writes them beside it, then renames them. */
async function write({ cert, key }: Pair): Promise<void> {
  for (const [name, text] of [
    ['cert.pem', cert],
    ['key.pem', key],
  ] as const) {
    await folder.write(`new-${name}`, text);
    await rename(folder.at(`new-${name}`), folder.at(name));
  }
}

const paths = (): TlsOptions => ({ cert: folder.at('cert.pem'), key: folder.at('key.pem') });

interface Noted extends Log {
  readonly lines: readonly string[];
}

function noting(): Noted {
  const lines: string[] = [];
  const note =
    (level: string) =>
    (message: string, facts?: object): void =>
      void lines.push(`${level} ${message} ${JSON.stringify(facts ?? {})}`);
  return { lines, debug: () => {}, info: note('info'), warn: note('warn'), error: note('error') };
}

interface Serving extends AsyncDisposable {
  readonly port: number;
  readonly http: HttpServing;
  readonly log: Noted;
}

async function serve(tls: TlsOptions = paths()): Promise<Serving> {
  const log = noting();
  const vitrine: Vitrine = createVitrine({
    mounts: [{ name: 'memory', provider: memoryProvider({ name: 'm', resources: {} }), prefix: 'none' }],
  });
  const http = await serveHttp(vitrine, { port: 0, tls, log }).catch(async (error: unknown) => {
    await vitrine.close();
    throw error;
  });
  return {
    port: http.port,
    http,
    log,
    async [Symbol.asyncDispose]() {
      await http.close();
      await vitrine.close();
    },
  };
}

/** A connection that trusts only the authority of the test. */
async function dial(port: number, more: ConnectionOptions = {}): Promise<TLSSocket> {
  const socket = connect({ port, host: '127.0.0.1', ca: ca.cert, ...more });
  await within(once(socket, 'secureConnect'), 'a TLS handshake');
  return socket;
}

/** The certificate that new connections get. */
async function shown(port: number): Promise<string> {
  const socket = await dial(port);
  const { raw } = socket.getPeerCertificate();
  socket.destroy();
  return raw.toString('base64');
}

const der = ({ cert }: Pair): string => cert.split('-----')[2]?.replace(/\s/g, '') ?? '';

/** `GET /healthz`, and the socket of the connection. */
async function healthz(port: number, more: object = {}): Promise<{ status: number; reused: boolean }> {
  const asking = request({ port, host: '127.0.0.1', path: '/healthz', ca: ca.cert, agent: false, ...more });
  asking.end();
  const [response] = await within(once(asking, 'response'), 'an answer over TLS');
  response.resume();
  await within(once(response, 'end'), 'the end of an answer over TLS');
  return { status: response.statusCode, reused: asking.reusedSocket };
}

describe('a server with a certificate [RES-8]', () => {
  const run = promisify(execFile);

  /** The SDK's client in a process that trusts these authorities. */
  async function clientOf(url: string, era: string, trusts?: string): Promise<Record<string, unknown>> {
    const { NODE_EXTRA_CA_CERTS: _trusted, ...env } = process.env;
    const { stdout } = await run(process.execPath, [CLIENT, url, era, 'file:///a.txt'], {
      cwd: ROOT,
      env: { ...env, ...(trusts !== undefined && { NODE_EXTRA_CA_CERTS: trusts }) },
    });
    return JSON.parse(stdout) as Record<string, unknown>;
  }

  it('serves clients of both eras over HTTPS, with paths relative to the configuration', async () => {
    const tls = { cert: './cert.pem', key: './key.pem' };
    const mounts = { files: { path: './files', prefix: 'none' } };
    await using server = await startHttp([await writeConfig(folder, { server: { tls }, mounts })]);
    expect(server.url).toMatch(/^https:\/\/127\.0\.0\.1:\d+\/mcp$/);
    const answers = await Promise.all(ERAS.map((era) => clientOf(server.url, era, folder.at('ca.pem'))));
    expect(answers).toEqual([{ text: 'hello' }, { text: 'hello' }]);
  });

  it('serves with flags, too, and a client that does not trust its authority does not connect', async () => {
    const { cert, key } = paths();
    await using server = await startHttp([folder.at('files'), '--tls-cert', cert, '--tls-key', key]);
    expect(server.output()).toContain(` add claude-code --url ${server.url}\n`);
    expect(await clientOf(server.url, 'modern', folder.at('ca.pem'))).toEqual({ text: 'hello' });
    expect(await clientOf(server.url, 'legacy')).toEqual({ error: 'UNABLE_TO_VERIFY_LEAF_SIGNATURE' });
  });

  it('closes connections of plain HTTP, and goes on', async () => {
    await using serving = await serve();
    const socket = connectPlain(serving.port, '127.0.0.1');
    socket.on('error', () => {});
    const ended = once(socket, 'close');
    socket.write('GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n');
    socket.resume();
    await within(ended, 'the end of a connection without TLS');
    expect(await healthz(serving.port)).toMatchObject({ status: 200 });
  });

  it('accepts nothing below the configured version', async () => {
    await using serving = await serve({ ...paths(), minVersion: 'TLSv1.3' });
    await expect(dial(serving.port, { maxVersion: 'TLSv1.2' })).rejects.toThrow(/protocol version|alert/);
    const socket = await dial(serving.port);
    expect(socket.getProtocol()).toBe('TLSv1.3');
    socket.destroy();
  });

  it('requires certificates of a configured authority', async () => {
    const [other, client] = await Promise.all([authority('Another'), signed(ca, { name: 'client' })]);
    const stranger = await signed(other, { name: 'client' });
    await using serving = await serve({ ...paths(), ca: folder.at('ca.pem') });
    expect(await healthz(serving.port, client)).toMatchObject({ status: 200 });
    await expect(healthz(serving.port, {})).rejects.toThrow();
    await expect(healthz(serving.port, stranger)).rejects.toThrow();
  });

  it('decrypts a key with its passphrase, which the configuration takes from the environment', async () => {
    const locked = await signed(ca, { passphrase: 'open sesame' });
    await write(locked);
    const tls = { ...paths(), passphrase: `$${'{TLS_WORD}'}` };
    const file = await writeConfig(folder, { server: { tls }, mounts: { files: './files' } });
    const config = await loadConfig(file, { env: { TLS_WORD: 'open sesame' } });
    await using serving = await serve(config.server?.tls);
    expect(await shown(serving.port)).toBe(der(locked));
  });

  it('ends with everything open: idle connections, requests, and unfinished handshakes', async () => {
    const serving = await serve();
    const agent = new Agent({ keepAlive: true });
    await healthz(serving.port, { agent });
    const half = connectPlain(serving.port, '127.0.0.1');
    half.on('error', () => {});
    const [idle] = await Promise.all([dial(serving.port), once(half, 'connect')]);
    idle.on('error', () => {});
    const ended = Promise.all([once(half.resume(), 'close'), once(idle.resume(), 'close')]);
    await within(Promise.resolve(serving[Symbol.asyncDispose]()), 'the end of the server');
    await within(ended, 'the end of its connections');
    agent.destroy();
    await expect(dial(serving.port)).rejects.toThrow(/ECONNREFUSED/);
  });
});

describe('a renewed certificate [RES-8]', () => {
  const becomes = (serving: Serving, pair: Pair): Promise<unknown> =>
    until(async () => (await shown(serving.port)) === der(pair), 'the new certificate');
  const told = (serving: Serving, text: string): Promise<unknown> =>
    until(() => serving.log.lines.some((line) => line.includes(text)), `"${text}" in the log`);

  it('is used for new connections, and open ones go on', async () => {
    await using serving = await serve();
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    await healthz(serving.port, { agent });
    expect(await shown(serving.port)).toBe(der(first));
    await write(second);
    await becomes(serving, second);
    expect(await healthz(serving.port, { agent })).toEqual({ status: 200, reused: true });
    agent.destroy();
    expect(serving.log.lines.at(-1)).toMatch(/^info a new TLS certificate is in use/);
  });

  it('may be a link to another folder', async () => {
    for (const [name, pair] of [
      ['one', first],
      ['two', second],
    ] as const) {
      await mkdir(folder.at('store', name), { recursive: true });
      await folder.write(`store/${name}/cert.pem`, pair.cert);
      await folder.write(`store/${name}/key.pem`, pair.key);
    }
    await mkdir(folder.at('live'));
    await symlink(folder.at('store/one'), folder.at('live/now'));
    await symlink('now/cert.pem', folder.at('live/cert.pem'));
    await symlink('now/key.pem', folder.at('live/key.pem'));
    await using serving = await serve({ cert: folder.at('live/cert.pem'), key: folder.at('live/key.pem') });
    expect(await shown(serving.port)).toBe(der(first));
    await symlink(folder.at('store/two'), folder.at('live/next'));
    await rename(folder.at('live/next'), folder.at('live/now'));
    await becomes(serving, second);
  });

  it.each([
    ['is of another key', () => folder.write('cert.pem', second.cert), 'does not belong to the certificate'],
    ['is no certificate', () => folder.write('cert.pem', 'nonsense'), 'holds no certificate in PEM'],
    ['is gone', () => rename(folder.at('cert.pem'), folder.at('gone.pem')), 'there is no such file'],
  ])('that is %s is not used: the old one stays, and the log says why', async (_what, spoil, reason) => {
    await using serving = await serve();
    await spoil();
    await told(serving, reason);
    expect(serving.log.lines.at(-1)).toMatch(/^error the previous TLS certificate stays in use/);
    expect(await shown(serving.port)).toBe(der(first));
    await write(second);
    await becomes(serving, second);
  });

  it('that has expired is reported, and used', async () => {
    const day = 24 * 60 * 60 * 1000;
    const old = await signed(ca, { notBefore: new Date(Date.now() - 9 * day), notAfter: new Date(Date.now() - day) });
    await write(old);
    await using serving = await serve();
    expect(serving.log.lines).toEqual([expect.stringMatching(/^warn the TLS certificate has expired/)]);
  });
});

describe('an invalid certificate [RES-8]', () => {
  let locked: Pair;
  beforeAll(async () => {
    locked = await signed(ca, { passphrase: 'right' });
  });

  it.each<[string, () => Promise<Partial<TlsOptions>>, RegExp]>([
    [
      'that is not there',
      async () => ({ cert: folder.at('none.pem') }),
      /certificate at .*none\.pem: there is no such file/,
    ],
    [
      'whose key is not there',
      async () => ({ key: folder.at('none.pem') }),
      /key at .*none\.pem: there is no such file/,
    ],
    ['that is a folder', async () => ({ cert: folder.at('files') }), /certificate at .*files: it is a folder/],
    [
      'that is no certificate',
      async () => ({ cert: folder.at('files/a.txt') }),
      /a\.txt: it holds no certificate in PEM/,
    ],
    ['whose key is no key', async () => ({ key: folder.at('cert.pem') }), /cert\.pem: it holds no private key in PEM/],
    [
      'whose key is that of another certificate',
      async () => folder.write('other.pem', second.key).then(() => ({ key: folder.at('other.pem') })),
      /The key at .*other\.pem does not belong to the certificate at .*cert\.pem/,
    ],
    ['whose key is locked', () => write(locked).then(() => ({})), /key at .*key\.pem: it needs a passphrase/],
    [
      'with the wrong passphrase',
      () => write(locked).then(() => ({ passphrase: 'wrong' })),
      /key at .*key\.pem: the passphrase is wrong/,
    ],
    [
      'with an authority that is no certificate',
      async () => ({ ca: folder.at('files/a.txt') }),
      /client authority at .*a\.txt/,
    ],
  ])('%s is refused, with advice', async (_what, wrongly, message) => {
    await expect(serve({ ...paths(), ...(await wrongly()) })).rejects.toMatchObject({
      code: 'invalid',
      message: expect.stringMatching(message),
    });
  });

  it.each([
    [['--tls-cert', 'none.pem', '--tls-key', 'none.pem'], /certificate at none\.pem: there is no such file/],
    [['--tls-cert', 'cert.pem'], /--tls-cert <file> --tls-key <file>/],
  ])('ends the command with one line: %j', (flags, message) => {
    const { status, stderr } = spawnSync(process.execPath, [CLI, 'serve', '.', '--http', '0', ...flags], {
      cwd: folder.path,
      encoding: 'utf8',
      timeout: PATIENCE_MS,
    });
    expect([status, stderr.trim().split('\n').length]).toEqual([2, 1]);
    expect(stderr).toMatch(message);
  });
});
