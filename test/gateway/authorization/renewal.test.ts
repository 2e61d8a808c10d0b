/** A running gateway with tokens that a user has authorized: expiry, refresh, revocation, and whom they are for. */
import { copyFile } from 'node:fs/promises';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { until } from '../../e2e/waiting.ts';
import { authorizeAt, connectWith, oauthAt, readWith, type StateDirectory, savedAt, stateDirectory } from './client.ts';
import {
  type AuthorizationServer,
  authorizationServer,
  type ProtectedServer,
  protectedServer,
  TEXT,
} from './servers.ts';

let state: StateDirectory;
let authorization: AuthorizationServer;
let upstream: ProtectedServer;

beforeEach(async () => {
  state = await stateDirectory();
  authorization = await authorizationServer();
  upstream = await protectedServer(authorization);
});

afterEach(async () => {
  vi.restoreAllMocks();
  await upstream[Symbol.asyncDispose]();
  await authorization[Symbol.asyncDispose]();
  await state[Symbol.asyncDispose]();
});

const NEEDS = {
  name: 'ResourceError',
  code: 'unavailable',
  message: 'Upstream "docs" needs to be authorized by its operator: vitrine authorize <config> docs',
};

const accessToken = async (): Promise<string> => String((await savedAt(state)).tokens?.access_token);

/** The user takes everything back at the authorization server. */
async function takeBack(): Promise<void> {
  const token = await authorization.provider.AccessToken.find(await accessToken());
  await authorization.provider.AccessToken.revokeByGrantId(String(token?.grantId));
  await authorization.provider.RefreshToken.revokeByGrantId(String(token?.grantId));
}

describe('without an authorization', () => {
  it('a request says what the operator has to run, and nobody is asked for anything', async () => {
    await expect(readWith(oauthAt(upstream.url), upstream.url)).rejects.toMatchObject(NEEDS);
    expect(upstream.requests).toEqual([]);
    expect(authorization.requests).toEqual([]);
  });

  it('a damaged file is none', async () => {
    await authorizeAt(upstream.url);
    await state.edit(() => ({ url: upstream.url, tokens: 'gone' }));
    await expect(readWith(oauthAt(upstream.url), upstream.url)).rejects.toMatchObject(NEEDS);
  });

  it('a gateway that is running takes up one that is given later', async () => {
    const auth = oauthAt(upstream.url);
    await expect(readWith(auth, upstream.url)).rejects.toMatchObject(NEEDS);
    await authorizeAt(upstream.url);
    expect(await readWith(auth, upstream.url)).toBe(TEXT);
  });
});

