/** Enterprise-managed authorization: an ID token is exchanged for an assertion, and that for a token. All else is refused. */
import { readFile, writeFile } from 'node:fs/promises';
import { inspect } from 'node:util';
import {
  CrossAppAccessProvider,
  discoverAndRequestJwtAuthGrant,
  exchangeJwtAuthGrant,
} from '@modelcontextprotocol/client';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { createResourceClient } from '../../../src/client/index.ts';
import { toWireError } from '../../../src/core/errors.ts';
import { AuthConfig, createAuth } from '../../../src/providers/upstream/auth/index.ts';
import { eraOf } from '../../client/scripted.ts';
import { readOne } from '../../e2e/answers.ts';
import { temporaryFolder, writeConfig } from '../../e2e/folders.ts';
import { connect, DIAGONAL, ERAS, startHttp } from '../../e2e/harness.ts';
import { connectWith, readWith } from './client.ts';
import { type Assertion, AT_IDP, AT_SERVER, type Company, company, ID_JAG, JWT_BEARER } from './company.ts';
import { SCOPE, TEXT } from './servers.ts';

const SECRET_VARIABLE = 'VITRINE_TEST_IDP_SECRET';

let all: Company;
let idToken: string;

beforeAll(async () => {
  all = await company();
  idToken = await all.signIn();
});
afterEach(() => all.tamper((assertion) => assertion));
afterAll(() => all[Symbol.asyncDispose]());

const configOf = (more: object = {}, idp: object = { idToken }) =>
  AuthConfig.parse({
    type: 'enterprise',
    idp: { issuer: all.idp.origin, ...AT_IDP, ...idp },
    ...AT_SERVER,
    issuer: all.authorization.origin,
    ...more,
  });

const authOf = (...config: Parameters<typeof configOf>) =>
  createAuth(configOf(...config), { mount: 'docs', url: all.url });

/** How many tokens the authorization server of the upstream was asked for. */
const granted = (): number => all.authorization.requests.filter(({ line }) => line === 'POST /token').length;

describe('a mounted server', () => {
  it('is read with the ID token of a person who has signed in at the company', async () => {
    expect(await readWith(authOf(), all.url)).toBe(TEXT);
  });

  it('is reached with a new assertion for each token, so none is used twice', async () => {
    const auth = authOf();
    await using connection = await connectWith(auth, all.url);
    const before = all.assertions.length;
    await Promise.all(Array.from({ length: 8 }, () => connection.read()));
    expect(all.assertions).toHaveLength(before);
    await auth.onUnauthorized?.({ response: new Response(undefined, { status: 401 }) } as never);
    expect(await connection.read()).toBe(TEXT);
    expect(all.assertions).toHaveLength(before + 1);
    expect(new Set(all.assertions).size).toBe(all.assertions.length);
  });

  it('is reached with an ID token from a file, which is read again for each token', async () => {
    await using folder = await temporaryFolder({ 'id-token': 'not yet\n' });
    const auth = authOf({}, { idTokenFile: folder.at('id-token') });
    await expect(readWith(auth, all.url)).rejects.toThrow(
      'Upstream "docs": no assertion can be requested; the configured ID token is missing, or is not an ID token',
    );
    await writeFile(folder.at('id-token'), `${idToken}\n`);
    expect(await readWith(auth, all.url)).toBe(TEXT);
  });

  it.each(DIAGONAL)('works like any other mount, over $transport, in the $era era', async ({ transport, era }) => {
    process.env[SECRET_VARIABLE] = AT_IDP.clientSecret;
    await using folder = await temporaryFolder({ 'id-token': idToken });
    const idp = { ...AT_IDP, clientSecret: `\${${SECRET_VARIABLE}}`, idTokenFile: folder.at('id-token') };
    const auth = {
      type: 'enterprise',
      issuer: all.authorization.origin,
      ...AT_SERVER,
      idp: { issuer: all.idp.origin, ...idp },
    };
    const config = await writeConfig(folder, { mounts: { docs: { url: all.url, auth } } });
    await using gateway = await connect(transport, era, ['--config', config]);
    expect((await readOne(gateway, 'docs+memory:///private.txt')).text).toBe(TEXT);
    expect(gateway.stderr()).not.toContain(idToken.slice(-20));
    delete process.env[SECRET_VARIABLE];
  });
});

it('a client of the library reads the server with the provider of the SDK for such assertions', async () => {
  const provider = new CrossAppAccessProvider({
    ...AT_SERVER,
    expectedIssuer: all.authorization.origin,
    assertion: async ({ authorizationServerUrl, resourceUrl, scope, fetchFn }) => {
      const audience = new URL(authorizationServerUrl).origin;
      const asked = { idpUrl: all.idp.origin, audience, resource: resourceUrl, idToken, ...AT_IDP, fetchFn };
      return (await discoverAndRequestJwtAuthGrant({ ...asked, ...(scope !== undefined && { scope }) })).jwtAuthGrant;
    },
  });
  await using resources = createResourceClient({ url: all.url, authProvider: provider });
  expect(await (await resources.read('memory:///private.txt')).primary?.text()).toBe(TEXT);
});

