/** Authorization as a configuration says it, in the command. */
import { afterEach, beforeEach, expect, it } from 'vitest';
import { vitrine } from '../cli/run.ts';
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

const configured = (auth: object): Promise<string> => writeConfig(folder, { mounts: { data: './data' }, auth });

it('lets those in who have a token, and is no mistake beyond this machine', async () => {
  const config = await configured({ resource: RESOURCE, tokens: [{ name: 'till', hash: hashOf(TOKEN) }] });
  await using server = await startHttp(['--config', config], '0.0.0.0:0');
  const url = server.url.replace('0.0.0.0', '127.0.0.1');
  expect((await post(url, 'modern', 'resources/list')).status).toBe(401);
  const answer = await post(url, 'modern', 'resources/list', {}, bearer(TOKEN));
  expect(answer.status).toBe(200);
  expect(answer.text).toContain('a.txt');
  expect(server.output()).not.toContain('no authorization');
});

it('still needs --allow-remote where everybody may come in', async () => {
  const config = await configured({
    resource: RESOURCE,
    tokens: [{ name: 'till', hash: hashOf(TOKEN) }],
    anonymous: true,
  });
  const { status, stderr } = await vitrine(['serve', '--config', config, '--http', '0.0.0.0:0']);
  expect(status).toBe(2);
  expect(stderr).toContain('no authorization; configure auth');
});

const tokens = [{ name: 'till', hash: hashOf(TOKEN) }];
const ISSUER = 'https://login.example';

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
])('is refused with its place where it makes no sense, %#', async (auth, problem) => {
  const { status, stderr } = await vitrine(['check', '--config', await configured(auth)]);
  expect(status).toBe(2);
  expect(stderr).toMatch(problem);
  expect(stderr).toMatch(/vitrine.yaml:\d+:\d+/);
  expect(stderr).not.toContain(TOKEN);
});
