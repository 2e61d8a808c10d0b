/**
 * A caller without a certificate of the right authority gets no answer at all. A caller with one is still identified by the token only
 * (RES-8).
 */
import { once } from 'node:events';
import { rename } from 'node:fs/promises';
import { Agent, type RequestOptions, request } from 'node:https';
import { type ConnectionOptions, connect, type TLSSocket } from 'node:tls';
import { generate, type SelfsignedOptions } from 'selfsigned';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { defineTool } from '../../src/core/tool.ts';
import { type HttpServing, serveHttp } from '../../src/serving/http/index.ts';
import { createVitrine, type Vitrine } from '../../src/vitrine.ts';
import { type Folder, temporaryFolder } from '../e2e/folders.ts';
import { ENVELOPE, JSON_HEADERS } from '../e2e/raw.ts';
import { until, within } from '../e2e/waiting.ts';
import { linesOf } from './audit-lines.ts';
import { bearer, EVERYTHING, hashOf, type Issuer, RESOURCE, startIssuer } from './authorization-servers.ts';
import { authority, type Pair, signed } from './certificates.ts';

const DAY = 24 * 60 * 60 * 1_000;
const TOKENS = ['ada', 'bob'].map((name) => ({ name, hash: hashOf(`${name}-token-0123456789abcdef`) }));
const tokenOf = (name: string): string => `${name}-token-0123456789abcdef`;

let folder: Folder;
let issuer: Issuer;
let ca: Pair;
let clients: Pair;
let good: Pair;
let vitrine: Vitrine;
let serving: HttpServing;
const logged: string[] = [];

beforeAll(async () => {
  [ca, clients, issuer] = await Promise.all([authority(), authority('Clients'), startIssuer()]);
  const [server, client] = await Promise.all([signed(ca), signed(clients, { name: 'ada' })]);
  good = client;
  folder = await temporaryFolder({ 'cert.pem': server.cert, 'key.pem': server.key, 'clients.pem': clients.cert });
  vitrine = createVitrine({
    mounts: [],
    access: EVERYTHING,
    tools: [
      defineTool({
        name: 'whoami',
        inputSchema: { type: 'object' },
        run: (_input, { principal }) => ({ content: [{ type: 'text', text: principal.id }] }),
      }),
    ],
    audit: { file: folder.at('audit.jsonl') },
  });
  const note = (message: string, facts?: object): void => void logged.push(`${message} ${JSON.stringify(facts ?? {})}`);
  serving = await serveHttp(vitrine, {
    port: 0,
    tls: { cert: folder.at('cert.pem'), key: folder.at('key.pem'), ca: folder.at('clients.pem') },
    auth: { resource: RESOURCE, tokens: TOKENS, issuers: [{ issuer: issuer.origin }] },
    log: { debug: () => {}, info: note, warn: note, error: note },
  });
});

afterAll(async () => {
  await serving.close();
  await vitrine.close();
  await issuer[Symbol.asyncDispose]();
  await folder[Symbol.asyncDispose]();
});

interface Answer {
  readonly status: number;
  readonly text: string;
  readonly headers: Readonly<Record<string, unknown>>;
}

/** Asks for the principal. Rejects if there is no answer over TLS. */
async function whoami(token: string | undefined, tls: RequestOptions = good, headers: object = {}): Promise<Answer> {
  const asking = request({
    port: serving.port,
    host: '127.0.0.1',
    path: '/mcp',
    method: 'POST',
    ca: ca.cert,
    agent: false,
    ...tls,
    headers: {
      ...JSON_HEADERS,
      ...bearer(token),
      'mcp-protocol-version': '2026-07-28',
      'mcp-method': 'tools/call',
      'mcp-name': 'whoami',
      ...headers,
    },
  });
  asking.end(
    JSON.stringify({
      jsonrpc: '2.0',
      id: 1,
      method: 'tools/call',
      params: { name: 'whoami', arguments: {}, _meta: ENVELOPE },
    }),
  );
  const [response] = await within(once(asking, 'response'), 'an answer over TLS');
  let text = '';
  for await (const chunk of response) text += chunk;
  return { status: response.statusCode, text, headers: response.headers };
}

/** A certificate with these extensions, signed by an authority or by itself. */
async function certificate(
  by: Pair | undefined,
  extensions: SelfsignedOptions['extensions'],
  name = 'ada',
): Promise<Pair> {
  const made = await generate([{ name: 'commonName', value: name }], {
    keyType: 'ec',
    curve: 'P-256',
    algorithm: 'sha256',
    ...(by !== undefined && { ca: by }),
    ...(extensions !== undefined && { extensions }),
  });
  return { cert: made.cert, key: made.private };
}

const LEAF = [
  { name: 'basicConstraints', cA: false },
  { name: 'keyUsage', digitalSignature: true },
] as const;
const forUse = (use: object): SelfsignedOptions['extensions'] => [...LEAF, { name: 'extKeyUsage', ...use }] as never;