it.each(ERAS)('a gateway accepts a token for an assertion, and sends its server another one, %s', async (era) => {
  const resource = 'https://library.example/mcp';
  all.allow(resource);
  await using folder = await temporaryFolder({ 'id-token': idToken });
  const auth = {
    type: 'enterprise',
    issuer: all.authorization.origin,
    ...AT_SERVER,
    idp: { ...AT_IDP, issuer: all.idp.origin },
  };
  const config = {
    auth: { resource, issuers: [{ issuer: all.authorization.origin }], scopes: [SCOPE] },
    access: { rules: [{ effect: 'allow', who: { subjects: ['ada'] } }] },
    audit: { file: folder.at('audit.jsonl') },
    mounts: { docs: { url: all.url, auth: { ...auth, idp: { ...auth.idp, idTokenFile: folder.at('id-token') } } } },
  };
  const gateway = await startHttp(['--config', await writeConfig(folder, config)]);
  const { jwtAuthGrant } = await discoverAndRequestJwtAuthGrant({
    ...{ idpUrl: all.idp.origin, audience: all.authorization.origin, resource, idToken, scope: SCOPE },
    ...AT_IDP,
  });
  const tokenEndpoint = `${all.authorization.origin}/token`;
  const { access_token: token } = await exchangeJwtAuthGrant({ tokenEndpoint, jwtAuthGrant, ...AT_SERVER });
  const uri = 'docs+memory:///private.txt';
  for (const [shown, expected] of [
    [token, TEXT],
    [jwtAuthGrant, undefined],
    [idToken, undefined],
  ] as const) {
    await using resources = createResourceClient({
      url: gateway.url,
      authProvider: { token: async () => shown },
      ...eraOf[era],
    });
    const text = resources.read(uri).then((read) => read.primary?.text());
    if (expected === undefined) await expect(text).rejects.toThrow();
    else expect(await text).toBe(expected);
  }
  const atServer = all.server.requests.map(({ authorization }) => authorization).filter((each) => each !== undefined);
  expect(atServer.length).toBeGreaterThan(0);
  expect(atServer).not.toContain(`Bearer ${token}`);
  await gateway.stop();
  const seen = gateway.output() + (await readFile(folder.at('audit.jsonl'), 'utf8'));
  expect(seen).toContain('private.txt');
  for (const secret of [token, jwtAuthGrant, idToken, ...all.assertions, AT_IDP.clientSecret, AT_SERVER.clientSecret])
    expect(seen).not.toContain(secret);
});

const withPart =
  (claims: object, header: object = {}) =>
  (assertion: Assertion): Assertion => ({
    claims: { ...assertion.claims, ...claims },
    header: { ...assertion.header, ...header },
  });

const encoded = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url');

const HOSTILE: readonly (readonly [string, (assertion: Assertion) => Assertion | string, string])[] = [
  ['another authorization server', withPart({ aud: 'https://other.example' }), 'is for another authorization server'],
  [
    'several authorization servers',
    withPart({ aud: ['https://other.example', 'x'] }),
    'is for another authorization server',
  ],
  ['another resource', withPart({ resource: 'https://other.example/mcp' }), 'is for another resource'],
  ['another client', withPart({ client_id: 'somebody-else' }), 'is for another client'],
  ['another issuer', withPart({ iss: 'https://other.example' }), 'is of another issuer'],
  ['a time that is over', withPart({ exp: 1_000_000_000 }), 'has expired'],
  ['no end', withPart({ exp: undefined }), 'has expired'],
  ['another type', withPart({}, { typ: 'JWT' }), 'is of another type'],
  ['no type', withPart({}, { typ: undefined }), 'is of another type'],
  ['no signature', ({ claims }) => `${encoded({ alg: 'none', typ: ID_JAG })}.${encoded(claims)}.`, 'is not signed'],
  ['the form of no JWT', () => 'opaque', 'is malformed'],
];

describe('an assertion is not sent', () => {
  it.each(HOSTILE)('if it has %s', async (_, change, problem) => {
    all.tamper(change);
    const before = granted();
    await expect(readWith(authOf(), all.url)).rejects.toMatchObject({
      code: 'unavailable',
      message: `Upstream "docs": its identity provider gave no usable assertion; the one that it gave ${problem}`,
    });
    expect(granted()).toBe(before);
  });
});

