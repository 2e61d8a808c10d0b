/** Authorization from a configuration, in the command. */
// biome-ignore-all lint/suspicious/noTemplateCurlyInString: that is how references are written
import { afterEach, beforeEach, expect, it } from 'vitest';
import { loadConfig } from '../../src/config/load.ts';
import { createSecrets } from '../../src/config/secrets.ts';
import { vitrine } from '../cli/here.ts';
import { type Folder, temporaryFolder, writeConfig } from '../e2e/folders.ts';
import { startHttp } from '../e2e/harness.ts';
import { post } from '../e2e/raw.ts';
import { bearer, hashOf, RESOURCE } from './authorization-servers.ts';

const TOKEN = 'static-token-0123456789abcdef';

let folder: Folder;

beforeEach(async () => {
  folder = await temporaryFolder({ 'data/a.txt': 'a' });
});

afterEach(() => folder[Symbol.asyncDispose]());

const configured = (auth: object): Promise<string> =>
  writeConfig(folder, { mounts: { data: './data' }, auth, access: { rules: [{ effect: 'allow' }] } });

it('admits callers with a token, and needs no flag to listen for other machines', async () => {
  const config = await configured({ resource: RESOURCE, tokens: [{ name: 'till', hash: hashOf(TOKEN) }] });
  await using server = await startHttp(['--config', config], '0.0.0.0:0');
  const url = server.url.replace('0.0.0.0', '127.0.0.1');
  expect((await post(url, 'modern', 'resources/list')).status).toBe(401);
  const answer = await post(url, 'modern', 'resources/list', {}, bearer(TOKEN));
  expect(answer.status).toBe(200);
  expect(answer.text).toContain('a.txt');
  expect(server.output()).not.toContain('no authorization');
});

it('needs --allow-remote for other machines if anonymous callers are admitted, and says who can read what', async () => {
  const config = await configured({
    resource: RESOURCE,
    tokens: [{ name: 'till', hash: hashOf(TOKEN) }],
    anonymous: true,
  });
  const { status, stderr } = await vitrine(['serve', '--config', config, '--http', '0.0.0.0:0']);
  expect(status).toBe(2);
  expect(stderr).toContain('requests without a token are accepted; leave out auth.anonymous, leave out "0.0.0.0:", or');
  await using server = await startHttp(['--config', config, '--allow-remote'], '0.0.0.0:0');
  expect(server.output()).toContain(
    'Requests without a token are accepted: everybody who reaches this address can read what anonymous callers may read.',
  );
});

const tokens = [{ name: 'till', hash: hashOf(TOKEN) }];
const ISSUER = 'https://login.example';
const introspection = { clientId: 'library', clientSecret: 'x' };

it.each([
  [{ resource: RESOURCE }, /Nobody could come in: give issuers or tokens/],
  [{ tokens }, /auth.resource/],
  [{ resource: 'http://library.example/mcp', tokens }, /auth.resource: .*https URL/],
  [{ resource: 'https://[library/mcp', tokens }, /auth.resource: .*https URL/],
  [{ resource: `${RESOURCE}?a=b`, tokens }, /auth.resource: .*without query/],
  [{ resource: RESOURCE, tokens: [{ name: 'till', hash: TOKEN }] }, /auth.tokens.*SHA-256/],
  [{ resource: RESOURCE, tokens: [{ name: 'till', token: TOKEN }] }, /unknown key "token"/],
  [{ resource: RESOURCE, tokens: [...tokens, ...tokens] }, /auth.tokens.*of another one/],
  [{ resource: RESOURCE, issuers: [{ issuer: ISSUER, algorithms: ['HS256'] }] }, /auth.issuers.*RS256/],
  [{ resource: RESOURCE, issuers: [{ issuer: ISSUER, algorithms: ['none'] }] }, /auth.issuers.*RS256/],
  [{ resource: RESOURCE, issuers: [{ issuer: ISSUER }], scopes: ['a b'] }, /auth.scopes.*without spaces/],
])('is refused with its place in the file if it is contradictory, %#', async (auth, problem) => {
  const { status, stderr } = await vitrine(['check', '--config', await configured(auth)]);
  expect(status).toBe(2);
  expect(stderr).toMatch(problem);
  expect(stderr).toMatch(/vitrine.yaml:\d+:\d+/);
  expect(stderr).not.toContain(TOKEN);
});

it.each([
  [
    { resource: RESOURCE, issuers: [ISSUER, `${ISSUER}/b`].map((issuer) => ({ issuer, introspection })) },
    /auth.issuers.1.introspection: Only one issuer can have this/,
  ],
  [
    { resource: RESOURCE, issuers: [{ issuer: ISSUER, introspection: { ...introspection, url: 'http://a.example' } }] },
    /auth.issuers.0.introspection.url: .*https URL/,
  ],
  [
    {
      resource: RESOURCE,
      issuers: [{ issuer: ISSUER, introspection: { ...introspection, clientSecret: '${NONE_X}' } }],
    },
    /auth.issuers.0.introspection.clientSecret: the environment variable NONE_X is not set/,
  ],
  [{ resource: RESOURCE, tokens, dpop: { required: true } }, /auth.dpop.required: .*bound to no key/],
  [{ resource: RESOURCE, tokens, dpop: { algorithms: ['HS256'] } }, /auth.dpop.algorithms.*RS256/],
])('takes introspection and DPoP, and refuses wrong combinations with their place, %#', async (auth, problem) => {
  const refused = await loadConfig(await configured(auth), { env: {} }).catch((error: unknown) => String(error));
  expect(refused).toMatch(problem);
  expect(refused).toMatch(/vitrine.yaml:\d+:\d+/);
});

it('takes the secret of introspection from the environment, and treats nothing else there as a reference', async () => {
  const path = await configured({
    resource: RESOURCE,
    issuers: [
      { issuer: ISSUER, introspection: { clientId: '${WHO}', clientSecret: '${SECRET}' }, groupsClaim: '${WHO}' },
    ],
  });
  const secrets = createSecrets();
  const env = { WHO: 'library', SECRET: 'the-secret-of-the-library' };
  const { auth } = await loadConfig(path, { env, secrets });
  expect(auth?.issuers).toEqual([
    { issuer: ISSUER, introspection: { clientId: env.WHO, clientSecret: env.SECRET }, groupsClaim: '${WHO}' },
  ]);
  expect(secrets.hide(`it is ${env.SECRET}`)).toBe('it is ${SECRET}');
});