const CERTIFICATES: readonly (readonly [string, () => Promise<ConnectionOptions>])[] = [
  ['no certificate', async () => ({})],
  [
    'one that has expired',
    () => signed(clients, { notBefore: new Date(Date.now() - 2 * DAY), notAfter: new Date(Date.now() - DAY) }),
  ],
  [
    'one that is not good yet',
    () => signed(clients, { notBefore: new Date(Date.now() + DAY), notAfter: new Date(Date.now() + 2 * DAY) }),
  ],
  ['one of the authority that signs servers', () => signed(ca, { name: 'ada' })],
  ['one of another authority with the same name', async () => signed(await authority('Clients'), { name: 'ada' })],
  ['one that signed itself', () => certificate(undefined, forUse({ clientAuth: true }))],
  [
    'one that signed itself in the name of the authority',
    () => certificate(undefined, forUse({ clientAuth: true }), 'Clients'),
  ],
  ['one for servers only', () => certificate(clients, forUse({ serverAuth: true }))],
  ['one for the signing of programs', () => certificate(clients, forUse({ codeSigning: true }))],
  [
    'one that a client signed with its own',
    async () => {
      const below = await signed(good, { name: 'bob' });
      return { ...below, cert: `${below.cert}\n${good.cert}` };
    },
  ],
  [
    'one of another authority, together with the certificate of the right one',
    async () => {
      const other = await authority('Clients');
      const below = await signed(other, { name: 'ada' });
      return { ...below, cert: `${below.cert}\n${other.cert}\n${clients.cert}` };
    },
  ],
  ['one that does not belong to its key', async () => ({ cert: good.cert, key: (await signed(clients)).key })],
];

