/** A running gateway with tokens that a user has authorized: expiry, refresh, revocation, and the URL that they are for. */
import { copyFile } from 'node:fs/promises';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { until } from '../../e2e/waiting.ts';
import { authorizeAt, connectWith, oauthAt, readWith, savedAt } from './client.ts';
import { sceneOfEachTest } from './scene.ts';
import { authorizationServer, protectedServer, TEXT } from './servers.ts';

const scene = sceneOfEachTest();

afterEach(() => void vi.restoreAllMocks());

const NEEDS = {
  name: 'ResourceError',
  code: 'unavailable',
  message: 'Upstream "docs" needs to be authorized by its operator: vitrine authorize <config> docs',
};

const accessToken = async (): Promise<string> => String((await savedAt(scene.state)).tokens?.access_token);

/** The user revokes everything at the authorization server. */
async function takeBack(): Promise<void> {
  const token = await scene.authorization.provider.AccessToken.find(await accessToken());
  await scene.authorization.provider.AccessToken.revokeByGrantId(String(token?.grantId));
  await scene.authorization.provider.RefreshToken.revokeByGrantId(String(token?.grantId));
}

describe('without an authorization', () => {
  it('a request fails with the command that the operator has to run, and nobody is asked for anything', async () => {
    await expect(readWith(oauthAt(scene.upstream.url), scene.upstream.url)).rejects.toMatchObject(NEEDS);
    expect(scene.upstream.requests).toEqual([]);
    expect(scene.authorization.requests).toEqual([]);
  });

  it('a damaged file counts as no authorization', async () => {
    await authorizeAt(scene.upstream.url);
    await scene.state.edit(() => ({ url: scene.upstream.url, tokens: 'gone' }));
    await expect(readWith(oauthAt(scene.upstream.url), scene.upstream.url)).rejects.toMatchObject(NEEDS);
  });

  it('a running gateway uses an authorization that is given later', async () => {
    const auth = oauthAt(scene.upstream.url);
    await expect(readWith(auth, scene.upstream.url)).rejects.toMatchObject(NEEDS);
    await authorizeAt(scene.upstream.url);
    expect(await readWith(auth, scene.upstream.url)).toBe(TEXT);
  });
});

describe('a token', () => {
  it('that the server no longer accepts is renewed with the refresh token, which changes each time', async () => {
    await authorizeAt(scene.upstream.url);
    const auth = oauthAt(scene.upstream.url);
    await using connection = await connectWith(auth, scene.upstream.url);
    for (let round = 0; round < 3; round++) {
      const { tokens: before } = await savedAt(scene.state);
      await (await scene.authorization.provider.AccessToken.find(await accessToken()))?.destroy();
      expect(await connection.read()).toBe(TEXT);
      const { tokens: after } = await savedAt(scene.state);
      expect(after?.access_token).not.toBe(before?.access_token);
      expect(after?.refresh_token).not.toBe(before?.refresh_token);
      expect(after?.issuer).toBe(scene.authorization.origin);
    }
  });

  it('that has expired at the server is renewed', async () => {
    await using short = await authorizationServer({ lifetime: 1 });
    await using server = await protectedServer(short);
    await authorizeAt(server.url);
    const token = await accessToken();
    await until(async () => {
      const found = await short.provider.AccessToken.find(token);
      return found === undefined || found.isExpired;
    }, 'the end of the token');
    expect(await readWith(oauthAt(server.url), server.url)).toBe(TEXT);
    expect(await accessToken()).not.toBe(token);
  });

  it('that is about to expire is renewed before it is used, once for all waiting requests', async () => {
    await authorizeAt(scene.upstream.url);
    const auth = oauthAt(scene.upstream.url);
    await scene.state.edit((saved) => ({ ...saved, renewAt: 0 }));
    const before = scene.authorization.tokenRequests();
    const texts = await Promise.all(Array.from({ length: 12 }, () => readWith(auth, scene.upstream.url)));
    expect(texts).toEqual(Array.from({ length: 12 }, () => TEXT));
    expect(scene.authorization.tokenRequests()).toBe(before + 1);
  });

  it('is renewed once if several gateways share it', async () => {
    await authorizeAt(scene.upstream.url);
    await scene.state.edit((saved) => ({ ...saved, renewAt: 0 }));
    const before = scene.authorization.tokenRequests();
    const gateways = [oauthAt(scene.upstream.url), oauthAt(scene.upstream.url), oauthAt(scene.upstream.url)];
    const texts = await Promise.all(gateways.map((auth) => readWith(auth, scene.upstream.url)));
    expect(texts).toEqual([TEXT, TEXT, TEXT]);
    expect(scene.authorization.tokenRequests()).toBe(before + 1);
  });

  it('that many requests at once find revoked is renewed without using a refresh token twice', async () => {
    await authorizeAt(scene.upstream.url);
    const auth = oauthAt(scene.upstream.url);
    await using connection = await connectWith(auth, scene.upstream.url);
    const revoked: string[] = [];
    scene.authorization.provider.on('grant.revoked', () => void revoked.push('grant'));
    for (let round = 0; round < 3; round++) {
      await (await scene.authorization.provider.AccessToken.find(await accessToken()))?.destroy();
      const texts = await Promise.all(Array.from({ length: 12 }, () => connection.read()));
      expect(new Set(texts)).toEqual(new Set([TEXT]));
    }
    expect(revoked).toEqual([]);
  });
});

