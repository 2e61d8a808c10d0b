/** Authorization at an upstream by a user: authorization code with PKCE, at a real authorization server. */
import { chmod, mkdir, readdir, readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { authorizeUpstream } from '../../../src/providers/upstream/auth/index.ts';
import { within } from '../../e2e/waiting.ts';
import { type Visit, visit } from './browser.ts';
import { authorizeAt, oauthAt, readWith, savedAt } from './client.ts';
import { sceneOfEachTest } from './scene.ts';
import { BY_HAND, REDIRECT_PORT, TEXT } from './servers.ts';

const scene = sceneOfEachTest();

const modeOf = async (path: string): Promise<string> => ((await stat(path)).mode & 0o777).toString(8);

describe('vitrine authorize', () => {
  it('connects Vitrine to an upstream as a client that registers itself', async () => {
    const page = await authorizeAt(scene.upstream.url);
    expect(page).toMatchObject({ status: 200, text: expect.stringContaining('You can close this page') });
    expect(await readWith(oauthAt(scene.upstream.url), scene.upstream.url)).toBe(TEXT);
  });

  it('keeps its tokens in a file that only this user can read, and leaves no other file behind', async () => {
    await mkdir(scene.state.tokens);
    await chmod(scene.state.tokens, 0o755);
    await authorizeAt(scene.upstream.url);
    expect(await modeOf(scene.state.tokens)).toBe('700');
    const names = await readdir(scene.state.tokens);
    expect(names).toEqual([expect.stringMatching(/^docs-[0-9a-f]{16}\.json$/)]);
    expect(await modeOf(join(scene.state.tokens, String(names[0])))).toBe('600');
    expect(await savedAt(scene.state)).toMatchObject({
      url: scene.upstream.url,
      resource: scene.upstream.url,
      client: { client_id: expect.any(String), issuer: scene.authorization.origin },
      tokens: {
        access_token: expect.any(String),
        refresh_token: expect.any(String),
        issuer: scene.authorization.origin,
      },
    });
    expect(Object.keys(await savedAt(scene.state))).toEqual([
      'url',
      'server',
      'client',
      'resource',
      'tokens',
      'renewAt',
    ]);
  });

  it('keeps nothing about the identity of the user', async () => {
    const granted: unknown[] = [];
    scene.authorization.provider.on('grant.success', ({ body }: { body: unknown }) => void granted.push(body));
    await authorizeAt(scene.upstream.url, { scope: 'openid docs:read offline_access' });
    expect(granted).toEqual([expect.objectContaining({ id_token: expect.any(String) })]);
    expect((await savedAt(scene.state)).tokens).not.toHaveProperty('id_token');
  });

  it('uses a client that was registered by hand, whose secret stays in the configuration', async () => {
    const config = { ...BY_HAND, redirectPort: REDIRECT_PORT };
    await authorizeAt(scene.upstream.url, config);
    expect(scene.authorization.requests.map(({ line }) => line)).not.toContain('POST /reg');
    expect(JSON.stringify(await savedAt(scene.state))).not.toContain(BY_HAND.clientSecret);
    await scene.state.edit((saved) => ({ ...saved, renewAt: 0 }));
    const before = scene.authorization.tokenRequests();
    expect(await readWith(oauthAt(scene.upstream.url, config), scene.upstream.url)).toBe(TEXT);
    expect(scene.authorization.tokenRequests()).toBe(before + 1);
    await expect(readWith(oauthAt(scene.upstream.url, { clientId: 'another' }), scene.upstream.url)).rejects.toThrow(
      'vitrine authorize',
    );
  });

  it('ignores an answer with another state, and still accepts the right one', async () => {
    let wrong: Promise<Visit> | undefined;
    let right: URL | undefined;
    const authorized = authorizeUpstream(
      { type: 'oauth' },
      { mount: 'docs', url: scene.upstream.url },
      {
        onAddress: (address) => {
          wrong = visit(address, {
            onReturn: (url) => {
              right = new URL(url);
              const forged = new URL(url);
              forged.searchParams.set('state', 'x'.repeat(43));
              return forged;
            },
          });
          wrong
            .then(() => right && fetch(right))
            .then((response) => response?.text())
            .catch(() => {});
        },
        timeoutMs: 20_000,
      },
    );
    await authorized;
    expect(await wrong).toMatchObject({ status: 400, text: expect.stringContaining('does not belong') });
    expect(await readWith(oauthAt(scene.upstream.url), scene.upstream.url)).toBe(TEXT);
  });

  it('does not exchange a code from another issuer (RFC 9207)', async () => {
    const before = scene.authorization.tokenRequests();
    const mixedUp = authorizeAt(
      scene.upstream.url,
      {},
      {
        onReturn: (url) => {
          url.searchParams.set('iss', 'https://elsewhere.example');
          return url;
        },
      },
    );
    await expect(mixedUp).rejects.toMatchObject({
      code: 'unavailable',
      message: expect.stringContaining('another issuer'),
    });
    expect(scene.authorization.tokenRequests()).toBe(before);
  });

  it('does not continue at another authorization server than the configured one', async () => {
    const refused = authorizeAt(scene.upstream.url, { issuer: 'https://elsewhere.example' });
    await expect(refused).rejects.toMatchObject({ message: expect.stringContaining('another one than the issuer') });
    expect(scene.authorization.requests.map(({ line }) => line).filter((line) => line.startsWith('POST'))).toEqual([]);
  });

  it('changes nothing if the user refuses', async () => {
    await authorizeAt(scene.upstream.url);
    const before = await savedAt(scene.state);
    await expect(authorizeAt(scene.upstream.url, {}, { consent: 'refuse' })).rejects.toMatchObject({
      code: 'denied',
      message: 'The authorization was refused at the authorization server',
    });
    expect(await savedAt(scene.state)).toEqual(before);
    expect(await readWith(oauthAt(scene.upstream.url), scene.upstream.url)).toBe(TEXT);
  });

  it('gives up after a time without an answer, and closes its port', async () => {
    const config = { ...BY_HAND, redirectPort: REDIRECT_PORT };
    const nobody = authorizeUpstream(
      { type: 'oauth', ...config },
      { mount: 'docs', url: scene.upstream.url },
      {
        onAddress: () => {},
        timeoutMs: 300,
      },
    );
    await expect(within(nobody, 'the end of patience')).rejects.toMatchObject({
      code: 'timeout',
      message: 'Vitrine was not authorized at upstream "docs" in time; run the command again',
    });
    await authorizeAt(scene.upstream.url, config);
    expect(await readFile(join(scene.state.tokens, String((await readdir(scene.state.tokens))[0])), 'utf8')).toContain(
      BY_HAND.clientId,
    );
  });

  it('fails with advice if its port is taken', async () => {
    const port = Number(new URL(scene.upstream.url).port);
    await expect(authorizeAt(scene.upstream.url, { redirectPort: port })).rejects.toMatchObject({
      message: `Vitrine cannot listen at 127.0.0.1:${port}; set another redirectPort`,
    });
  });
});
