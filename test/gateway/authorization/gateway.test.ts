/** Authorization in a gateway: all connections of an upstream share its tokens, and no token of a client is sent to it. */
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { describe, expect, it } from 'vitest';
import { createContext } from '../../../src/core/context.ts';
import { createAuth } from '../../../src/providers/upstream/auth/index.ts';
import { upstream as mounted } from '../../../src/providers/upstream/index.ts';
import { serveHttp } from '../../../src/serving/http/index.ts';
import { createVitrine } from '../../../src/vitrine.ts';
import { authorizeAt, savedAt } from './client.ts';
import { sceneOfEachTest } from './scene.ts';
import { listening, TEXT } from './servers.ts';

const scene = sceneOfEachTest();

describe('a gateway', () => {
  it.each(['legacy', 'auto'] as const)('sends its own token to an upstream, never its client’s (%s)', async (mode) => {
    await authorizeAt(scene.upstream.url);
    await scene.state.edit((saved) => ({ ...saved, renewAt: 0 }));
    const target = {
      url: scene.upstream.url,
      auth: createAuth({ type: 'oauth' }, { mount: 'docs', url: scene.upstream.url }),
    };
    const up = mounted({ name: 'docs', target });
    const vitrine = createVitrine({ mounts: [{ name: 'docs', provider: up.provider, server: up.server }] });
    const serving = await serveHttp(vitrine, { port: 0 });
    const client = new Client({ name: 'test', version: '1.0.0' }, { versionNegotiation: { mode } });
    try {
      const requestInit = { headers: { authorization: 'Bearer of-the-client' } };
      await client.connect(new StreamableHTTPClientTransport(new URL(serving.url), { requestInit }));
      expect(await client.readResource({ uri: 'docs+memory:///private.txt' })).toMatchObject({
        contents: [{ text: TEXT }],
      });
      const { tokens } = await savedAt(scene.state);
      const sent = new Set(scene.upstream.requests.map((request) => request.authorization));
      sent.delete(undefined);
      expect([...sent]).toEqual([`Bearer ${tokens?.access_token}`]);
    } finally {
      await client.close();
      await serving.close();
      await vitrine.close();
    }
  });

  it('says that a server refuses it if the scope of its token is too small', async () => {
    await using narrow = await listening(() => (_request, response) => {
      response.writeHead(403, { 'www-authenticate': 'Bearer error="insufficient_scope", scope="docs:all"' }).end();
    });
    const url = `${narrow.origin}/mcp`;
    const up = mounted({
      name: 'docs',
      start: 'lazy',
      target: { url, auth: createAuth({ type: 'bearer', token: 'narrow' }, { mount: 'docs', url }) },
    });
    try {
      const reading = up.provider.list(undefined, { limit: 10 }, createContext());
      await expect(reading).rejects.toMatchObject({
        code: 'unavailable',
        message: 'The server behind "docs" does not let Vitrine in',
      });
    } finally {
      await up.close();
    }
  });
});