describe('a refusal', () => {
  it('by the identity provider is reported without its text', async () => {
    for (const [auth, says] of [
      [authOf({}, { idToken: `${idToken.slice(0, -8)}AAAAAAAA` }), 'it says invalid_grant'],
      [authOf({}, { idToken, clientSecret: 'wrong-secret' }), 'it says invalid_client'],
    ] as const) {
      const error = await readWith(auth, all.url).catch((thrown: unknown) => thrown);
      expect(error).toMatchObject({
        message: `Upstream "docs": its identity provider gave no usable assertion; ${says}`,
      });
      expectNoSecret(error);
    }
  });

  it("by the authorization server is reported without its text: for a key that is not the company's, or a wrong secret", async () => {
    const forged = await all.forge({ ...claimsFor(), iss: all.idp.origin }, ID_JAG);
    all.tamper(() => forged);
    const error = await readWith(authOf(), all.url).catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({
      message: 'Upstream "docs": its authorization server gave no token; it says invalid_grant',
    });
    expectNoSecret(error, forged);
    all.tamper((assertion) => assertion);
    await expect(readWith(authOf({ clientSecret: 'wrong' }), all.url)).rejects.toThrow('it says invalid_client');
  });

  it('by the authorization server answers an assertion that is sent twice, or by a stranger', async () => {
    await readWith(authOf(), all.url);
    const [assertion = ''] = all.assertions.slice(-1);
    const show = (client: { readonly clientId: string; readonly clientSecret: string }): Promise<Response> =>
      fetch(`${all.authorization.origin}/token`, {
        method: 'POST',
        headers: {
          authorization: `Basic ${Buffer.from(`${client.clientId}:${client.clientSecret}`).toString('base64')}`,
        },
        body: new URLSearchParams({ grant_type: JWT_BEARER, assertion }),
      });
    expect(await (await show(AT_SERVER)).json()).toMatchObject({ error: 'invalid_grant' });
    expect(await (await show({ ...AT_SERVER, clientSecret: 'x' })).json()).toMatchObject({ error: 'invalid_client' });
  });

  it('by Vitrine answers an assertion or ID token in place of an access token, and a token for another resource', async () => {
    await readWith(authOf(), all.url);
    const [assertion = ''] = all.assertions.slice(-1);
    const claims = { sub: 'ada', scope: SCOPE, client_id: AT_SERVER.clientId };
    const tokens = [
      assertion,
      idToken,
      await all.forge(claims, ID_JAG),
      await all.forge({ ...claims, aud: 'https://other.example/mcp' }, 'at+jwt'),
      await all.forge({ ...claims, exp: 1_000_000_000 }, 'at+jwt'),
    ];
    for (const token of tokens) {
      const auth = createAuth({ type: 'bearer', token }, { mount: 'docs', url: all.url });
      await expect(readWith(auth, all.url)).rejects.toThrow('refuses the token that is configured for it');
    }
    const good = createAuth(
      { type: 'bearer', token: await all.forge(claims, 'at+jwt') },
      { mount: 'docs', url: all.url },
    );
    expect(await readWith(good, all.url)).toBe(TEXT);
  });

  it('by Vitrine of an authorization server that is not the configured one comes before any assertion is requested', async () => {
    const before = all.assertions.length;
    await expect(readWith(authOf({ issuer: 'https://other.example' }), all.url)).rejects.toThrow(
      'it is another one than the issuer that was expected',
    );
    expect(all.assertions).toHaveLength(before);
  });
});

const claimsFor = () => ({
  ...{ jti: 'one', sub: 'ada', aud: all.authorization.origin, resource: all.url },
  ...{ client_id: AT_SERVER.clientId, scope: SCOPE },
});

/** Checks that nothing that was sent to a server is visible to an operator or a client. */
function expectNoSecret(error: unknown, assertion = idToken): void {
  const seen =
    inspect(error, { depth: 20, showHidden: true, maxStringLength: 1_000_000 }) + JSON.stringify(toWireError(error));
  for (const secret of [idToken, idToken.slice(-20), assertion, AT_IDP.clientSecret, AT_SERVER.clientSecret])
    expect(seen).not.toContain(secret);
}

describe('the configuration', () => {
  it.each([
    ['both an ID token and a file', { idp: { idToken: 'a', idTokenFile: '/b' } }],
    ['neither of them', { idp: {} }],
    ['a file that is not absolute', { idp: { idTokenFile: 'b' } }],
    ['no authorization server', { idp: { idToken: 'a' }, issuer: undefined }],
  ])('refuses %s', (_, { idp, ...more }) => {
    const block = {
      type: 'enterprise',
      idp: { issuer: 'https://a', ...AT_IDP, ...idp },
      ...AT_SERVER,
      issuer: 'https://b',
    };
    expect(AuthConfig.safeParse({ ...block, ...more }).success).toBe(false);
  });
});
