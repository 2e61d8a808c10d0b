import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { homedir, tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { tokenFile, tokensDirectory } from './token-file.ts';

describe('the folder of tokens', () => {
  it.each([
    [{}, join(homedir(), '.config', 'vitrine', 'tokens')],
    [{ XDG_CONFIG_HOME: '/of/the/user' }, '/of/the/user/vitrine/tokens'],
    [{ XDG_CONFIG_HOME: 'relative' }, join(homedir(), '.config', 'vitrine', 'tokens')],
    [{ XDG_CONFIG_HOME: '' }, join(homedir(), '.config', 'vitrine', 'tokens')],
    [{ XDG_CONFIG_HOME: '/of/the/user', VITRINE_STATE_DIR: '/of/a/test' }, '/of/a/test/tokens'],
  ])('with %j is %s', (env, path) => {
    expect(tokensDirectory(env)).toBe(path);
  });
});

describe('a file of tokens', () => {
  let folder: string;
  const target = { mount: 'docs', url: 'https://mcp.example/mcp#part' };
  const saved = {
    server: { authorizationServerUrl: 'https://auth.example' },
    client: { client_id: 'self' },
    tokens: { access_token: 'a', token_type: 'Bearer' },
  };

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'vitrine-tokens-'));
  });
  afterEach(() => rm(folder, { recursive: true }));

  it('gives the saved tokens, for the same URL', async () => {
    await tokenFile(target, folder).save(saved);
    const same = tokenFile({ mount: 'docs', url: 'HTTPS://mcp.example:443/mcp' }, folder);
    expect(await same.load()).toEqual({ ...saved, url: 'https://mcp.example/mcp' });
  });

  it.each([
    { mount: 'docs', url: 'https://mcp.example/mcp2' },
    { mount: 'docs', url: 'https://mcp.example/mcp?tenant=2' },
    { mount: 'docs', url: 'http://mcp.example/mcp' },
    { mount: 'docs', url: 'https://mcp.example:8443/mcp' },
    { mount: 'docs', url: 'https://other.example/mcp' },
    { mount: 'docs2', url: 'https://mcp.example/mcp' },
  ])('is not read for %j', async (other) => {
    await tokenFile(target, folder).save(saved);
    expect(await tokenFile(other, folder).load()).toBeUndefined();
  });

  it('is complete whenever it is read', async () => {
    const file = tokenFile(target, folder);
    const long = { ...saved, resource: 'r'.repeat(200_000) };
    await file.save(long);
    const writing = Array.from({ length: 20 }, () => file.save(long));
    const reading = Array.from({ length: 200 }, () => file.load());
    for (const loaded of await Promise.all(reading)) expect(loaded?.resource).toHaveLength(200_000);
    await Promise.all(writing);
    expect(await readdir(folder)).toHaveLength(1);
  });

  it('that cannot be written gives an error without a path', async () => {
    const file = tokenFile(target, folder);
    await file.save(saved);
    const [name] = await readdir(folder);
    await rm(join(folder, String(name)));
    await writeFile(join(folder, 'x'), '');
    const inFile = tokenFile(target, join(folder, 'x'));
    expect(await inFile.load()).toBeUndefined();
    await expect(inFile.save(saved)).rejects.toMatchObject({
      code: 'unavailable',
      message: 'Upstream "docs": its token file cannot be read or written',
    });
  });
});