describe('a server that requires client certificates', () => {
  it('answers a client with a certificate, as the principal of its token', async () => {
    expect(await whoami(tokenOf('ada'))).toMatchObject({ status: 200, text: expect.stringContaining('token:ada') });
  });

  it.each(CERTIFICATES)('answers nothing to %s, whatever the token', async (_name, make) => {
    const tls = await make();
    await expect(whoami(tokenOf('ada'), tls as RequestOptions)).rejects.toThrow();
    await expect(whoami(tokenOf('ada'), { ...tls, maxVersion: 'TLSv1.2' } as RequestOptions)).rejects.toThrow();
    expect((await whoami(tokenOf('ada'))).status).toBe(200);
  });

  it('answers nothing below TLS 1.2', async () => {
    await expect(
      whoami(tokenOf('ada'), { ...good, minVersion: 'TLSv1', maxVersion: 'TLSv1.1', ciphers: 'ALL@SECLEVEL=0' }),
    ).rejects.toThrow();
  });

  it('does not take a certificate for authorization: a token is still needed', async () => {
    const { status, headers } = await whoami(undefined);
    expect([status, headers['www-authenticate']]).toEqual([401, expect.stringContaining('resource_metadata=')]);
  });

  it.each([
    ['x-forwarded-client-cert', 'By=spiffe://a;Hash=00;Subject="CN=bob"'],
    ['x-client-cert', 'bob'],
    ['x-ssl-client-cert', 'bob'],
    ['x-ssl-client-verify', 'SUCCESS'],
    ['ssl-client-subject-dn', 'CN=bob'],
    ['client-cert', ':Ym9i:'],
    ['client-cert-chain', ':Ym9i:'],
    ['x-forwarded-user', 'token:bob'],
    ['x-remote-user', 'token:bob'],
    ['remote-user', 'token:bob'],
    ['x-forwarded-for', '10.0.0.1'],
    ['x-real-ip', '10.0.0.1'],
    ['forwarded', 'for=10.0.0.1;proto=http;host=evil.example'],
    ['x-forwarded-proto', 'http'],
    ['x-forwarded-host', 'evil.example'],
  ])('ignores headers that claim an identity: %s', async (name, value) => {
    expect((await whoami(undefined, good, { [name]: value })).status).toBe(401);
    const { status, text, headers } = await whoami(tokenOf('ada'), good, { [name]: value });
    expect([status, text]).toEqual([200, expect.stringContaining('token:ada')]);
    expect(JSON.stringify(headers)).not.toContain('evil.example');
    // The audit sums up refusals by address, so a header must not change the address.
    expect((await whoami('a-token-that-is-not-good', good, { [name]: value })).status).toBe(401);
    await until(
      async () => (await linesOf(folder.at('audit.jsonl'))).some(({ method }) => method === 'authenticate'),
      'a line',
    );
    for (const { method, peer } of await linesOf(folder.at('audit.jsonl')))
      if (method === 'authenticate') expect(peer).toBe('127.0.0.1');
  });

  it.each([['evil.example'], ['localhost.evil.example'], ['127.0.0.1.evil.example']])(
    'answers by the Host, not by the name in the handshake: %s',
    async (servername) => {
      const tls = { ...good, servername, checkServerIdentity: () => undefined };
      expect((await whoami(tokenOf('ada'), tls)).status).toBe(200);
      expect((await whoami(tokenOf('ada'), { ...good, servername: 'localhost' }, { host: servername })).status).toBe(
        403,
      );
    },
  );

  describe('with bound tokens', () => {
    it.each<readonly [string, unknown]>([
      ['to a certificate (RFC 8705)', { 'x5t#S256': 'bwcK0esc3ACC3DB2Y5_lESsXE8o9ltc05O89jdN-dg2' }],
      ['to a certificate and to a key', { 'x5t#S256': 'bwcK0esc3ACC3DB2Y5_lESsXE8o9ltc05O89jdN-dg2', jkt: 'x' }],
      ['to a certificate by an older hash', { x5t: 'x' }],
      ['to a key that is written out', { jwk: { kty: 'EC' } }],
      ['to nothing', {}],
      ['to null', null],
      ['to a text', 'x5t#S256'],
    ])('%s, accepts none: a binding that cannot be checked does not count as checked', async (_name, cnf) => {
      const { status, text } = await whoami(await issuer.forge({ cnf }));
      expect([status, text]).toEqual([401, expect.stringMatching(/bound to a key/)]);
    });
  });

  describe('on connections that are used again', () => {
    it('answers each request as the principal of its own token', async () => {
      const agent = new Agent({ keepAlive: true, maxSockets: 1 });
      try {
        for (const name of ['ada', 'bob', 'ada', 'nobody', 'bob']) {
          const { status, text } = await whoami(name === 'nobody' ? undefined : tokenOf(name), { ...good, agent });
          expect([status, text]).toEqual(
            name === 'nobody' ? [401, expect.any(String)] : [200, expect.stringContaining(`token:${name}`)],
          );
        }
      } finally {
        agent.destroy();
      }
    });

    /** A handshake, and the data that is needed to resume it. */
    async function handshake(
      more: ConnectionOptions,
    ): Promise<{ readonly socket: TLSSocket; readonly session: Buffer | undefined }> {
      const socket = connect({ port: serving.port, host: '127.0.0.1', ca: ca.cert, ...more });
      socket.on('error', () => {});
      let session: Buffer | undefined;
      socket.on('session', (each) => {
        session = each;
      });
      await within(once(socket, 'secureConnect'), 'a handshake');
      // Over TLS 1.3, tickets come after the handshake.
      socket.write('GET /healthz HTTP/1.1\r\nhost: localhost\r\n\r\n');
      await within(once(socket, 'data'), 'an answer');
      return { socket, session };
    }

    it.each(['TLSv1.2', 'TLSv1.3'] as const)(
      'resumes %s for a client with a ticket, whose token counts',
      async (version) => {
        const { socket, session } = await handshake({ ...good, minVersion: version, maxVersion: version });
        socket.destroy();
        expect(session).toBeInstanceOf(Buffer);
        const resumed = { minVersion: version, maxVersion: version, session } as RequestOptions;
        const outcome = await whoami(tokenOf('bob'), { ...good, ...resumed });
        expect(outcome.text).toContain('token:bob');
        expect((await whoami(undefined, { ...good, ...resumed })).status).toBe(401);
      },
    );

    it('ends a connection that renegotiates again and again', async () => {
      const { socket } = await handshake({ ...good, maxVersion: 'TLSv1.2' });
      let ended = false;
      socket.once('close', () => {
        ended = true;
      });
      let renegotiations = 0;
      while (!ended && renegotiations < 100) {
        const done = new Promise<boolean>((resolve) => {
          socket.once('close', () => resolve(false));
          if (socket.renegotiate({}, (error) => resolve(error === null)) === false) resolve(false);
        });
        if (!(await within(done, 'a renegotiation'))) break;
        renegotiations++;
      }
      socket.destroy();
      expect(renegotiations).toBeLessThan(10);
      expect((await whoami(tokenOf('ada'))).status).toBe(200);
    });

    it.each(['TLSv1.2', 'TLSv1.3'] as const)(
      'resumes no session of %s whose authority was removed',
      async (version) => {
        const tls = { minVersion: version, maxVersion: version } as const;
        const { socket, session } = await handshake({ ...good, ...tls });
        socket.destroy();
        const others = await authority('Others');
        const other = await signed(others, { name: 'ada' });
        const replace = async ({ cert }: Pair): Promise<void> => {
          const before = logged.filter((line) => line.includes('a new TLS certificate')).length;
          await folder.write('new.pem', cert);
          await rename(folder.at('new.pem'), folder.at('clients.pem'));
          await until(
            () => logged.filter((line) => line.includes('a new TLS certificate')).length > before,
            'the new authority',
          );
        };
        await replace(others);
        try {
          expect((await whoami(tokenOf('ada'), { ...other, ...tls })).status).toBe(200);
          await expect(whoami(tokenOf('ada'), { ...good, ...tls })).rejects.toThrow();
          await expect(whoami(tokenOf('ada'), { ...good, ...tls, session } as RequestOptions)).rejects.toThrow();
          await expect(whoami(tokenOf('ada'), { ...tls, session } as RequestOptions)).rejects.toThrow();
        } finally {
          await replace(clients);
        }
        expect((await whoami(tokenOf('ada'), { ...good, ...tls })).status).toBe(200);
      },
    );
  });
});