describe('a token', () => {
  it('that the server takes no more is renewed with the refresh token, which changes each time', async () => {
    await authorizeAt(upstream.url);
    const auth = oauthAt(upstream.url);
    await using connection = await connectWith(auth, upstream.url);
    for (let round = 0; round < 3; round++) {
      const { tokens: before } = await savedAt(state);
      await (await authorization.provider.AccessToken.find(await accessToken()))?.destroy();
      expect(await connection.read()).toBe(TEXT);
      const { tokens: after } = await savedAt(state);
      expect(after?.access_token).not.toBe(before?.access_token);
      expect(after?.refresh_token).not.toBe(before?.refresh_token);
      expect(after?.issuer).toBe(authorization.origin);
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

  it('that is due is renewed before it is used, once for all requests that wait for it', async () => {
    await authorizeAt(upstream.url);
    const auth = oauthAt(upstream.url);
    await state.edit((saved) => ({ ...saved, renewAt: 0 }));
    const before = authorization.tokenRequests();
    const texts = await Promise.all(Array.from({ length: 12 }, () => readWith(auth, upstream.url)));
    expect(texts).toEqual(Array.from({ length: 12 }, () => TEXT));
    expect(authorization.tokenRequests()).toBe(before + 1);
  });

  it('is renewed once where several gateways share it', async () => {
    await authorizeAt(upstream.url);
    await state.edit((saved) => ({ ...saved, renewAt: 0 }));
    const before = authorization.tokenRequests();
    const gateways = [oauthAt(upstream.url), oauthAt(upstream.url), oauthAt(upstream.url)];
    const texts = await Promise.all(gateways.map((auth) => readWith(auth, upstream.url)));
    expect(texts).toEqual([TEXT, TEXT, TEXT]);
    expect(authorization.tokenRequests()).toBe(before + 1);
  });

  it('that many requests at once find revoked is renewed without spending a refresh token twice', async () => {
    await authorizeAt(upstream.url);
    const auth = oauthAt(upstream.url);
    await using connection = await connectWith(auth, upstream.url);
    const revoked: string[] = [];
    authorization.provider.on('grant.revoked', () => void revoked.push('grant'));
    for (let round = 0; round < 3; round++) {
      await (await authorization.provider.AccessToken.find(await accessToken()))?.destroy();
      const texts = await Promise.all(Array.from({ length: 12 }, () => connection.read()));
      expect(new Set(texts)).toEqual(new Set([TEXT]));
    }
    expect(revoked).toEqual([]);
  });
});

describe('an authorization that is given anew', () => {
  it('counts for a gateway that is running, though its token is still good', async () => {
    await authorizeAt(upstream.url);
    const auth = oauthAt(upstream.url);
    const first = await auth.token();
    await authorizeAt(upstream.url);
    const now = Date.now();
    vi.spyOn(Date, 'now').mockImplementation(() => now + 10_000);
    expect(await auth.token()).toBe(await accessToken());
    expect(await auth.token()).not.toBe(first);
  });
});

describe('an authorization that is taken back', () => {
  it('ends with what the operator has to run, and works again once that was done', async () => {
    await authorizeAt(upstream.url);
    const auth = oauthAt(upstream.url);
    await using connection = await connectWith(auth, upstream.url);
    expect(await connection.read()).toBe(TEXT);
    await takeBack();
    await expect(connection.read()).rejects.toMatchObject(NEEDS);
    expect(await savedAt(state)).not.toHaveProperty('tokens');
    const before = authorization.tokenRequests();
    await expect(connection.read()).rejects.toMatchObject(NEEDS);
    expect(authorization.tokenRequests()).toBe(before);
    await authorizeAt(upstream.url);
    expect(await connection.read()).toBe(TEXT);
  });

  it('is not lost because the authorization server is away', async () => {
    await authorizeAt(upstream.url);
    await state.edit((saved) => ({ ...saved, renewAt: 0 }));
    const before = await savedAt(state);
    await authorization[Symbol.asyncDispose]();
    await expect(readWith(oauthAt(upstream.url), upstream.url)).rejects.toMatchObject({
      code: 'unavailable',
      message: 'Upstream "docs": its authorization server gave no token; it does not answer',
    });
    expect(await savedAt(state)).toEqual(before);
  });
});

describe('tokens are for one URL', () => {
  it('and are not used for a mount of the same name at another', async () => {
    await using other = await protectedServer(authorization);
    await authorizeAt(upstream.url);
    await expect(readWith(oauthAt(other.url), other.url)).rejects.toMatchObject(NEEDS);
    expect(other.requests).toEqual([]);
  });

  it('and are not used where their file is put in the place of another', async () => {
    await using other = await protectedServer(authorization);
    await authorizeAt(upstream.url);
    const [first] = await state.files();
    await authorizeAt(other.url);
    const second = (await state.files()).find((file) => file !== first);
    await copyFile(String(first), String(second));
    const before = other.requests.length;
    await expect(readWith(oauthAt(other.url), other.url)).rejects.toMatchObject(NEEDS);
    expect(other.requests).toHaveLength(before);
  });

  it('and are not used for another mount of the same URL', async () => {
    await authorizeAt(upstream.url);
    await expect(readWith(oauthAt(upstream.url, {}, 'second'), upstream.url)).rejects.toThrow('<config> second');
  });

  it('and are refreshed at no other authorization server than the one the user saw', async () => {
    await authorizeAt(upstream.url);
    const pinned = oauthAt(upstream.url, { issuer: 'https://elsewhere.example' });
    await expect(readWith(pinned, upstream.url)).rejects.toMatchObject(NEEDS);
  });
});