describe('a new authorization', () => {
  it('is used by a running gateway, although its token is still valid', async () => {
    await authorizeAt(scene.upstream.url);
    const auth = oauthAt(scene.upstream.url);
    const first = await auth.token();
    await authorizeAt(scene.upstream.url);
    const now = Date.now();
    vi.spyOn(Date, 'now').mockImplementation(() => now + 10_000);
    expect(await auth.token()).toBe(await accessToken());
    expect(await auth.token()).not.toBe(first);
  });
});

describe('an authorization', () => {
  it('that is revoked fails with the command that the operator has to run, and works again after that', async () => {
    await authorizeAt(scene.upstream.url);
    const auth = oauthAt(scene.upstream.url);
    await using connection = await connectWith(auth, scene.upstream.url);
    expect(await connection.read()).toBe(TEXT);
    await takeBack();
    await expect(connection.read()).rejects.toMatchObject(NEEDS);
    expect(await savedAt(scene.state)).not.toHaveProperty('tokens');
    const before = scene.authorization.tokenRequests();
    await expect(connection.read()).rejects.toMatchObject(NEEDS);
    expect(scene.authorization.tokenRequests()).toBe(before);
    await authorizeAt(scene.upstream.url);
    expect(await connection.read()).toBe(TEXT);
  });

  it('is not lost while the authorization server is away', async () => {
    await authorizeAt(scene.upstream.url);
    await scene.state.edit((saved) => ({ ...saved, renewAt: 0 }));
    const before = await savedAt(scene.state);
    await scene.authorization[Symbol.asyncDispose]();
    await expect(readWith(oauthAt(scene.upstream.url), scene.upstream.url)).rejects.toMatchObject({
      code: 'unavailable',
      message: 'Upstream "docs": its authorization server gave no token; it does not answer',
    });
    expect(await savedAt(scene.state)).toEqual(before);
  });
});

describe('tokens are for one URL', () => {
  it('and are not used for a mount of the same name with another URL', async () => {
    await using other = await protectedServer(scene.authorization);
    await authorizeAt(scene.upstream.url);
    await expect(readWith(oauthAt(other.url), other.url)).rejects.toMatchObject(NEEDS);
    expect(other.requests).toEqual([]);
  });

  it('and are not used if their file takes the place of another one', async () => {
    await using other = await protectedServer(scene.authorization);
    await authorizeAt(scene.upstream.url);
    const [first] = await scene.state.files();
    await authorizeAt(other.url);
    const second = (await scene.state.files()).find((file) => file !== first);
    await copyFile(String(first), String(second));
    const before = other.requests.length;
    await expect(readWith(oauthAt(other.url), other.url)).rejects.toMatchObject(NEEDS);
    expect(other.requests).toHaveLength(before);
  });

  it('and are not used for another mount of the same URL', async () => {
    await authorizeAt(scene.upstream.url);
    await expect(readWith(oauthAt(scene.upstream.url, {}, 'second'), scene.upstream.url)).rejects.toThrow(
      '<config> second',
    );
  });

  it('and are refreshed only at the authorization server that the user saw', async () => {
    await authorizeAt(scene.upstream.url);
    const pinned = oauthAt(scene.upstream.url, { issuer: 'https://elsewhere.example' });
    await expect(readWith(pinned, scene.upstream.url)).rejects.toMatchObject(NEEDS);
  });
});
