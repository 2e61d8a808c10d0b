/** Authorization at an upstream without a user: a bearer token, and client credentials at a real authorization server. */
import { describe, expect, it } from 'vitest';
import { type AuthConfig, createAuth } from '../../../src/providers/upstream/auth/index.ts';
import { until } from '../../e2e/waiting.ts';
import { connectWith, readWith } from './client.ts';
import { sceneOfEachTest } from './scene.ts';
import { authorizationServer, listening, MACHINE, protectedServer, SCOPE, TEXT } from './servers.ts';

const scene = sceneOfEachTest();

const authOf = (config: AuthConfig, url = scene.upstream.url): ReturnType<typeof createAuth> =>
  createAuth(config, { mount: 'docs', url });

const machine = { type: 'client-credentials', ...MACHINE } as const;

describe('AuthConfig', async () => {
  const { AuthConfig } = await import('../../../src/providers/upstream/auth/index.ts');

  it.each([
    { type: 'bearer', token: 't' },
    { type: 'client-credentials', clientId: 'a', clientSecret: 'b', scope: 'c', issuer: 'https://d' },
    { type: 'oauth' },
    { type: 'oauth', clientId: 'a', clientSecret: 'b', scope: 'c', redirectPort: 8_400 },
  ])('accepts %j', (config) => {
    expect(AuthConfig.parse(config)).toEqual(config);
  });

  it.each([
    { type: 'bearer' },
    { type: 'basic', user: 'a' },
    { type: 'client-credentials', clientId: 'a' },
    { type: 'oauth', redirectPort: 0 },
    { type: 'oauth', token: 'secret-in-the-wrong-place' },
  ])('refuses %j, without quoting a value', (config) => {
    const { success, error } = AuthConfig.safeParse(config);
    expect(success).toBe(false);
    expect(JSON.stringify(error)).not.toContain('secret-in-the-wrong-place');
  });
});

describe('client credentials', () => {
  it('get a token for the upstream when it asks for one, and write no file', async () => {
    expect(await readWith(authOf(machine), scene.upstream.url)).toBe(TEXT);
    expect(scene.authorization.tokenRequests()).toBe(1);
    await expect(scene.state.files()).rejects.toMatchObject({ code: 'ENOENT' });
  });

  it('are used once for concurrent requests, and once more after the token was revoked', async () => {
    const auth = authOf({ ...machine, scope: SCOPE, issuer: scene.authorization.origin });
    await using connection = await connectWith(auth, scene.upstream.url);
    await Promise.all(Array.from({ length: 12 }, () => connection.read()));
    expect(scene.authorization.tokenRequests()).toBe(1);
    await (await scene.authorization.provider.ClientCredentials.find(String(await auth.token())))?.destroy();
    expect(await connection.read()).toBe(TEXT);
    expect(scene.authorization.tokenRequests()).toBe(2);
  });

  it('get a new token after one has expired', async () => {
    await using short = await authorizationServer({ lifetime: 1 });
    await using server = await protectedServer(short);
    const auth = authOf(machine, server.url);
    await using connection = await connectWith(auth, server.url);
    const token = String(await auth.token());
    await until(async () => {
      const found = await short.provider.ClientCredentials.find(token);
      return found === undefined || found.isExpired;
    }, 'the end of the token');
    expect(await connection.read()).toBe(TEXT);
    expect(await auth.token()).not.toBe(token);
  });

  it('that are wrong are reported with the error code of the server', async () => {
    const auth = authOf({ ...machine, clientSecret: 'wrong-secret' });
    await expect(readWith(auth, scene.upstream.url)).rejects.toMatchObject({
      code: 'unavailable',
      message: 'Upstream "docs": its authorization server gave no token; it says invalid_client',
    });
  });

  it('are sent to the configured issuer only', async () => {
    const auth = authOf({ ...machine, issuer: 'https://elsewhere.example' });
    await expect(readWith(auth, scene.upstream.url)).rejects.toThrow('another one than the issuer that was expected');
    expect(scene.authorization.tokenRequests()).toBe(0);
  });

  it('are sent to no second authorization server, even if the upstream names another one', async () => {
    await using second = await authorizationServer();
    let issuer = scene.authorization.origin;
    await using turncoat = await listening((origin) => (request, response) => {
      const metadata = `${origin}/.well-known/oauth-protected-resource/mcp`;
      const isMetadata = request.url?.startsWith('/.well-known/oauth-protected-resource') === true;
      response.writeHead(isMetadata ? 200 : 401, {
        'content-type': 'application/json',
        'www-authenticate': `Bearer resource_metadata="${metadata}"`,
      });
      response.end(
        JSON.stringify({ resource: `${origin}/mcp`, authorization_servers: [issuer], scopes_supported: [SCOPE] }),
      );
    });
    const url = `${turncoat.origin}/mcp`;
    const auth = authOf(machine, url);
    await expect(readWith(auth, url)).rejects.toThrow('401');
    expect(scene.authorization.tokenRequests()).toBe(1);
    issuer = second.origin;
    await expect(readWith(auth, url)).rejects.toThrow('another one than the issuer that was expected');
    expect(second.tokenRequests()).toBe(0);
  });
});

describe('a bearer token', () => {
  const granted = async (): Promise<string> => {
    const auth = authOf(machine);
    await readWith(auth, scene.upstream.url);
    return String(await auth.token());
  };

  it('is sent unchanged, except for white space around it', async () => {
    expect(await readWith(authOf({ type: 'bearer', token: `${await granted()}\n` }), scene.upstream.url)).toBe(TEXT);
  });

  it('that the upstream refuses is reported, and not tried again and again', async () => {
    const auth = authOf({ type: 'bearer', token: 'not-a-good-one' });
    await expect(readWith(auth, scene.upstream.url)).rejects.toMatchObject({
      name: 'ResourceError',
      message: 'Upstream "docs" refuses the token that is configured for it',
    });
    expect(scene.upstream.requests).toHaveLength(1);
  });

  it('that a header cannot contain is refused at once, without being quoted', () => {
    const token = 'one-secret\r\nX-Other: two';
    expect(() => authOf({ type: 'bearer', token })).toThrow(
      'The token of upstream "docs" has characters that a header cannot carry',
    );
  });

  it('is not sent to another origin after a redirect', async () => {
    const token = await granted();
    const before = scene.upstream.requests.length;
    await using detour = await listening(() => (_request, response) => {
      response.writeHead(307, { location: scene.upstream.url }).end();
    });
    const url = `${detour.origin}/mcp`;
    await expect(readWith(authOf({ type: 'bearer', token }, url), url)).rejects.toThrow();
    expect(detour.requests[0]?.authorization).toBe(`Bearer ${token}`);
    expect(scene.upstream.requests.slice(before)).toEqual([]);
  });
});
